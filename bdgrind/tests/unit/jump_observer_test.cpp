// SPDX-License-Identifier: GPL-2.0-or-later
//
// Short traces: which jumps within functions are counted, and when.

#include "engine/replay/jump_observer.h"

#include <memory>
#include <tuple>

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "program.h"

namespace bd {
namespace {

using test::Program;
using test::Trace;
using enum JumpKind;

// With and without caches, and with and without predictions of branches.
class JumpObserverTest : public testing::TestWithParam<std::tuple<bool, bool>> {
protected:
    void start(EngineConfig config = {}) {
        config.caches = {.i1 = {4096, 1, 64}, .d1 = {4096, 1, 64}, .ll = {65536, 4, 64}};
        config.cache_sim = std::get<0>(GetParam());
        config.branch_sim = std::get<1>(GetParam());
        config.collect_jumps = true;
        engine_ = std::make_unique<Engine>(config);
    }
    void replay(EngineConfig config = {}) {
        start(config);
        engine_->replay_whole(trace_.all());
        engine_->finish();
    }

    // From an exit to a block.
    std::uint64_t jumps(const Exit& exit, Block& target) const {
        std::uint64_t count = 0;
        for (const Jump& jump : engine_->jumps()) {
            if (jump.site.from->block == exit.block && jump.site.exit == exit.index && jump.target == &target) {
                count += jump.count;
            }
        }
        return count;
    }
    std::uint64_t all_jumps() const {
        std::uint64_t count = 0;
        for (const Jump& jump : engine_->jumps()) count += jump.count;
        return count;
    }

