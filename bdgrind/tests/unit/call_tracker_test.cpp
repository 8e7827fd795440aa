// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/calls/call_tracker.h"

#include "call_fixture.h"

namespace bd {
namespace {

using test::CallTrackerTest;
using test::kCall;
using test::kJump;
using test::kReturn;

// --- Calls and returns

TEST_F(CallTrackerTest, TheFirstBlockIsTheRoot) {
    run(f_on_, 100);
    EXPECT_EQ(stack(), "f");
    EXPECT_EQ(arcs(), Arcs{});
}

TEST_F(CallTrackerTest, ACallIsOpenUntilItReturns) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    EXPECT_EQ(stack(), "main f");
    run(g_returns_, 90);
    EXPECT_EQ(stack(), "main f g");
    run(f_returns_, 91);
    EXPECT_EQ(stack(), "main f");
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2000 1", "f@2000 g@3010 1"}));
}

TEST_F(CallTrackerTest, AnArcCountsItsCalls) {
    for (int i = 0; i < 3; ++i) {
        run(main_calls_, 100);
        run(f_returns_, 99);
        run(main_on_, 100);
    }
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2010 3"}));
}

TEST_F(CallTrackerTest, ACallFromASideExitIsAnArcOfItsOwn) {
    Block& block = program_.code(main_, 0x1100).op().may_exit(kCall).op().ends(kCall);
    tracker_.enter(execution_, block, 100);
    execution_.last = &blocks_.get(block, *execution_.context);
    execution_.last_exit = &block.exits()[0];
    run(f_returns_, 99);
    run(block, 100);
    run(f_returns_, 99);
    ASSERT_EQ(arcs_.size(), 2u);
    EXPECT_EQ(arcs_[ArcId{1}].site.exit, 0);
    EXPECT_EQ(arcs_[ArcId{2}].site.exit, 1);
}

TEST_F(CallTrackerTest, RecursionOpensTheSameArcAgain) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(f_calls_, 89);
    run(f_calls_, 79);
    run(f_calls_, 69);
    EXPECT_EQ(stack(), "main f f f f");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2000 1", "f@2000 f@2000 3"}));
}

// Frames that were left without a return of their own.
TEST_F(CallTrackerTest, AReturnLeavesAllCallsBelowItsStackPointer) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(g_returns_, 89);
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
}

// The function does not pop what its caller expects, or more: what counts is that its frame is gone.
TEST_F(CallTrackerTest, AReturnThatLeavesTheFrameIsRealWhereverItGoes) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(g_returns_, 89);
    run(f_jumps_, 95);
    EXPECT_EQ(stack(), "main f");
}

// Where the return address is in a register, the stack pointer need not change: arm64.
TEST_F(CallTrackerTest, AReturnToTheReturnAddressIsRealWithAnUnchangedStackPointer) {
    run(main_calls_, 100);
    run(f_returns_, 100);
    EXPECT_EQ(stack(), "main f");
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
}

TEST_F(CallTrackerTest, AReturnToACallFurtherDownLeavesAllThatShareTheStackPointer) {
    run(main_calls_, 100);
    run(f_calls_, 100);
    run(g_returns_, 100);
    EXPECT_EQ(stack(), "main f g");
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
}

TEST_F(CallTrackerTest, AReturnDoesNotReachBelowADifferentStackPointer) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(g_returns_, 89);
    run(main_on_, 89);  // main's return address, but f's call has another stack pointer
    EXPECT_EQ(stack(), "main f g main");
}

TEST_F(CallTrackerTest, AReturnWithoutItsCallIsACall) {
    run(main_calls_, 100);
    run(f_returns_, 99);
    run(g_jumps_, 99);  // pushed an address and returned to it
    EXPECT_EQ(stack(), "main f g");
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2010 1", "f@2010 g@3020 1"}));
}

TEST_F(CallTrackerTest, AReturnWithALowerStackPointerIsACallToo) {
    run(main_calls_, 100);
    run(f_returns_, 99);
    run(g_jumps_, 50);
    EXPECT_EQ(stack(), "main f g");
}

// As of libc's vfork, which has taken its return address off the stack for a while.
TEST_F(CallTrackerTest, AReturnWithoutItsCallToTheCurrentFunctionIsNoCall) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(g_jumps_, 90);
    run(g_jumps_, 91);
    EXPECT_EQ(stack(), "main f");
    run(inside(g_, 0x3030, kReturn), 90);
    run(f_on_, 91);
    EXPECT_EQ(stack(), "main f");
}

TEST_F(CallTrackerTest, AReturnWithoutItsCallToTheStartOfTheCurrentFunctionIsACall) {
    run(main_calls_, 100);
    run(f_returns_, 99);
    run(entry(f_, 0x2000, kJump), 99);
    EXPECT_EQ(stack(), "main f f");
}

TEST_F(CallTrackerTest, AReturnWithAnEmptyStackReachesTheRoot) {
    run(f_returns_, 100);
    run(g_returns_, 101);
    EXPECT_EQ(stack(), "g");
    run(h_starts_, 80);
    EXPECT_EQ(stack(), "h");
    EXPECT_EQ(arcs(), Arcs{});
}

// As a signal handler that ends in its cold part: what it returns to is not the handler's.
TEST_F(CallTrackerTest, AReturnFromATailCallOfTheRootReachesTheNextRoot) {
    run(f_jumps_, 100);
    run(h_starts_, 100);
    EXPECT_EQ(stack(), "f h");
    run(h_returns_, 90);
    run(inside(g_, 0x3030, kJump), 101);
    EXPECT_EQ(stack(), "g");
}

