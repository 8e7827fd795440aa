// SPDX-License-Identifier: GPL-2.0-or-later

#include "call_fixture.h"

namespace bd {
namespace {

using test::CallTrackerTest;
using test::kCall;
using test::kJump;
using test::kReturn;

// main's stack begins at 100000. Two coroutines run f and g on stacks of their own; all change stacks by calling
// switch, which returns on another one.
class StackChangesTest : public CallTrackerTest {
protected:
    static constexpr Address kMain = 100000;
    static constexpr Address kPing = 50000;
    static constexpr Address kPong = 60000;

    void main_switches() {
        run(main_calls_, kMain);
        run(switch_, kMain - 8);
    }
    void ping_starts() {
        run(f_calls_, kPing);
        run(switch_, kPing - 8);
    }
    void pong_starts() {
        run(g_calls_, kPong);
        run(switch_, kPong - 8);
    }

    Function& switcher_ = program_.function("switch", "libc.c", "libc.so");
    Block& switch_ = entry(switcher_, 0x7000, kReturn);
    Block& jump_switch_ = entry(switcher_, 0x7010, kJump);
    Block& g_calls_ = entry(g_, 0x3040, kCall);
    Block& g_on_ = inside(g_, 0x3044, kCall);
};

TEST_F(StackChangesTest, AStackReachesDownToTheMarginOfTheOneBelow) {
    EXPECT_TRUE(AddressRange{}.has(0));
    EXPECT_TRUE(AddressRange{}.has(~Address{0}));
    constexpr Address kBelow = 1000;
    execution_.base = kMain;
    execution_.others.push_back(std::make_unique<CallStack>(tree_.make_root()));
    execution_.others.back()->base = kBelow;
    execution_.update_stack();
    EXPECT_FALSE(execution_.on_stack(kBelow + CallStack::kMargin));
    EXPECT_TRUE(execution_.on_stack(kBelow + CallStack::kMargin + 1));
    EXPECT_FALSE(execution_.within_top(100));
    EXPECT_TRUE(execution_.within_top(kMain));
    EXPECT_TRUE(execution_.within_top(kMain + CallStack::kMargin));
    EXPECT_FALSE(execution_.within_top(kMain + CallStack::kMargin + 1));
}

// Main's stack has come so near that its margin reaches down to where ping is: a bit above what ping began with.
TEST_F(StackChangesTest, GoingDownOnAStackHasNothingToDoWithOthers) {
    main_switches();
    run(f_on_, kPing);
    run(f_returns_, kPing);
    run(main_on_, kMain);
    run(main_calls_, kMain);
    run(f_calls_, kPing + 1100);
    run(switch_, kPing + 1092);
    run(f_on_, kPing + 500);
    EXPECT_EQ(stack(), "f");
    ASSERT_EQ(execution_.others.size(), 1u);
    run(f_jumps_, kPing + 400);
    EXPECT_EQ(stack(), "f");
    EXPECT_EQ(execution_.others.size(), 1u);
}

TEST_F(StackChangesTest, AReturnFarDownStartsAStack) {
    main_switches();
    EXPECT_EQ(stack(), "main switch");
    run(f_calls_, kPing);
    EXPECT_EQ(stack(), "f");
    EXPECT_EQ(execution_.others.size(), 1u);
    EXPECT_EQ(arcs(), (Arcs{"main@1010 switch@7000 1"}));
}

TEST_F(StackChangesTest, AJumpFarDownToAFunctionStartsAStack) {
    run(main_calls_, kMain);
    run(jump_switch_, kMain - 8);
    run(f_calls_, kPing);
    EXPECT_EQ(stack(), "f");
}

// The margin is for what a block does with the stack pointer.
TEST_F(StackChangesTest, AReturnWithinTheMarginIsOnTheSameStack) {
    main_switches();
    run(f_calls_, kMain - 8 - CallStack::kMargin);
    EXPECT_EQ(stack(), "main switch f");
    EXPECT_TRUE(execution_.others.empty());
}

TEST_F(StackChangesTest, AReturnBeyondTheMarginIsOnAnother) {
    main_switches();
    run(f_calls_, kMain - 8 - 1025);
    EXPECT_EQ(stack(), "f");
    EXPECT_EQ(execution_.others.size(), 1u);
}

TEST_F(StackChangesTest, AJumpAsFarAsALargeFrameIsATailCall) {
    run(main_calls_, kMain);
    run(jump_switch_, kMain - 8);
    run(f_calls_, kMain - 8 - 16384);
    EXPECT_EQ(stack(), "main switch f");
}

TEST_F(StackChangesTest, AJumpFurtherThanALargeFrameIsToAnotherStack) {
    run(main_calls_, kMain);
    run(jump_switch_, kMain - 8);
    run(f_calls_, kMain - 8 - 16385);
    EXPECT_EQ(stack(), "f");
}

TEST_F(StackChangesTest, TheRootHasAMarginToo) {
    main_switches();
    run(main_on_, kMain + 1024);
    EXPECT_EQ(stack(), "main");
    EXPECT_TRUE(execution_.others.empty());
}

TEST_F(StackChangesTest, BeyondTheRootsMarginIsAnotherStack) {
    main_switches();
    run(main_on_, kMain + 1025);
    EXPECT_EQ(stack(), "main");
    EXPECT_EQ(execution_.others.size(), 1u);
}

// Its first block has made room for a large frame, then it goes on in a part that has a name of its own.
TEST_F(StackChangesTest, AJumpToAFunctionNotFarDownIsATailCall) {
    run(main_calls_, kMain);
    run(f_jumps_, kMain - 8);
    run(g_starts_, kMain - 10000);
    EXPECT_EQ(stack(), "main f g");
}

TEST_F(StackChangesTest, AJumpFarDownWithinAFunctionIsItsFrame) {
    run(main_calls_, kMain);
    run(f_jumps_, kMain - 8);
    run(f_on_, kPing);
    EXPECT_EQ(stack(), "main f");
    EXPECT_TRUE(execution_.others.empty());
}

TEST_F(StackChangesTest, ACallFarDownIsACallWithALargeFrame) {
    run(main_calls_, kMain);
    run(f_calls_, kPing);
    EXPECT_EQ(stack(), "main f");
}

TEST_F(StackChangesTest, UpBeyondTheRootStartsAStack) {
    main_switches();
    ping_starts();
    run(g_calls_, kPong);
    EXPECT_EQ(stack(), "g");
    EXPECT_EQ(execution_.others.size(), 2u);
}

TEST_F(StackChangesTest, AStackGoesOnWhereItWasLeft) {
    main_switches();
    ping_starts();
    pong_starts();
    for (int round = 0; round < 3; ++round) {
        run(main_on_, kMain);
        EXPECT_EQ(stack(), "main");
        main_switches();
        run(f_on_, kPing);
        EXPECT_EQ(stack(), "f");
        run(inside(f_, 0x2008, kCall), kPing);
        run(switch_, kPing - 8);
        run(g_on_, kPong);
        EXPECT_EQ(stack(), "g");
        run(switch_, kPong - 8);
        EXPECT_EQ(stack(), "g switch");
    }
    EXPECT_EQ(execution_.others.size(), 2u);
    EXPECT_EQ(arcs(), (Arcs{"main@1010 switch@7000 4", "f@2000 switch@7000 1", "g@3040 switch@7000 1",
                            "f@2008 switch@7000 3", "g@3044 switch@7000 3"}));
}

TEST_F(StackChangesTest, CallsStayOpenOnAStackThatWasLeft) {
    run(main_calls_, kMain);
    run(inside(h_, 0x4030, kCall), kMain - 8);
    run(switch_, kMain - 16);
    run(f_calls_, kPing);
    run(g_calls_, kPing - 8);
    run(switch_, kPing - 16);
    run(inside(h_, 0x4034, kJump), kMain - 8);
    EXPECT_EQ(stack(), "main h");
    run(jump_switch_, kMain - 8);
    EXPECT_EQ(stack(), "main h switch") << "a tail call";
    run(g_on_, kPing - 8);
    EXPECT_EQ(stack(), "f g");
}

// By a few instructions of its own, within a function.
TEST_F(StackChangesTest, AStackMayGoOnInTheFunctionThatItWasLeftIn) {
    run(main_calls_, kMain);
    run(f_jumps_, kMain - 8);
    run(g_starts_, kPing);
    EXPECT_EQ(stack(), "g");
    run(f_on_, kMain - 8);
    EXPECT_EQ(stack(), "main f");
    run(g_jumps_, kPing);
    EXPECT_EQ(stack(), "g");
}

TEST_F(StackChangesTest, WhereAStackCannotGoOnANewOneBegins) {
    main_switches();
    ping_starts();
    run(main_on_, kMain);
    main_switches();
    run(h_starts_, kPing - 4);  // the coroutine is over, its stack is used for another one
    EXPECT_EQ(stack(), "h");
    EXPECT_EQ(execution_.others.size(), 1u);
    EXPECT_EQ(instructions_below(f_, switcher_), 1u) << "the calls on it have been left";
}

TEST_F(StackChangesTest, AStackThatGrowsOverAnotherReplacesIt) {
    main_switches();
    ping_starts();
    run(main_on_, kMain);
    run(main_calls_, kMain);
    run(f_calls_, kPing - 5000);
    EXPECT_EQ(stack(), "main f");
    EXPECT_TRUE(execution_.others.empty());
}

TEST_F(StackChangesTest, CostsAreChargedToTheCallsOfTheirOwnStack) {
    main_switches();
    ping_starts();
    run(main_on_, kMain);
    EXPECT_EQ(instructions_below(main_, switcher_), 1u) << "without what ping did";
    tracker_.leave_all(execution_);
    EXPECT_EQ(instructions_below(f_, switcher_), 1u);
}

TEST_F(StackChangesTest, SettlingReachesAllStacks) {
    main_switches();
    ping_starts();
    tracker_.settle(execution_);
    EXPECT_EQ(instructions_below(main_, switcher_), 1u);
    EXPECT_EQ(instructions_below(f_, switcher_), 1u);
}

TEST_F(StackChangesTest, EveryStackHasATreeOfItsOwn) {
    main_switches();
    const NodeId on_main = tracker_.active_node(execution_);
    ping_starts();
    const NodeId on_ping = tracker_.active_node(execution_);
    EXPECT_NE(on_main, on_ping);
    run(main_on_, kMain);
    tracker_.leave_all(execution_);
    tree_.release(execution_.root);
    EXPECT_TRUE(tree_.empty());
}

TEST_F(StackChangesTest, EveryStackHasLevelsOfItsOwn) {
    f_.recursion_levels = 2;
    run(main_calls_, kMain);
    run(f_calls_, kMain - 8);
    run(switch_, kMain - 16);
    run(f_calls_, kPing);
    EXPECT_EQ(stack(), "f");
    run(f_calls_, kPing - 8);
    EXPECT_EQ(stack(), "f f'2");
    run(switch_, kPing - 16);
    run(f_on_, kMain - 8);
    EXPECT_EQ(stack(), "main f");
    tracker_.leave_all(execution_);
    EXPECT_EQ(tracker_.open_calls(f_), 0u);
}

// Instrumentation may begin in mid-run.
TEST_F(StackChangesTest, ReturnsToCallersNeverSeenAreOnTheSameStack) {
    run(f_returns_, 1000);
    run(g_returns_, 5000);
    run(h_starts_, 90000);
    EXPECT_EQ(stack(), "h");
    EXPECT_TRUE(execution_.others.empty());
}

TEST_F(StackChangesTest, AHandlerThatChangesStacksIsStillLeftByAJump) {
    execution_.bounds = {0, kMain};
    main_switches();
    ping_starts();
    EXPECT_FALSE(run(h_starts_, kMain + 1));
}

TEST_F(StackChangesTest, AJumpOutOfAHandlerMayReachAnotherStack) {
    main_switches();
    run(f_calls_, kPing);
    run(g_jumps_, kPing - 8);  // interrupted here
    tracker_.enter_by_jump(execution_, main_on_, kMain);
    has_run(main_on_);
    EXPECT_EQ(stack(), "main");
}

}  // namespace
}  // namespace bd
