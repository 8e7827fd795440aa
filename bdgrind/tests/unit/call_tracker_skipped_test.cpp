// SPDX-License-Identifier: GPL-2.0-or-later
//
// Code that is no function of its own in a profile: the dynamic linker's resolver, stubs, what is left out by name.

#include "engine/calls/call_tracker.h"

#include "call_fixture.h"

namespace bd {
namespace {

using test::CallTrackerTest;
using test::kCall;
using test::kJump;
using test::kReturn;

// --- The dynamic linker's resolver

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

}  // namespace
}  // namespace bd