    Program program_;
    const Function& main_ = program_.function("main");
    const Function& f_ = program_.function("f");
    Trace trace_;
    std::unique_ptr<Engine> engine_;
};

INSTANTIATE_TEST_SUITE_P(WithAndWithout, JumpObserverTest, testing::Combine(testing::Bool(), testing::Bool()));

// A loop with a way out; a block that goes straight on is no jump.
TEST_P(JumpObserverTest, JumpsAreCountedByExitAndTarget) {
    Block& loop = program_.code(main_, 0x1000).op().may_exit(kJump, Branch::kTaken).op().ends();
    Block& straight_on = program_.code(main_, 0x1008).op().ends();
    Block& out = program_.code(main_, 0x1100).op().ends();
    trace_.thread(1).run(loop, 1000).run(loop, 1000).run(loop, 1000).run(straight_on, 1000);
    trace_.run(loop, 1000).run_to(loop, 0, 1000, {}).run(out, 1000);
    replay();
    EXPECT_EQ(jumps(loop.exits()[1], loop), 3u);
    EXPECT_EQ(jumps(loop.exits()[0], out), 1u);
    EXPECT_EQ(jumps(straight_on.exits()[0], loop), 1u);
    EXPECT_EQ(all_jumps(), 5u);
}

TEST_P(JumpObserverTest, CallsReturnsAndTailCallsAreNoJumps) {
    Block& calls = program_.code(main_, 0x1000).op().ends(kCall);
    Block& goes_on = program_.code(main_, 0x1004).op().ends(kJump);
    Block& jumps_away = program_.entry(f_, 0x2000).op().ends(kJump);
    Block& tail = program_.entry(program_.function("g"), 0x3000).op().ends(kReturn);
    trace_.thread(1).run(calls, 1000).run(jumps_away, 992).run(tail, 992).run(goes_on, 1000);
    replay();
    EXPECT_EQ(all_jumps(), 0u);
}

// A longjmp leaves calls; a handler starts and ends; another stack is another place.
TEST_P(JumpObserverTest, WhatLeavesACallOrAStackIsNoJump) {
    Block& calls = program_.code(main_, 0x1000).op().ends(kCall);
    Block& lands = program_.code(main_, 0x1100).op().ends(kJump);
    Block& long_jump = program_.entry(f_, 0x2000).op().ends(kJump);
    trace_.thread(1).run(calls, 1000).run(long_jump, 992).run(lands, 1000);
    trace_.mark(Marker::kSignalEnter, 1, 0, 900).run(long_jump, 800).run(lands, 1000);
    replay();
    EXPECT_EQ(all_jumps(), 0u);
}

TEST_P(JumpObserverTest, JumpsOfOthersAndJumpsNotCollectedAreNotCounted) {
    Block& loop = program_.code(main_, 0x1000).op().ends();
    trace_.thread(1).run(loop, 1000).collect(false).run(loop, 1000).collect(true).run(loop, 1000);
    trace_.thread(2).run(loop, 5000).thread(1).run(loop, 1000);
    replay();
    EXPECT_EQ(jumps(loop.exits()[0], loop), 2u);
    EXPECT_EQ(all_jumps(), 2u);
}

TEST_P(JumpObserverTest, ZeroingForgetsJumps) {
    Block& loop = program_.code(main_, 0x1000).op().ends();
    trace_.thread(1).run(loop, 1000).run(loop, 1000).mark(Marker::kZero, 1).run(loop, 1000);
    for (const bool separate_threads : {false, true}) {
        replay({.separate_threads = separate_threads});
        EXPECT_EQ(all_jumps(), 1u);
    }
}

// As in an interpreter: each target in turn, and again.
TEST_P(JumpObserverTest, AComputedJumpIsCountedForEachOfItsTargets) {
    Block& jumps_away = program_.code(main_, 0x1000).op().ends(kJump, Branch::kIndirect);
    Block& here = program_.code(main_, 0x1100).op().ends();
    Block& there = program_.code(main_, 0x1200).op().ends();
    Block& straight_on = program_.code(main_, 0x1004).op().ends();
    trace_.thread(1);
    for (Block* target : {&here, &here, &there, &straight_on, &there, &here, &here, &here}) {
        trace_.run(jumps_away, 1000).run(*target, 1000);
    }
    replay();
    EXPECT_EQ(jumps(jumps_away.exits()[0], here), 5u);
    EXPECT_EQ(jumps(jumps_away.exits()[0], there), 2u);
    EXPECT_EQ(jumps(jumps_away.exits()[0], straight_on), 0u);
    EXPECT_EQ(jumps(here.exits()[0], jumps_away), 4u) << "the last one ends the run";
    EXPECT_EQ(jumps(straight_on.exits()[0], jumps_away), 1u);
}

// An exit is counted once more than its jump if the run ends there, or if it leads to another function at last.
TEST_P(JumpObserverTest, WhatLeadsElsewhereLaterIsNoJump) {
    Block& loop = program_.entry(f_, 0x2000).op().ends(kJump, Branch::kIndirect);
    Block& body = program_.code(f_, 0x2100).op().ends(kJump);
    Block& tail = program_.entry(program_.function("g"), 0x3000).op().ends(kReturn);
    Block& calls = program_.code(main_, 0x1000).op().ends(kCall);
    Block& goes_on = program_.code(main_, 0x1004).op().ends(kJump);
    trace_.thread(1).run(calls, 1000).run(loop, 992);
    for (int i = 0; i < 3; ++i) trace_.run(body, 992).run(body, 992).run(body, 992);
    trace_.run(tail, 992).run(goes_on, 1000).run(goes_on, 1000).run(goes_on, 1000);
    trace_.mark(Marker::kThreadEnd, 1).thread(2).run(goes_on, 5000).run(goes_on, 5000);
    replay();
    EXPECT_EQ(jumps(loop.exits()[0], body), 1u);
    EXPECT_EQ(jumps(body.exits()[0], body), 8u);
    EXPECT_EQ(jumps(goes_on.exits()[0], goes_on), 3u);
    EXPECT_EQ(all_jumps(), 12u);
}

// What a thread jumps from before another one runs, or a handler, which may not return.
TEST_P(JumpObserverTest, AJumpIsCountedOnceItIsMade) {
    Block& loop = program_.code(main_, 0x1000).op().ends();
    Block& handler = program_.entry(f_, 0x2000).op().ends(kJump);
    trace_.thread(1).run(loop, 1000).run(loop, 1000).thread(2).run(loop, 5000).run(loop, 5000).run(loop, 5000);
    trace_.thread(1).run(loop, 1000);  // 4 so far
    trace_.mark(Marker::kSignalEnter, 1, 0, 900).run(handler, 800).mark(Marker::kSignalLeave, 1).run(loop, 1000);  // 5
    trace_.mark(Marker::kSignalEnter, 1, 0, 900).run(handler, 800).run(loop, 1000).run(loop, 1000);  // 6
    trace_.thread(2).run(loop, 5000);  // 7
    replay();
    EXPECT_EQ(jumps(loop.exits()[0], loop), 7u);
    EXPECT_EQ(all_jumps(), 7u);
}

// Each part has what was made in it. What is looked at in between changes nothing.
TEST_P(JumpObserverTest, AJumpBelongsToThePartInWhichItIsMade) {
    Block& loop = program_.code(main_, 0x1000).op().ends();
    Block& out = program_.code(main_, 0x1100).op().ends();
    for (const bool goes_on : {false, true}) {
        trace_ = {};
        trace_.thread(1).run(loop, 1000).run(loop, 1000).run(loop, 1000);
        const std::size_t half = trace_.all().size();
        trace_.run(goes_on ? loop : out, 1000).run(out, 1000);
        start();
        engine_->replay_whole(trace_.all().first(half));
        engine_->settle();
        EXPECT_EQ(all_jumps(), 2u);
        engine_->settle();
        EXPECT_EQ(all_jumps(), 2u);
        engine_->zero(0);
        EXPECT_EQ(all_jumps(), 0u);
        engine_->replay_whole(trace_.all().subspan(half));
        engine_->finish();
        EXPECT_EQ(jumps(loop.exits()[0], loop), goes_on ? 1u : 0u);
        EXPECT_EQ(jumps(loop.exits()[0], out), 1u);
        EXPECT_EQ(jumps(out.exits()[0], out), goes_on ? 0u : 1u);
    }
}

// The same code in two contexts, in turn.
TEST_P(JumpObserverTest, JumpsAreCountedByContext) {
    Block& loop = program_.code(main_, 0x1000).op().ends();
    trace_.thread(1).run(loop, 1000).run(loop, 1000).thread(2).run(loop, 5000).run(loop, 5000).run(loop, 5000);
    trace_.thread(1).run(loop, 1000).run(loop, 1000).run(loop, 1000).thread(2).run(loop, 5000);
    replay({.separate_threads = true});
    ASSERT_EQ(engine_->jumps().size(), 2u);
    EXPECT_EQ(engine_->jumps()[0].count, 4u);
    EXPECT_EQ(engine_->jumps()[1].count, 3u);
}

// In whatever way collecting starts and stops.
TEST_P(JumpObserverTest, AJumpIsCountedIfItsTargetIsCollected) {
    Block& loop = program_.code(main_, 0x1000).op().ends();
    trace_.thread(1).run(loop, 1000).run(loop, 1000).mark(Marker::kToggleCollect, 1).run(loop, 1000);
    trace_.run(loop, 1000).mark(Marker::kToggleCollect, 1).mark(Marker::kToggleCollect, 1).run(loop, 1000);
    trace_.mark(Marker::kToggleCollect, 1).run(loop, 1000).run(loop, 1000);
    trace_.mark(Marker::kToggleCollect, 1).mark(Marker::kToggleCollect, 1).run(loop, 1000);
    replay();
    EXPECT_EQ(all_jumps(), 4u);
}

}  // namespace
}  // namespace bd