// The stack was first seen in the middle of the root, below where that began.
TEST_F(CallTrackerTest, AReturnToTheRootAboveItsFirstStackPointerStaysThere) {
    run(inside(main_, 0x1020, kJump), 100);
    run(main_calls_, 105);
    run(f_returns_, 104);
    run(main_on_, 105);
    EXPECT_EQ(stack(), "main");
    EXPECT_EQ(arcs(), Arcs{"main@1010 f@2010 1"});
}

// --- Inclusive costs and tree nodes

TEST_F(CallTrackerTest, AnArcGetsWhatHappenedBetweenEntryAndLeaving) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(g_starts_, 89);
    run(g_returns_, 89);
    run(f_returns_, 90);
    EXPECT_EQ(instructions_below(f_, g_), 2u);
    run(main_on_, 100);
    EXPECT_EQ(instructions_below(main_, f_), 4u);
}

TEST_F(CallTrackerTest, AnArcThatIsOpenSeveralTimesGetsItsCostsSeveralTimes) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(f_calls_, 89);
    run(f_returns_, 79);
    run(main_on_, 100);
    EXPECT_EQ(instructions_below(main_, f_), 3u);
    EXPECT_EQ(instructions_below(f_, f_), 2u + 1);
}

TEST_F(CallTrackerTest, WhatSkippedCodeCostsIsInTheArcsBelowItsCaller) {
    g_.skipped = true;
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(g_returns_, 89);
    run(f_returns_, 90);
    run(main_on_, 100);
    EXPECT_EQ(instructions_below(main_, f_), 3u);
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2000 1"}));
}

TEST_F(CallTrackerTest, LeavingAllClosesEveryCall) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(g_starts_, 89);
    tracker_.leave_all(execution_);
    EXPECT_EQ(stack(), "main");
    EXPECT_EQ(instructions_below(main_, f_), 2u);
    EXPECT_EQ(instructions_below(f_, g_), 1u);
}

TEST_F(CallTrackerTest, SettlingGivesOpenCallsTheirCostsOnce) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(g_starts_, 89);
    tracker_.settle(execution_);
    EXPECT_EQ(instructions_below(main_, f_), 2u);
    tracker_.settle(execution_);
    EXPECT_EQ(instructions_below(main_, f_), 2u);
    run(g_returns_, 89);
    tracker_.leave_all(execution_);
    EXPECT_EQ(instructions_below(main_, f_), 3u);
    EXPECT_EQ(instructions_below(f_, g_), 2u);
}

TEST_F(CallTrackerTest, CallsAreFollowedButNotCountedWhileNothingIsCollected) {
    execution_.collecting = false;
    run(main_calls_, 100);
    run(f_calls_, 99);
    EXPECT_EQ(stack(), "main f");
    EXPECT_EQ(arcs(), Arcs{});
    execution_.collecting = true;
    run(g_returns_, 89);
    EXPECT_EQ(arcs(), (Arcs{"f@2000 g@3010 1"}));
}

TEST_F(CallTrackerTest, CallsThatNeedNoNodeGetNone) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(g_returns_, 89);
    run(f_returns_, 90);
    EXPECT_EQ(tree_.stats().made, 1u);
    EXPECT_EQ(tracker_.active_node(execution_), execution_.calls[0].node);
    EXPECT_EQ(tree_.stats().made, 2u);
}

TEST_F(CallTrackerTest, TheActiveNodeIsMadeWithItsAncestorsAndFoundAgain) {
    EXPECT_EQ(tracker_.active_node(execution_), execution_.root);
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(g_returns_, 89);
    const NodeId in_g = tracker_.active_node(execution_);
    EXPECT_EQ(tree_.stats().made, 3u);
    EXPECT_EQ(tracker_.active_node(execution_), in_g);
    tree_.acquire(in_g);  // a line
    run(f_calls_, 90);
    const NodeId in_f = tracker_.active_node(execution_);
    EXPECT_NE(in_f, in_g);
    run(g_returns_, 89);  // the same call again
    EXPECT_EQ(tracker_.active_node(execution_), in_g);
    EXPECT_EQ(tree_.stats().made, 3u);

    tree_.release(in_g);
    tracker_.leave_all(execution_);
    tree_.release(execution_.root);
    EXPECT_TRUE(tree_.empty());
}

TEST_F(CallTrackerTest, SkippedCodeStandsInItsCallersNode) {
    g_.skipped = true;
    run(main_calls_, 100);
    run(f_calls_, 99);
    const NodeId in_f = tracker_.active_node(execution_);
    run(g_jumps_, 89);
    EXPECT_EQ(tracker_.active_node(execution_), in_f);
    run(h_starts_, 80);
    EXPECT_NE(tracker_.active_node(execution_), in_f);
    tracker_.leave_all(execution_);
    tree_.release(execution_.root);
    EXPECT_TRUE(tree_.empty());
}

TEST_F(CallTrackerTest, SkippedCodeBelowTheRootStandsAtTheRoot) {
    f_.skipped = true;
    run(main_calls_, 100);
    run(f_calls_, 99);
    EXPECT_EQ(tracker_.active_node(execution_), execution_.root);
    tracker_.leave_all(execution_);
    tree_.release(execution_.root);
    EXPECT_TRUE(tree_.empty());
}

// The second time it is entered as if nothing had been.
TEST_F(CallTrackerTest, ABlockIsEnteredAgainOnceWhatItAskedForIsDone) {
    f_.triggers.dump_before = true;
    run(main_calls_, 100);
    EXPECT_FALSE(tracker_.enter(execution_, f_calls_, 99));
    ASSERT_EQ(tracker_.requests().size(), 1u);
    tracker_.stop(execution_);
    tracker_.requests().clear();
    EXPECT_TRUE(tracker_.enter(execution_, f_calls_, 99));
    EXPECT_EQ(stack(), "main f");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2000 1"}));
}

}  // namespace
}  // namespace bd
