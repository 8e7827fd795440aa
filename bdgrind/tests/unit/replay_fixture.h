// SPDX-License-Identifier: GPL-2.0-or-later
//
// For tests of the whole engine: a made-up program of main, f, g and a handler, its trace, and who was charged.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "program.h"

namespace bd::test {

using enum JumpKind;

// Events by name, those that are zero left out.
using Events = std::map<std::string, std::uint64_t>;

inline Events events_of(ConstCosts costs) {
    Events events;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        if (costs[i] != 0) events[kEvents[i].name] = costs[i];
    }
    return events;
}

// Only the events asked for: those of the data lines, say.
inline Events only(const Events& events, const std::string& suffix) {
    Events chosen;
    for (const auto& [name, count] : events) {
        if (name.ends_with(suffix)) chosen[name] = count;
    }
    return chosen;
}

// Every data access to another line evicts the one before: D1 is a single line. Code stays where it is, and
// so does everything in LL.
inline constexpr CacheGeometries kTinyD1{.i1 = {64 * 1024, 16, 64}, .d1 = {64, 1, 64}, .ll = {1024 * 1024, 16, 64}};

class ReplayTest : public testing::Test {
protected:
    // Runs the trace to its end.
    void replay(const EngineConfig& config = {.caches = kTinyD1}) {
        engine_ = std::make_unique<Engine>(config);
        engine_->replay_whole(trace_.all());
        engine_->finish();
    }

    // Self costs, over all contexts.
    Events self(Block& block, std::size_t instruction = 0) const {
        std::vector<std::uint64_t> sum(engine_->events().width());
        for (const BlockCost* cost : engine_->blocks().all()) {
            if (cost->block != &block) continue;
            for (const Exit& exit : block.exits()) {
                if (instruction >= exit.instructions) continue;
                const std::uint64_t taken = cost->exits[exit.index].taken;
                sum[column(Event::kIr)] += taken;
                for (const Access& access : block.accesses().first(exit.accesses)) {
                    if (access.instruction != instruction) continue;
                    sum[column(is_write(access.kind) ? Event::kDw : Event::kDr)] += taken;
                }
            }
            if (cost->instructions[instruction] != kNoCost) {
                add(sum, engine_->costs()[cost->instructions[instruction]]);
            }
        }
        return events_of(sum);
    }

    // Inclusive costs of the calls from one function to another.
    Events below(const Function& caller, const Function& callee) const {
        std::vector<std::uint64_t> sum(engine_->events().width());
        for (std::uint32_t id = 1; id <= engine_->arcs().size(); ++id) {
            const Arc& arc = engine_->arcs()[ArcId{id}];
            if (&arc.site.from->context->function() == &caller &&
                &arc.callee->context->function() == &callee) {
                add(sum, engine_->arcs().costs(ArcId{id}));
            }
        }
        return events_of(sum);
    }
    std::uint64_t calls(const Function& caller, const Function& callee) const {
        std::uint64_t calls = 0;
        for (std::uint32_t id = 1; id <= engine_->arcs().size(); ++id) {
            const Arc& arc = engine_->arcs()[ArcId{id}];
            if (&arc.site.from->context->function() == &caller &&
                &arc.callee->context->function() == &callee) {
                calls += arc.calls;
            }
        }
        return calls;
    }

    Program program_;
    Function& main_ = program_.function("main");
    Function& f_ = program_.function("f");
    Function& g_ = program_.function("g");
    Function& handler_ = program_.function("handler");

    // Each one line of code, so that fetches are no matter. main begins with stack pointer 1000.
    Block& main_calls_ = program_.entry(main_, 0x1000).op().ends(kCall);
    Block& main_goes_on_ = program_.code(main_, 0x1004).op().ends(kJump);
    Block& main_reads_ = program_.code(main_, 0x1008).op().reads(8).ends(kJump);
    Block& f_reads_ = program_.entry(f_, 0x2000).op().reads(8).ends(kReturn);
    Block& f_calls_ = program_.code(f_, 0x2004).op().ends(kCall);
    Block& f_returns_ = program_.code(f_, 0x2008).op().ends(kReturn);
    Block& g_reads_ = program_.entry(g_, 0x3000).op().reads(8).ends(kReturn);
    Block& handler_reads_ = program_.entry(handler_, 0x4000).op().reads(8).ends(kReturn);

    Trace trace_;
    std::unique_ptr<Engine> engine_;
};

}  // namespace bd::test
