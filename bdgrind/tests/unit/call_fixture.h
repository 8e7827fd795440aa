// SPDX-License-Identifier: GPL-2.0-or-later
//
// For tests of CallTracker: a small made-up program, and what the tracker makes of running it.

#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/calls/call_tracker.h"
#include "program.h"

namespace bd::test {

using enum JumpKind;

// Blocks of one instruction of 4 bytes. A call from 0x1010 asks to come back to 0x1014. Stack pointers are
// small numbers: main begins with 100, and a call takes 1 for its return address.
class CallTrackerTest : public testing::Test {
protected:
    explicit CallTrackerTest(ContextRules rules = {}) : tracker_(contexts_, blocks_, arcs_, tree_, rules) {}

    Block& entry(const Function& f, Address address, JumpKind jump) {
        return program_.entry(f, address).op().ends(jump);
    }
    Block& inside(const Function& f, Address address, JumpKind jump) {
        return program_.code(f, address).op().ends(jump);
    }

    // `block` runs to its end, as the replay has it. False: that left the handler.
    bool run(Block& block, Address stack_pointer) {
        if (!tracker_.enter(execution_, block, stack_pointer)) return false;
        has_run(block);
        return true;
    }
    void has_run(Block& block) {
        execution_.last = &blocks_.get(block, *execution_.context);
        execution_.last_exit = &block.exits().back();
        execution_.running[0] += execution_.last_exit->instructions;
    }

    // The contexts from the root to the code that runs; [] stands for a call that is not shown, opened or not.
    std::string stack() const {
        std::string stack;
        for (const OpenCall& call : execution_.calls) {
            stack += name(*call.caller);
            stack += call.arc == kNoArc ? " [] " : " ";
        }
        const std::string here = name(*execution_.context);
        return stack + here + (execution_.stub_return_address != 0 ? " [] " + here : "");
    }

    // All arcs that were called, as "caller@address-callee@address calls".
    std::vector<std::string> arcs() const {
        std::vector<std::string> all;
        for (std::uint32_t id = 1; id <= arcs_.size(); ++id) {
            const Arc& arc = arcs_[ArcId{id}];
            if (arc.calls == 0) continue;
            const auto at = [](const BlockCost& cost) {
                char address[20];
                std::snprintf(address, sizeof address, "@%llx",
                              static_cast<unsigned long long>(cost.block->address));
                return name(*cost.context) + address;
            };
            all.push_back(at(*arc.site.from) + " " + at(*arc.callee) + " " + std::to_string(arc.calls));
        }
        return all;
    }
    using Arcs = std::vector<std::string>;

    // What went to the only arc from one function to another.
    std::uint64_t instructions_below(const Function& caller, const Function& callee) const {
        std::uint64_t sum = 0;
        for (std::uint32_t id = 1; id <= arcs_.size(); ++id) {
            const Arc& arc = arcs_[ArcId{id}];
            if (&arc.site.from->context->function() == &caller &&
                &arc.callee->context->function() == &callee) {
                sum += arcs_.costs(ArcId{id})[0];
            }
        }
        return sum;
    }

    Program program_;
    Function& main_ = program_.function("main");
    Function& f_ = program_.function("f");
    Function& g_ = program_.function("g");
    Function& h_ = program_.function("h");
    Function& lib_ = program_.function("lib", "lib.c", "lib.so");

    Block& main_calls_ = inside(main_, 0x1010, kCall);
    Block& main_on_ = inside(main_, 0x1014, kJump);
    Block& f_calls_ = entry(f_, 0x2000, kCall);
    Block& f_on_ = inside(f_, 0x2004, kJump);
    Block& f_returns_ = inside(f_, 0x2010, kReturn);
    Block& f_jumps_ = inside(f_, 0x2020, kJump);
    Block& g_starts_ = entry(g_, 0x3000, kJump);
    Block& g_returns_ = inside(g_, 0x3010, kReturn);
    Block& g_jumps_ = inside(g_, 0x3020, kJump);
    Block& h_starts_ = entry(h_, 0x4000, kJump);
    Block& h_returns_ = inside(h_, 0x4010, kReturn);

    CostPool costs_{kRunningEvents};
    ContextTable contexts_;
    BlockCosts blocks_{costs_};
    ArcTable arcs_{kRunningEvents};
    BackdatingTree tree_{arcs_, kRunningEvents};
    CallTracker tracker_;
    Execution execution_{tree_.make_root(), AddressRange{}};
};

}  // namespace bd::test
