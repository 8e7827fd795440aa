// SPDX-License-Identifier: GPL-2.0-or-later
//
// Short traces through the whole engine, worked out by hand: threads and signal handlers.

#include <gtest/gtest.h>

#include "replay_fixture.h"

namespace bd {
namespace {

using test::ReplayTest;
using enum JumpKind;

TEST_F(ReplayTest, EachThreadHasItsOwnCalls) {
    trace_.thread(1).run(main_calls_, 1000);
    trace_.thread(2).run(main_calls_, 5000);
    trace_.thread(1).run(f_calls_, 992);
    trace_.thread(2).run(g_reads_, 4992, {0x100});
    trace_.thread(1).run(g_reads_, 984, {0x200});
    replay();
    EXPECT_EQ(calls(main_, f_), 1u);
    EXPECT_EQ(calls(main_, g_), 1u);
    EXPECT_EQ(calls(f_, g_), 1u);
    EXPECT_EQ(below(main_, f_)["Ir"], 2u);
    EXPECT_EQ(below(main_, g_)["D1mr"], 1u);
    EXPECT_EQ(below(main_, f_)["D1mr"], 1u);
}

TEST_F(ReplayTest, AThreadThatHasEndedIsStillChargedForItsLines) {
    trace_.thread(1).run(main_calls_, 1000);
    trace_.thread(2).run(main_calls_, 5000).run(f_reads_, 4992, {0x100}).mark(Marker::kThreadEnd, 2);
    trace_.thread(1).run(g_reads_, 992, {0x200});
    replay();
    EXPECT_EQ(below(main_, f_)["UsByte1"], 8u + 4);
    EXPECT_EQ(below(main_, f_)["Ir"], 1u);
}

TEST_F(ReplayTest, AThreadNumberIsUsedAgainFromScratch) {
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992).mark(Marker::kThreadEnd, 1);
    trace_.thread(1).run(g_reads_, 900, {0x100});
    replay();
    EXPECT_EQ(calls(f_, g_), 0u);
    EXPECT_EQ(below(main_, f_)["Ir"], 1u);
}

TEST_F(ReplayTest, AHandlerIsNoCallOfWhatItInterrupts) {
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992);  // about to call g
    trace_.mark(Marker::kSignalEnter, 1, 0, 800)
        .run(handler_reads_, 700, {0x100})
        .mark(Marker::kSignalLeave, 1);
    trace_.run(g_reads_, 984, {0x200}).run(main_goes_on_, 1000);
    replay();
    EXPECT_EQ(self(handler_reads_)["D1mr"], 1u);
    EXPECT_EQ(below(main_, f_)["Ir"], 2u);
    EXPECT_EQ(below(main_, f_)["D1mr"], 1u);
    EXPECT_EQ(calls(f_, g_), 1u) << "the interrupted call still happens";
    EXPECT_EQ(calls(f_, handler_), 0u);
}

TEST_F(ReplayTest, AHandlerHasCallsOfItsOwn) {
    Block& handler_calls = program_.entry(handler_, 0x4010).op().ends(kCall);
    trace_.thread(1).run(main_calls_, 1000);
    trace_.mark(Marker::kSignalEnter, 1, 0, 800).run(handler_calls, 700).run(g_reads_, 692, {0x100});
    trace_.mark(Marker::kSignalLeave, 1).run(f_reads_, 992, {0x200});
    replay();
    EXPECT_EQ(calls(handler_, g_), 1u);
    EXPECT_EQ(below(handler_, g_)["D1mr"], 1u);
    EXPECT_EQ(below(main_, f_)["D1mr"], 1u);
}

