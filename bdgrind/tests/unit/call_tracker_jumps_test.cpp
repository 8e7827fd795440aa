// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is a call among the jumps of a program.

#include "engine/calls/call_tracker.h"

#include "call_fixture.h"

namespace bd {
namespace {

using test::CallTrackerTest;
using test::kCall;
using test::kJump;
using test::kReturn;

TEST_F(CallTrackerTest, AJumpWithinAFunctionIsNoCall) {
    run(main_calls_, 100);
    run(f_jumps_, 99);
    run(f_on_, 95);
    run(f_jumps_, 99);
    EXPECT_EQ(stack(), "main f");
}

// A function's outlined parts have names of their own.
TEST_F(CallTrackerTest, AJumpIntoTheMiddleOfAnotherFunctionIsNoCall) {
    run(main_calls_, 100);
    run(f_jumps_, 99);
    run(g_jumps_, 99);
    EXPECT_EQ(stack(), "main f");
}

TEST_F(CallTrackerTest, AJumpToAFunctionIsATailCallAndOneReturnLeavesBoth) {
    run(main_calls_, 100);
    run(f_jumps_, 99);
    run(g_starts_, 99);
    EXPECT_EQ(stack(), "main f g");
    run(h_starts_, 99);
    EXPECT_EQ(stack(), "main f g h");
    run(h_returns_, 90);
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2020 1", "f@2020 g@3000 1", "g@3000 h@4000 1"}));
}

// It has a frame still, as where a jump goes back to the start of the function.
TEST_F(CallTrackerTest, ATailCallSharesTheStackPointerOfTheCallBelow) {
    run(main_calls_, 100);
    run(f_jumps_, 99);
    run(g_starts_, 70);
    run(g_returns_, 99);
    EXPECT_EQ(stack(), "main f g");
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
}

TEST_F(CallTrackerTest, ATailCallReturnsToTheCallerOnAnUnchangedStackPointerToo) {
    run(main_calls_, 100);
    run(f_jumps_, 100);
    run(g_starts_, 100);
    run(g_returns_, 100);
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
}

TEST_F(CallTrackerTest, ATailCallFromTheRootIsOpenAboveTheRootsStackPointer) {
    run(main_on_, 100);
    run(f_calls_, 100);
    EXPECT_EQ(stack(), "main f");
    run(g_returns_, 99);
    run(f_returns_, 100);
    EXPECT_EQ(stack(), "main f");
    run(h_starts_, 101);
    EXPECT_EQ(stack(), "h");
}

// A loop may begin where its function begins: each iteration counts as a call, but none keeps the ones before open.
TEST_F(CallTrackerTest, TailCallsThatRepeatDoNotPileUp) {
    Block& f = entry(f_, 0x2000, kJump);
    run(main_calls_, 100);
    run(f, 99);
    for (int i = 0; i < 999; ++i) {
        run(f_jumps_, 99);
        run(f, 99);
    }
    EXPECT_EQ(stack(), "main f f");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2000 1", "f@2020 f@2000 999"}));
    run(main_on_, 100);
    // 1000 times the start and 999 times the jump; below the jumps, each counted once, 999 and 998 of them.
    EXPECT_EQ(instructions_below(main_, f_), 1999u);
    EXPECT_EQ(instructions_below(f_, f_), 1997u);
}

TEST_F(CallTrackerTest, TailCallsThatRepeatInTurnsDoNotPileUp) {
    Block& f = entry(f_, 0x2000, kJump);
    run(main_calls_, 100);
    for (int i = 0; i < 1000; ++i) {
        run(f, 99);
        run(g_starts_, 99);
    }
    EXPECT_EQ(stack(), "main f g");
}

TEST_F(CallTrackerTest, TailRecursionIsRecursion) {
    Block& f = entry(f_, 0x2000, kJump);
    run(main_calls_, 100);
    run(f, 99);
    run(f_jumps_, 99);
    run(f, 99);
    EXPECT_EQ(stack(), "main f f");
}

TEST_F(CallTrackerTest, ARepInstructionThatAFunctionBeginsWithDoesNotCallItself) {
    Block& rep = entry(f_, 0x2000, kJump);
    run(main_calls_, 100);
    for (int i = 0; i < 5; ++i) run(rep, 99);
    EXPECT_EQ(stack(), "main f");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2000 1"}));
}

TEST_F(CallTrackerTest, AJumpToAnotherObjectIsACallAnywhere) {
    Block& in_lib = inside(lib_, 0x9000, kReturn);
    run(main_calls_, 100);
    run(f_jumps_, 99);
    run(in_lib, 99);
    EXPECT_EQ(stack(), "main f lib");
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
}

TEST_F(CallTrackerTest, AJumpToAnotherSectionIsACallAnywhere) {
    Block& in_plt = program_.code(g_, 0x9000, 1).op().ends(kJump);
    run(main_calls_, 100);
    run(f_jumps_, 99);
    run(in_plt, 99);
    EXPECT_EQ(stack(), "main f g");
    run(f_jumps_, 99);  // and back
    EXPECT_EQ(stack(), "main f g f");
}

TEST_F(CallTrackerTest, LongjmpLeavesTheCallsThatItJumpedOver) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(g_starts_, 89);
    for (Address stack_pointer = 80; stack_pointer > 20; --stack_pointer) {
        run(f_calls_, stack_pointer);
        run(f_calls_, stack_pointer);
    }
    run(inside(lib_, 0x9000, kJump), 19);  // longjmp itself
    run(f_on_, 95);
    EXPECT_EQ(stack(), "main f");
}

// The landing place is one of f's frames, not a new call of f.
TEST_F(CallTrackerTest, AJumpThatLeavesCallsIsNoCallWhereverItGoes) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(inside(lib_, 0x9000, kJump), 89);
    run(f_calls_, 97);
    EXPECT_EQ(stack(), "main f");
}

