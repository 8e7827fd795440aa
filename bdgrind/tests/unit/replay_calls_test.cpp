// SPDX-License-Identifier: GPL-2.0-or-later
//
// Short traces through the whole engine, worked out by hand: which calls are charged. What the tool is for.

#include <gtest/gtest.h>

#include "replay_fixture.h"

namespace bd {
namespace {

using test::Events;
using test::ReplayTest;
using test::Trace;
using test::kTinyD1;
using test::only;
using enum JumpKind;

TEST_F(ReplayTest, ALineEvictedAfterItsCallHasReturnedIsChargedToThatCall) {
    trace_.thread(1);
    trace_.run(main_calls_, 1000).run(f_reads_, 992, {0x100});  // f loads a line
    trace_.run(main_calls_, 1000).run(g_reads_, 992, {0x200});  // g drives it out
    trace_.run(main_goes_on_, 1000);
    replay();
    const Events one_line{
        {"EvLine1", 2}, {"UsByte1", 8 + 4}, {"SpLoss1", 56 + 60}, {"Access1", 2}, {"AcCost1", 2000},
        {"EvLineD1", 1}, {"UsByteD1", 8}, {"SpLossD1", 56}, {"AccessD1", 1}, {"AcCostD1", 1000}};
    EXPECT_EQ(only(below(main_, f_), "1"), one_line) << "a line of data and one of code";
    EXPECT_EQ(only(below(main_, g_), "1"), one_line);
    EXPECT_EQ(only(self(f_reads_), "1"), one_line);
}

TEST_F(ReplayTest, EveryCallOnTheChainIsChargedOnce) {
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992).run(g_reads_, 984, {0x100});
    trace_.run(f_returns_, 992).run(main_reads_, 1000, {0x200});
    replay();
    EXPECT_EQ(below(main_, f_)["DLmr"], 1u);
    EXPECT_EQ(below(f_, g_)["DLmr"], 1u);
    EXPECT_EQ(below(f_, g_)["UsByte1"], 8u + 4);
    EXPECT_EQ(below(main_, f_)["UsByte1"], 8u + 4 + 8);  // f's own code besides
    EXPECT_EQ(self(f_calls_)["D1mr"], 0u);
    EXPECT_EQ(below(main_, f_)["Ir"], 3u);
    EXPECT_EQ(below(main_, g_), Events{});
}

TEST_F(ReplayTest, WithRecursionAnArcIsChargedForEachOfItsOpenCalls) {
    trace_.thread(1).run(main_calls_, 1000);
    for (const Address stack_pointer : {992, 984, 976}) trace_.run(f_calls_, stack_pointer);
    trace_.run(g_reads_, 968, {0x100}).run(main_reads_, 1000, {0x200});
    replay();
    EXPECT_EQ(calls(main_, f_), 1u);
    EXPECT_EQ(calls(f_, f_), 2u);
    EXPECT_EQ(below(main_, f_)["D1mr"], 1u);
    EXPECT_EQ(below(f_, f_)["D1mr"], 2u);
    EXPECT_EQ(below(f_, g_)["D1mr"], 1u);
    EXPECT_EQ(below(f_, f_)["Ir"], 3u + 2);
}

// The inner call runs in the same context as the outer one, and is left by a jump: all that tells is the stack pointer.
TEST_F(ReplayTest, AJumpOutOfARecursionLeavesTheInnerCall) {
    Block& body = program_.code(f_, 0x2010).op().reads(8).ends(kJump);
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992);
    for (const Address stack_pointer : {984, 984, 984, 984, 992, 992}) trace_.run(body, stack_pointer, {0x100});
    for (const bool cache_sim : {false, true}) {
        engine_.reset();
        replay({.caches = kTinyD1, .cache_sim = cache_sim});
        EXPECT_EQ(below(f_, f_)["Ir"], 4u);
        EXPECT_EQ(below(main_, f_)["Ir"], 1u + 6);
    }
}

// Coroutines that run the same function jump to each other: the lower stack is not that of the call from main.
TEST_F(ReplayTest, AJumpToALowerStackLeavesTheCallsThatAreOpenOnThisOne) {
    Block& body = program_.code(f_, 0x2010).op().ends(kJump);
    trace_.thread(1).run(main_calls_, 100'000).run(f_returns_, 99'992);
    for (const Address stack_pointer : {1000, 99'992, 99'992, 99'992, 900, 900, 900}) trace_.run(body, stack_pointer);
    replay({.caches = kTinyD1, .cache_sim = false});
    EXPECT_EQ(below(main_, f_)["Ir"], 1u + 3);
    EXPECT_EQ(self(body)["Ir"], 7u);
}

// g has run on a stack below, and main calls a stub on its own.
TEST_F(ReplayTest, AJumpOutOfAStubIsNoticedWhereThereIsAnotherStack) {
    Block& g_returns = program_.code(g_, 0x3010).op().ends(kReturn);
    Block& stub = program_.code(f_, 0x2010).op().ends(kJump);
    f_.skipped = true;
    trace_.thread(1).run(main_calls_, 100'000).run(handler_reads_, 99'992, {0x100}).run(g_returns, 1000);
    trace_.run(main_goes_on_, 100'000).run(main_calls_, 100'000).run(stub, 99'992).run(main_goes_on_, 100'000);
    replay({.caches = kTinyD1, .cache_sim = false});
    EXPECT_EQ(self(main_goes_on_)["Ir"], 2u);
    EXPECT_EQ(self(main_calls_)["Ir"], 2u + 1);
}

TEST_F(ReplayTest, CallsThatAreOpenAtTheEndHaveTheirCosts) {
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992).run(g_reads_, 984, {0x100});
    replay();
    EXPECT_EQ(below(main_, f_)["Ir"], 2u);
    EXPECT_EQ(below(main_, f_)["EvLine1"], 3u);
    EXPECT_EQ(below(f_, g_)["EvLine1"], 2u);
}

TEST_F(ReplayTest, SkippedCodeIsChargedToTheCallThatLedToIt) {
    f_.skipped = true;
    trace_.thread(1).run(main_calls_, 1000).run(f_reads_, 992, {0x100}).run(main_goes_on_, 1000);
    replay();
    EXPECT_EQ(calls(main_, f_), 0u);
    EXPECT_EQ(self(f_reads_), Events{});
    const Events caller = self(main_calls_);
    EXPECT_EQ(caller.at("Ir"), 2u);
    EXPECT_EQ(caller.at("Dr"), 1u);
    EXPECT_EQ(caller.at("D1mr"), 1u);
    EXPECT_EQ(caller.at("I1mr"), 2u);
    EXPECT_EQ(caller.at("EvLine1"), 3u);
}

TEST_F(ReplayTest, AGuardedAccessOfSkippedCodeIsTakenBackFromTheChargedCallSite) {
    g_.skipped = true;
    Block& block = program_.entry(g_, 0x5000).op().may_read(8).may_read(8).ends(kReturn);
    for (const bool cache_sim : {false, true}) {
        trace_ = Trace();
        trace_.thread(1).run(main_calls_, 1000).run(block, 992, {0, 0x100}).run(main_goes_on_, 1000);
        replay({.caches = kTinyD1, .cache_sim = cache_sim});
        EXPECT_EQ(self(main_calls_)["Dr"], 1u);
        EXPECT_EQ(self(block), Events{});
    }
}

}  // namespace
}  // namespace bd