// siglongjmp out of a handler that interrupted deep calls.
TEST_F(ReplayTest, AJumpOutOfAHandlerLeavesItAndTheCallsJumpedOver) {
    Block& handler_jumps = program_.entry(handler_, 0x4010).op().ends(kJump);
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992).run(f_calls_, 984).run(f_calls_, 976);
    trace_.mark(Marker::kSignalEnter, 1, 0, 900).run(handler_jumps, 800);
    trace_.run(main_goes_on_, 1000).run(main_calls_, 1000).run(g_reads_, 992, {0x100});
    replay();
    EXPECT_EQ(calls(main_, g_), 1u);
    EXPECT_EQ(calls(f_, f_), 2u);
    EXPECT_EQ(calls(f_, g_), 0u) << "the call that was interrupted never happened";
    EXPECT_EQ(below(main_, f_)["Ir"], 3u);
}

TEST_F(ReplayTest, AJumpOutOfAHandlerOnAnAlternateStackIsNoticedThoughTheStackIsLower) {
    Block& handler_jumps = program_.entry(handler_, 0x4010).op().ends(kJump);
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992);
    trace_.mark(Marker::kSignalEnter, 1, 5000, 6000).run(handler_jumps, 5900);
    trace_.run(f_returns_, 980).run(main_reads_, 1000, {0x100});
    replay();
    EXPECT_EQ(calls(main_, f_), 1u);
    EXPECT_EQ(calls(f_, g_), 0u);
    EXPECT_EQ(below(main_, f_)["Ir"], 2u);
    EXPECT_EQ(self(handler_jumps)["Ir"], 1u);
}

TEST_F(ReplayTest, AHandlerMayInterruptAnother) {
    Block& outer = program_.entry(handler_, 0x4010).op().ends(kCall);
    trace_.thread(1).run(main_calls_, 1000);
    trace_.mark(Marker::kSignalEnter, 1, 0, 900).run(outer, 800);                     // about to call f
    trace_.mark(Marker::kSignalEnter, 1, 0, 700)
        .run(handler_reads_, 600, {0x100})
        .mark(Marker::kSignalLeave, 1);
    trace_.run(f_reads_, 792, {0x200}).mark(Marker::kSignalLeave, 1);
    trace_.run(g_reads_, 992, {0x300});
    replay();
    EXPECT_EQ(calls(handler_, f_), 1u);
    EXPECT_EQ(calls(main_, g_), 1u);
    EXPECT_EQ(below(handler_, f_)["D1mr"], 1u);
    EXPECT_EQ(self(handler_reads_)["D1mr"], 1u);
}

TEST_F(ReplayTest, AJumpMayLeaveSeveralHandlersAtOnce) {
    Block& jumps = program_.entry(handler_, 0x4010).op().ends(kJump);
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992);
    trace_.mark(Marker::kSignalEnter, 1, 0, 900).run(jumps, 800);
    trace_.mark(Marker::kSignalEnter, 1, 5000, 6000).run(jumps, 5900);
    trace_.run(main_calls_, 1000).run(g_reads_, 992, {0x100});
    replay();
    EXPECT_EQ(calls(main_, g_), 1u);
}

TEST_F(ReplayTest, ReturningFromAHandlerThatWasLeftByAJumpChangesNothing) {
    Block& jumps = program_.entry(handler_, 0x4010).op().ends(kJump);
    trace_.thread(1).run(main_calls_, 1000);
    trace_.mark(Marker::kSignalEnter, 1, 0, 900).run(jumps, 800).run(main_goes_on_, 1000);
    trace_.mark(Marker::kSignalLeave, 1).run(main_calls_, 1000).run(g_reads_, 992, {0x100});
    replay();
    EXPECT_EQ(calls(main_, g_), 1u);
}

TEST_F(ReplayTest, ASignalMayComeBeforeAThreadsFirstBlock) {
    trace_.thread(1).mark(Marker::kSignalEnter, 1, 0, 900).run(handler_reads_, 800, {0x100});
    trace_.mark(Marker::kSignalLeave, 1).run(main_calls_, 1000).run(f_reads_, 992, {0x200});
    replay();
    EXPECT_EQ(calls(main_, f_), 1u);
    EXPECT_EQ(self(handler_reads_)["D1mr"], 1u);
}

}  // namespace
}  // namespace bd
