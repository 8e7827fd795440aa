// SPDX-License-Identifier: GPL-2.0-or-later
//
// What must hold of every profile (docs/simulation.md, rules 10 to 14), on random programs without recursion:
//   1. Self costs add up to the totals.
//   2. The inclusive costs of the roots add up to the totals.
//   3. A function's inclusive cost, what its callers' arcs have, is its self cost and that of its own arcs.

#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "profile/profile.h"
#include "program.h"
#include "runs.h"

namespace bd {
namespace {

using test::Program;
using test::Trace;

using Counts = std::array<std::uint64_t, kEventCount>;

void add_to(Counts& counts, ConstCosts costs) {
    for (std::size_t i = 0; i < costs.size(); ++i) counts[i] += costs[i];
}

// Function 0 is what threads run, functions 1 and 2 are signal handlers; no code calls these three. Each
// function calls functions of higher numbers only.
constexpr unsigned kRoots = 3;
constexpr unsigned kFunctions = 12;

class RandomProgram {
public:
    explicit RandomProgram(unsigned seed) : random_(seed), caches_{cache(), cache(), cache()} {
        for (unsigned i = 0; i < kFunctions; ++i) {
            const Function& function =
                program_.function("f" + std::to_string(i), "f.c", i % 5 == 4 ? "lib.so" : "prog");
            const Address at = 0x10000 + 0x90 * i;
            functions_.push_back({
                .entry = &program_.entry(function, at).op(3, 1).op(4, 2).reads(8).ends(JumpKind::kJump),
                .body = &program_.code(function, at + 16)
                             .op(5, 3)
                             .reads(4)
                             .op(2, 4)
                             .writes(16)
                             .ends(JumpKind::kJump),
                .call = &program_.code(function, at + 32).op(4, 5).may_read(8).op(5, 6).ends(JumpKind::kCall),
                .after_call = &program_.code(function, at + 41).op(4, 7).modifies(8).ends(JumpKind::kJump),
                .tail_call = &program_.code(function, at + 64).op(7, 8).ends(JumpKind::kJump),
                .give_back = &program_.code(function, at + 80).op(1, 9).reads(8).ends(JumpKind::kReturn),
            });
        }
        for (Word thread = 1; thread <= 1 + random_() % 3; ++thread) {
            steps_.clear();
            // A thread's main is entered once and never left.
            run(0, kStack * thread, true);
            threads_.push_back(steps_);
        }
    }

    // All threads, taking turns, with collection stopped and started in between.
    Trace trace() {
        Trace trace;
        std::vector<std::size_t> next(threads_.size());
        const bool toggles = random_() % 2 == 0;
        for (;;) {
            std::vector<std::size_t> waiting;
            for (std::size_t i = 0; i < threads_.size(); ++i) {
                if (next[i] < threads_[i].size()) waiting.push_back(i);
            }
            if (waiting.empty()) return trace;
            const std::size_t thread = waiting[random_() % waiting.size()];
            trace.thread(thread + 1);
            for (std::size_t slice = random_() % 40; slice > 0 && next[thread] < threads_[thread].size();
                 --slice) {
                if (toggles && random_() % 16 == 0) trace.collect(random_() % 2 == 0);
                const Step& step = threads_[thread][next[thread]++];
                if (step.block != nullptr) {
                    trace.run(*step.block, step.stack_pointer, step.addresses);
                } else {
                    trace.mark(step.marker, thread + 1, 0, step.stack_pointer);
                }
            }
        }
    }

    const CacheGeometries& caches() const { return caches_; }

private:
    static constexpr Address kStack = 0x1000000;

    struct Code {
        Block* entry;
        Block* body;
        Block* call;
        Block* after_call;
        Block* tail_call;
        Block* give_back;
    };
    struct Step {
        Block* block;  // null: a marker
        Marker marker;
        Address stack_pointer;
        std::vector<Word> addresses;
    };

    CacheGeometry cache() {
        const auto line_bytes = std::uint32_t{16} << random_() % 5;
        const auto ways = static_cast<std::uint32_t>(1 + random_() % 4);
        return {(1 + random_() % 8) * ways * line_bytes, ways, line_bytes};
    }

    void step(Block& block, Address stack_pointer) {
        std::vector<Word> addresses;
        for (const Access& access : block.accesses()) {
            addresses.push_back(access.guarded && random_() % 2 == 0 ? 0 : 0x200000 + random_() % 4096);
        }
        steps_.push_back({&block, {}, stack_pointer, addresses});
    }

