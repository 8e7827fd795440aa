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
// ----------------------------------------------------------------------------------------

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

// --- Jumps
// ----------------------------------------------------------------------------------------------------

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

TEST_F(CallTrackerTest, ACallLeavesWhatLiesBelowItFirst) {
    run(main_calls_, 100);
    run(f_calls_, 99);
    run(inside(g_, 0x3030, kCall), 50);  // g has gone up without a jump that said so
    run(h_starts_, 97);
    EXPECT_EQ(stack(), "main f h");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 f@2000 1", "f@2000 g@3030 1", "g@3030 h@4000 1"}));
}

// --- The dynamic linker's resolver
// ----------------------------------------------------------------------------

class ResolverTest : public CallTrackerTest {
protected:
    ResolverTest() { resolve_.left_by_jump = true; }

    // main calls g through a stub that has not found g yet.
    void call_through_stub() {
        run(main_calls_, 100);
        run(program_.entry(stub_, 0x8000, 1).op().ends(kJump), 99);
        run(entry(resolve_, 0x9000, kCall), 97);
        run(inside(lib_, 0x9100, kReturn), 60);  // it calls others
        run(inside(resolve_, 0x9004, kJump), 61);
    }

    Function& stub_ = program_.function("stub");
    Function& resolve_ = program_.function("resolve", "ld.c", "lib.so");
};

TEST_F(ResolverTest, JumpsToWhatItsCallerCalls) {
    call_through_stub();
    EXPECT_EQ(stack(), "main stub resolve");
    run(g_starts_, 99);
    EXPECT_EQ(stack(), "main stub g");
    run(g_returns_, 90);
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
    // Were g called by the resolver, that would pass on more than it ever got.
    EXPECT_EQ(arcs(), (Arcs{"main@1010 stub@8000 1", "stub@8000 resolve@9000 1", "resolve@9000 lib@9100 1",
                            "stub@8000 g@3000 1"}));
    EXPECT_EQ(instructions_below(stub_, resolve_), 3u);
    EXPECT_EQ(instructions_below(stub_, g_), 2u);
    EXPECT_EQ(instructions_below(main_, stub_), 1u + 3 + 2);
}

TEST_F(ResolverTest, WithASkippedStubTheProgramItselfIsTheCaller) {
    stub_.skipped = true;
    call_through_stub();
    EXPECT_EQ(stack(), "main [] main resolve");
    run(g_starts_, 99);
    EXPECT_EQ(stack(), "main [] main g");
    run(main_on_, 100);
    EXPECT_EQ(arcs(),
              (Arcs{"main@1010 resolve@9000 1", "resolve@9000 lib@9100 1", "main@1010 g@3000 1"}));
}

TEST_F(ResolverTest, SkippedItselfItIsNotLeft) {
    stub_.skipped = true;
    resolve_.skipped = true;
    call_through_stub();
    EXPECT_EQ(stack(), "main [] main [] main");
    run(g_starts_, 99);
    EXPECT_EQ(stack(), "main [] main [] main g");
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 lib@9100 1", "main@1010 g@3000 1"}));
}

TEST_F(ResolverTest, AtTheRootItCalls) {
    run(inside(resolve_, 0x9004, kJump), 61);
    run(g_starts_, 99);
    EXPECT_EQ(stack(), "resolve g");
}

// --- Skipped functions
// ----------------------------------------------------------------------------------------

TEST_F(CallTrackerTest, ASkippedFunctionsCallsAreItsCallers) {
    f_.skipped = true;
    run(main_calls_, 100);
    run(f_calls_, 99);
    EXPECT_EQ(stack(), "main [] main");
    EXPECT_EQ(execution_.charged_site, (CallSite{&blocks_.get(main_calls_, contexts_.of(main_)), 0}));
    run(g_returns_, 89);
    EXPECT_EQ(stack(), "main [] main g");
    EXPECT_FALSE(execution_.charged_site) << "g is charged itself";
    run(f_returns_, 90);
    EXPECT_EQ(stack(), "main [] main");
    EXPECT_TRUE(execution_.charged_site);
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
    EXPECT_FALSE(execution_.charged_site);
    EXPECT_EQ(arcs(), (Arcs{"main@1010 g@3010 1"}));
}

class StubTest : public CallTrackerTest {
protected:
    StubTest() {
        f_.skipped = true;
        run(main_calls_, 100);
        run(entry(f_, 0x2030, kJump), 99);
    }

    Block& lib_returns_ = entry(lib_, 0x9200, kReturn);
};

TEST_F(StubTest, WhatItJumpsToIsCalledByItsCaller) {
    EXPECT_TRUE(execution_.charged_site) << "the stub itself is not shown";
    run(lib_returns_, 99);
    EXPECT_EQ(stack(), "main lib");
    EXPECT_FALSE(execution_.charged_site);
    EXPECT_EQ(execution_.calls.back().return_address, main_on_.address);
    EXPECT_EQ(arcs(), (Arcs{"main@1010 lib@9200 1"}));
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
}

TEST_F(StubTest, OneReturnLeavesBothWhereTheStackPointerStays) {
    run(lib_returns_, 99);
    run(main_on_, 99);
    EXPECT_EQ(stack(), "main");
}

TEST_F(StubTest, ThatReturnsIsLeft) {
    run(f_returns_, 99);
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
    EXPECT_FALSE(execution_.charged_site);
    EXPECT_EQ(arcs(), Arcs{});
}

TEST_F(StubTest, ThatHasMovedTheStackPointerCallsLikeOthers) {
    run(lib_returns_, 95);
    EXPECT_EQ(stack(), "main [] main lib");
    run(main_on_, 100);
    EXPECT_EQ(stack(), "main");
    EXPECT_FALSE(execution_.charged_site);
}

TEST_F(StubTest, OfAResolverStaysOpen) {
    lib_.left_by_jump = true;
    run(lib_returns_, 99);
    EXPECT_EQ(stack(), "main [] main lib");
    run(main_on_, 99);
    EXPECT_EQ(stack(), "main");
}

TEST_F(StubTest, IsLeftWithAllOthers) {
    tracker_.leave_all(execution_);
    EXPECT_EQ(execution_.stub_return_address, 0u);
    EXPECT_FALSE(execution_.charged_site);
}

TEST_F(CallTrackerTest, SkippedFunctionsThatCallEachOtherAreChargedToTheSameCallSite) {
    f_.skipped = true;
    g_.skipped = true;
    run(main_calls_, 100);
    run(f_calls_, 99);
    const CallSite charged_site = execution_.charged_site;
    run(g_jumps_, 89);
    EXPECT_EQ(stack(), "main [] main [] main");
    EXPECT_EQ(execution_.charged_site, charged_site);
    run(h_starts_, 89);
    EXPECT_EQ(stack(), "main [] main [] main h");
    EXPECT_EQ(arcs(), (Arcs{"main@1010 h@4000 1"}));
}

TEST_F(CallTrackerTest, ASkippedRootIsChargedItself) {
    f_.skipped = true;
    run(f_calls_, 100);
    EXPECT_EQ(stack(), "f");
    EXPECT_FALSE(execution_.charged_site);
    run(g_starts_, 99);
    EXPECT_EQ(arcs(), (Arcs{"f@2000 g@3000 1"}));
}

// --- Signal handlers
// ------------------------------------------------------------------------------------------

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

// --- Inclusive costs and tree nodes
// ---------------------------------------------------------------------------

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