// On arm64, a call takes nothing of the stack: f's has the stack pointer that main goes on with. longjmp ends in a jump
// that counts as a return there.
TEST_F(CallTrackerTest, LongjmpLeavesTheCallThatTookNothingOfTheStack) {
    run(main_calls_, 100);
    run(f_calls_, 100);
    run(inside(lib_, 0x9000, kReturn), 90);  // longjmp itself
    run(inside(main_, 0x1040, kJump), 100);
    EXPECT_EQ(stack(), "main");
}

TEST_F(CallTrackerTest, LongjmpOutOfACallThatHasNoFrameLeavesIt) {
    run(main_calls_, 100);
    run(f_jumps_, 100);
    run(entry(lib_, 0x9000, kReturn), 100);
    EXPECT_EQ(stack(), "main f lib");
    run(inside(main_, 0x1040, kJump), 100);
    EXPECT_EQ(stack(), "main");
}

// To a landing pad: it is not where a call was to return to.
TEST_F(CallTrackerTest, AnExceptionLeavesTheCallThatTookNothingOfTheStack) {
    run(main_calls_, 100);
    run(f_calls_, 100);
    run(inside(lib_, 0x9000, kReturn), 90);
    run(inside(main_, 0x1040, kJump), 100);
    EXPECT_EQ(stack(), "main");
}

// Its caller has the function of the call below, whose stack pointer it has come back to.
TEST_F(CallTrackerTest, AReturnOfATailCallLeavesNothingElse) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(f_calls_, 98);
    run(f_jumps_, 97);
    run(g_starts_, 97);
    run(inside(g_, 0x3030, kReturn), 97);
    EXPECT_EQ(stack(), "main f f f g");
    run(f_on_, 98);
    EXPECT_EQ(stack(), "main f f");
}

TEST_F(CallTrackerTest, AJumpWithinAFunctionThatHasNoFrameLeavesNothing) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(f_on_, 98);
    run(f_jumps_, 98);
    EXPECT_EQ(stack(), "main f f");
}

TEST_F(CallTrackerTest, ACallLeavesWhatLiesBelowItFirst) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(inside(g_, 0x3030, kCall), 50);  // g has gone up without a jump that said so
    run(h_starts_, 97);
    EXPECT_EQ(stack(), "main f h");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2000 1", "f@2000 g@3030 1", "g@3030 h@4000 1"}));
}

}  // namespace
}  // namespace bd
