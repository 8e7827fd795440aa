// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loops in open calls, in code that jumps from function to function, and where more is executed than is remembered.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "program.h"
#include "sampled_flow_fixture.h"

namespace bd::test {
namespace {

class SampledFlowCallsTest : public SampledFlowFixture {
protected:
    std::uint32_t innermost_run() const { return flow.loops().back().run; }
    Block& block(const Function& function, Address address, JumpKind jump = JumpKind::kJump) {
        return program.code(function, address).op().ends(jump);
    }
};

TEST_F(SampledFlowCallsTest, WhatReturnsFromWhereThePieceBeganEndsItsLoops) {
    Block& loops = program.code(f, 0x1000).op().may_exit().op().ends(JumpKind::kReturn);
    run_to(loops, 0);
    EXPECT_EQ(run(loops), 1u);
    const std::uint32_t before = innermost_run();
    EXPECT_EQ(run(loops), 1u);
    EXPECT_NE(innermost_run(), before);
}

// A loop of the caller goes on when a function returns that has left nothing on the stack.
TEST_F(SampledFlowCallsTest, ALoopGoesOnBehindACallWhoseReturnAddressIsInARegister) {
    Block& calls = block(f, 0x1000, JumpKind::kCall);
    Block& callee = block(g, 0x2000, JumpKind::kReturn);
    Block& returned = block(f, 0x1004);
    std::uint32_t number = 0;
    for (int i = 0; i < 4; ++i) {
        run(calls);
        run(callee);
        EXPECT_EQ(run(returned), i == 0 ? 0u : 1u);
        if (i == 1) number = innermost_run();
        if (i > 1) {
            EXPECT_EQ(innermost_run(), number);
        }
    }
}

TEST_F(SampledFlowCallsTest, WhereOnlyTheCallerHasBeenNothingIsRepeated) {
    Block& header = block(f, 0x1004);
    Block& calls = block(f, 0x1100, JumpKind::kCall);
    Block& entry = block(f, 0x1014);
    run(block(f, 0x1000));
    run(header);
    run(calls);
    EXPECT_EQ(run(entry, kTop - 8), 0u);
    EXPECT_EQ(run(header, kTop - 8), 0u);
}

TEST_F(SampledFlowCallsTest, ALoopOfACalleeGoesOnWithinOneOfItsCaller) {
    Block& calls = block(f, 0x1000, JumpKind::kCall);
    Block& loops = program.code(g, 0x2000).op().may_exit().op().ends(JumpKind::kReturn);
    Block& returned = block(f, 0x1004);
    for (int i = 0; i < 3; ++i) {
        run(calls);
        run_to(loops, 0, kTop - 8);
        run_to(loops, 0, kTop - 8);
        const std::uint32_t number = innermost_run();
        EXPECT_EQ(run(loops, kTop - 8), i == 0 ? 1u : 2u);
        EXPECT_EQ(innermost_run(), number);
        run(returned);
    }
}

TEST_F(SampledFlowCallsTest, ABlockOutOfLineBelongsToALoopOfACalleeWithinOneOfItsCaller) {
    Block& calls = block(f, 0x1000, JumpKind::kCall);
    Block& returned = block(f, 0x1004);
    Block& tests = block(g, 0x2008);
    Block& goes_on = program.code(g, 0x200c).op().op().ends();
    Block& cold = block(g, 0x2100);
    Block& returns = block(g, 0x2020, JumpKind::kReturn);
    for (int i = 0; i < 4; ++i) {
        run(calls);
        run(tests, kTop - 8);
        run(goes_on, kTop - 8);
        run(tests, kTop - 8);
        if (i >= 2) {
            EXPECT_EQ(run(cold, kTop - 8), i == 2 ? 1u : 2u);
            EXPECT_EQ(run(goes_on, kTop - 8), 2u);
        }
        run(returns, kTop - 8);
        run(returned);
    }
}

TEST_F(SampledFlowCallsTest, AFunctionThatALoopCallsIsNotInTheLoopWhereItIsJumpedToBehindIt) {
    Block& calls = block(f, 0x1000, JumpKind::kCall);
    Block& returned = block(f, 0x1004);
    Block& behind = block(f, 0x1010);
    Block& begins = block(g, 0x2000);
    Block& goes_on = block(g, 0x2004);
    Block& returns = block(g, 0x2008, JumpKind::kReturn);
    for (int i = 0; i < 4; ++i) {
        run(calls);
        run(begins, kTop - 8);
        run(begins, kTop - 8);
        run(goes_on, kTop - 8);
        run(returns, kTop - 8);
        run(returned);
    }
    EXPECT_EQ(run(behind), 0u);
    EXPECT_EQ(run(goes_on), 0u);
}

TEST_F(SampledFlowCallsTest, JumpsBetweenTwoFunctionsRepeatNothing) {
    Block& low = block(f, 0x1000);
    Block& high = block(g, 0x3000);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(run(low), 0u);
        EXPECT_EQ(run(high), 0u);
    }
}

TEST_F(SampledFlowCallsTest, LoopsAreFoundBehindAndAroundCodeOfAnotherFunction) {
    for (const bool is_within : {false, true}) {
        SCOPED_TRACE(is_within);
        flow.start_piece();
        const Address at = is_within ? 0x1000 : 0x2000;
        Block& header = block(f, at + 4);
        Block& latch = block(f, at + 8);
        run(block(f, at));
        if (is_within) run(header);
        run(block(g, 0x5000));
        if (!is_within) run(header);
        run(latch);
        EXPECT_EQ(run(header), 1u);
    }
}

TEST_F(SampledFlowCallsTest, TheFunctionThatWasCalledAndTheLatestOfManyOthersAreRemembered) {
    Block& header = block(f, 0x90000);
    Block& latch = block(f, 0x90004);
    run(header);
    std::vector<Function*> others;
    for (Address i = 0; i < 70; ++i) {
        others.push_back(&program.function("g" + std::to_string(i)));
        run(block(*others.back(), 0x10000 + 256 * i));
    }
    run(block(*others[0], 0x10040));
    run(block(*others[69], 0x10000 + 256 * 69 + 8));
    EXPECT_EQ(run(block(*others[69], 0x10000 + 256 * 69)), 1u);
    run(latch);
    EXPECT_EQ(run(header), 1u);
}

// The first block jumps back to what control has not seen, so it is known to lie in a loop, but not as its entry.
TEST_F(SampledFlowCallsTest, ABlockThatAPieceBeginsWithMayBeALoop) {
    Block& header = block(f, 0x1004);
    Block& latch = block(f, 0x1010);
    run(latch);
    EXPECT_EQ(run(header), 0u);
    run(latch);
    EXPECT_EQ(run(latch), 1u);
    EXPECT_EQ(&flow.header(flow.loops()[0].loop), &latch);
}

// A loop that is entered at its test. What lies between that and the farthest jump back to it belongs to the loop.
TEST_F(SampledFlowCallsTest, WhatLeadsBackToWhereALoopIsEnteredBelongsToItAlsoWithinAnotherLoop) {
    Block& outer = block(f, 0x1004);
    Block& body = block(f, 0x1020);
    Block& test = block(f, 0x1028);
    Block& between = block(f, 0x102c);
    Block& leads_back = block(f, 0x1030);
    Block& latch = block(f, 0x1040);
    run(block(f, 0x1000));
    for (int i = 0; i < 2; ++i) {
        run(outer);
        for (int j = 0; j < 3; ++j) {
            run(test);
            run(body);
        }
        run(test);
        run(latch);
    }
    run(outer);
    run(test);
    run(leads_back);
    run(test);
    run(body);
    run(test);
    EXPECT_EQ(run(between), 2u);
    EXPECT_EQ(run(latch), 1u);
}

TEST_F(SampledFlowCallsTest, AnInnerLoopGoesOnIfWhatJumpsToItsHeaderLiesOutsideOfAnOrdinaryLoop) {
    Block& outer = block(f, 0x1004);
    Block& inner = block(f, 0x1008);
    Block& latch = block(f, 0x1010);
    Block& cold = block(f, 0x1100);
    run(block(f, 0x1000));
    for (int i = 0; i < 3; ++i) {
        run(outer);
        run(inner);
        run(inner);
        run(latch);
    }
    run(outer);
    run(inner);
    run(inner);
    const std::uint32_t number = innermost_run();
    run(latch);
    run(cold);
    EXPECT_EQ(run(inner), 2u);
    EXPECT_EQ(innermost_run(), number);
}

TEST_F(SampledFlowCallsTest, CodeOfAnotherFunctionAtTheSameAddressIsAnotherLoop) {
    Block& one = block(f, 0x1000);
    Block& longer = program.code(f, 0x1000).op().op().ends();
    Block& other = block(g, 0x1000);
    run(one);
    EXPECT_EQ(run(one), 1u);
    const LoopId loop = flow.loops()[0].loop;
    run(longer);
    EXPECT_EQ(run(longer), 1u);
    EXPECT_EQ(flow.loops()[0].loop, loop);
    flow.start_piece();
    run(other);
    EXPECT_EQ(run(other), 1u);
    EXPECT_NE(flow.loops()[0].loop, loop);
    EXPECT_EQ(&flow.header(flow.loops()[0].loop), &other);
}

// Blocks in a row behind a loop, which lead back into the middle of it.
TEST_F(SampledFlowCallsTest, AtMost32BlocksInARowBelongToALoopThatTheyComeBackTo) {
    for (const std::size_t count : {32u, 33u}) {
        for (const bool is_called : {false, true}) {
            SCOPED_TRACE(count);
            SCOPED_TRACE(is_called);
            flow.start_piece();
            const Address at = 0x10000 * count + (is_called ? 0x8000 : 0);
            Block& tests = block(f, at + 8);
            Block& goes_on = program.code(f, at + 12).op().op().ends();
            const Address stack_pointer = is_called ? kTop - 8 : kTop;
            std::size_t around = 0;
            if (is_called) {  // from behind a loop
                Block& loops = block(g, at);
                run(loops);
                run(loops);
                run(block(g, at + 0x100, JumpKind::kCall));
            }
            run(block(f, at), stack_pointer);
            run(tests, stack_pointer);
            run(goes_on, stack_pointer);
            around = run(tests, stack_pointer);
            for (int round = 0; round < 2; ++round) {
                for (std::size_t i = 0; i < count; ++i) {
                    const std::size_t loops = run(block(f, at + 0x1000 + 16 * i), stack_pointer);
                    EXPECT_EQ(loops, round == 1 && count == 32 ? around : around - 1) << i;
                }
                EXPECT_EQ(run(goes_on, stack_pointer), around);
                EXPECT_EQ(run(tests, stack_pointer), around);
            }
        }
    }
}

// If they lead to its header, then all up to there belongs to it.
TEST_F(SampledFlowCallsTest, OfMoreThan32BlocksInARowTheLastMayRepeatALoop) {
    Block& header = block(f, 0x1004);
    Block& between = block(f, 0x1100);
    run(block(f, 0x1000));
    run(header);
    run(header);
    for (Address i = 0; i < 40; ++i) EXPECT_EQ(run(block(f, 0x2000 + 16 * i)), 0u);
    EXPECT_EQ(run(header), 1u);
    EXPECT_EQ(run(between), 1u);
}

TEST_F(SampledFlowCallsTest, AtMost256LoopsAreOpen) {
    for (std::size_t depth = 1; depth <= 300; ++depth) {
        const Address stack_pointer = kTop - 16 * depth;
        Block& loops = program.code(f, 0x1000).op().may_exit().op().ends(JumpKind::kCall);
        run_to(loops, 0, stack_pointer);
        EXPECT_EQ(run(loops, stack_pointer), std::min<std::size_t>(depth, 256));
    }
}

}  // namespace
}  // namespace bd::test
