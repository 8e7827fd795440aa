// SPDX-License-Identifier: GPL-2.0-or-later
//
// Calls where signal handlers run.

#include "engine/calls/call_tracker.h"

#include "call_fixture.h"

namespace bd {
namespace {

using test::CallTrackerTest;

class HandlerTest : public CallTrackerTest {
protected:
    // Runs on a stack from 1000 to 2000; the program's is higher up.
    HandlerTest() {
        execution_.bounds = {1000, 2000};
        execution_.update_top();
    }
};

TEST_F(HandlerTest, RunsOnItsOwnStack) {
    EXPECT_TRUE(run(main_calls_, 1900));
    EXPECT_TRUE(run(f_calls_, 1899));
    EXPECT_TRUE(run(g_returns_, 1000));
    EXPECT_TRUE(run(f_returns_, 1001));
    EXPECT_TRUE(run(main_on_, 1900));
    EXPECT_TRUE(run(h_starts_, 2000));
    EXPECT_EQ(stack(), "main h");
}

TEST_F(HandlerTest, IsLeftByAJumpToAHigherStack) {
    run(main_calls_, 1900);
    run(f_jumps_, 1899);
    EXPECT_FALSE(run(main_on_, 2001));
}

// An alternate stack may lie above the program's.
TEST_F(HandlerTest, IsLeftByAJumpToALowerStack) {
    run(main_calls_, 1900);
    run(f_jumps_, 1899);
    EXPECT_FALSE(run(f_on_, 999));
}

TEST_F(HandlerTest, IsLeftByAReturnAndByACallAsWell) {
    run(f_returns_, 1900);
    EXPECT_FALSE(run(main_on_, 2001));
    EXPECT_TRUE(run(main_calls_, 1900));
    EXPECT_FALSE(run(f_calls_, 2001));
}

TEST_F(HandlerTest, WhenLeftWithOpenCallsNothingHasBeenEntered) {
    run(main_calls_, 1900);
    run(f_calls_, 1899);
    run(g_jumps_, 1800);
    EXPECT_FALSE(run(h_starts_, 500));
    EXPECT_EQ(stack(), "main f g");
    EXPECT_FALSE(run(h_starts_, 5000));
    EXPECT_EQ(stack(), "main");
    tracker_.leave_all(execution_);
}

TEST_F(CallTrackerTest, AfterAJumpOutOfAHandlerTheInterruptedCallsGoOn) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(g_jumps_, 80);  // interrupted here, the handler jumps to f
    tracker_.enter_by_jump(execution_, f_on_, 95);
    has_run(f_on_);
    EXPECT_EQ(stack(), "main f");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2000 1", "f@2000 g@3020 1"}));
}

// The block interrupted was about to call or to return; that is not going to happen.
TEST_F(CallTrackerTest, AfterAJumpOutOfAHandlerTheInterruptedExitDoesNotCount) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    tracker_.enter_by_jump(execution_, f_on_, 99);
    has_run(f_on_);
    EXPECT_EQ(stack(), "main f");

    run(f_returns_, 99);
    tracker_.enter_by_jump(execution_, f_on_, 99);
    has_run(f_on_);
    EXPECT_EQ(stack(), "main f");
}

TEST_F(CallTrackerTest, AHandlerBeforeTheFirstBlockMayJumpToIt) {
    tracker_.enter_by_jump(execution_, f_on_, 95);
    has_run(f_on_);
    EXPECT_EQ(stack(), "f");
}

}  // namespace
}  // namespace bd