    // A call of a function that begins with this stack pointer, up to and with its return. Returns false if
    // it was left by a jump instead: to the thread's main, the only place that setjmp was called in.
    bool run(unsigned index, Address stack_pointer, bool outermost) {
        const Code& code = functions_[index];
        step(*code.entry, stack_pointer);
        const Address frame = stack_pointer - 32;
        for (unsigned turn = 1 + static_cast<unsigned>(random_() % 5); turn > 0; --turn) {
            switch (random_() % 8) {
                case 0:
                    if (index < kRoots) break;
                    if (random_() % 4 == 0) return false;
                    break;
                case 1:
                    handle_signal(frame);
                    break;
                case 2:
                    step(*code.body, frame);
                    break;
                default: {
                    const unsigned callee =
                        std::max(kRoots, index + 1 + static_cast<unsigned>(random_() % 3));
                    if (callee >= kFunctions) break;
                    step(*code.call, frame);
                    const bool returned = run(callee, frame - 8, false);
                    if (!returned && index != 0) return false;
                    step(returned ? *code.after_call : *code.body, frame);
                    break;
                }
            }
        }
        if (outermost) return true;
        const unsigned next = std::max(kRoots, index + 1);
        if (index >= kRoots && random_() % 4 == 0 && next < kFunctions) {
            step(*code.tail_call, stack_pointer);
            return run(next, stack_pointer, false);
        }
        step(*code.give_back, stack_pointer);
        return true;
    }

    void handle_signal(Address interrupted) {
        if (random_() % 3 != 0 || handlers_ == 2) return;
        steps_.push_back({nullptr, Marker::kSignalEnter, interrupted - 64, {}});
        ++handlers_;
        // What its calls leave by a jump, the handler leaves by a return all the same.
        const Code& code = functions_[handlers_];
        const Address stack_pointer = interrupted - 128;
        step(*code.entry, stack_pointer);
        step(*code.call, stack_pointer - 32);
        const bool returned = run(kRoots + static_cast<unsigned>(random_() % 6), stack_pointer - 40, false);
        step(returned ? *code.after_call : *code.body, stack_pointer - 32);
        step(*code.give_back, stack_pointer);
        --handlers_;
        steps_.push_back({nullptr, Marker::kSignalLeave, 0, {}});
    }

    std::mt19937_64 random_;
    CacheGeometries caches_;
    Program program_{caches_.i1.line_bits()};
    std::vector<Code> functions_;
    std::vector<std::vector<Step>> threads_;
    std::vector<Step> steps_;  // of the thread being made
    unsigned handlers_ = 0;
};

#ifdef __SANITIZE_ADDRESS__
constexpr unsigned kInvariantRuns = 250;
#else
constexpr unsigned kInvariantRuns = 1000;
#endif

TEST(Invariants, CostsAddUpEverywhere) {
    const unsigned runs = test::runs(kInvariantRuns);
    std::uint64_t arcs_seen = 0;
    for (unsigned seed = 0; seed < runs; ++seed) {
        RandomProgram program(seed);
        Engine engine({.caches = program.caches()});
        engine.replay(program.trace().all());
        engine.finish();

        struct Cost {
            Counts self{};
            Counts outgoing{};
            Counts incoming{};
        };
        std::map<std::string, Cost> functions;
        const Profile profile(engine, {});
        FunctionProfile function;
        for (std::size_t i = 0; i < profile.function_count(); ++i) {
            profile.collect(i, &function);
            Cost& cost = functions[function.context->function().name];
            for (const CostRow& row : function.rows) add_to(cost.self, function.costs(row));
            for (const CallRow& call : function.calls) {
                ++arcs_seen;
                add_to(cost.outgoing, function.costs(call));
                add_to(functions[call.callee->function().name].incoming, function.costs(call));
            }
        }

        Counts totals{};
        add_to(totals, profile.totals());
        Counts self{};
        Counts roots{};
        for (const auto& [name, cost] : functions) {
            const bool root = name == "f0" || name == "f1" || name == "f2";
            add_to(self, cost.self);
            for (std::size_t i = 0; i < kEventCount; ++i) {
                const std::uint64_t inclusive = cost.self[i] + cost.outgoing[i];
                if (root) {
                    roots[i] += inclusive;
                    ASSERT_EQ(cost.incoming[i], 0u)
                        << "seed " << seed << ": " << name << ' ' << kEvents[i].name;
                } else {
                    ASSERT_EQ(cost.incoming[i], inclusive)
                        << "seed " << seed << ": " << name << ' ' << kEvents[i].name;
                }
            }
        }
        ASSERT_EQ(self, totals) << "seed " << seed;
        ASSERT_EQ(roots, totals) << "seed " << seed;
    }
    EXPECT_GT(arcs_seen, 10u * runs) << "too little happened for this to mean anything";
}

}  // namespace
}  // namespace bd
