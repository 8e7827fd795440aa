// SPDX-License-Identifier: GPL-2.0-or-later
//
// Short traces through the whole engine, with what they cost worked out by hand: blocks, what is collected, the end,
// and the numbers about the engine itself. What the parts do for themselves is tested with them.

#include "engine/replay/engine.h"

#include <memory>

#include <gtest/gtest.h>

#include "replay_fixture.h"

namespace bd {
namespace {

using test::Events;
using test::ReplayTest;
using test::Trace;
using test::events_of;
using test::kTinyD1;
using test::only;
using enum JumpKind;

// --- What a block costs

TEST_F(ReplayTest, InstructionsAndAccessesAreCountedUpToTheExitTaken) {
    Block& block =
        program_.code(main_, 0x5000).op().reads(8).may_exit().op().writes(4).op().modifies(2).ends();
    trace_.thread(1).run(block, 1000, {0x100, 0x100, 0x100}).run_to(block, 0, 1000, {0x100});
    replay({.caches = kTinyD1, .cache_sim = false});
    EXPECT_EQ(self(block, 0), (Events{{"Ir", 2}, {"Dr", 2}}));
    EXPECT_EQ(self(block, 1), (Events{{"Ir", 1}, {"Dw", 1}}));
    EXPECT_EQ(self(block, 2), (Events{{"Ir", 1}, {"Dw", 1}})) << "a modify is one access, a write";
}

TEST_F(ReplayTest, AGuardedAccessThatDidNotHappenIsNotCounted) {
    Block& block = program_.code(main_, 0x5000).op().may_read(8).op().may_write(8).op().reads(8).ends();
    for (const bool cache_sim : {false, true}) {
        trace_ = Trace();
        trace_.thread(1).run(block, 1000, {0, 0x100, 0x100}).run(block, 1000, {0, 0, 0x100});
        replay({.caches = kTinyD1, .cache_sim = cache_sim, .cache_use = false});
        EXPECT_EQ(self(block, 0)["Dr"], 0u);
        EXPECT_EQ(self(block, 1)["Dw"], 1u);
        EXPECT_EQ(self(block, 2)["Dr"], 2u);
        EXPECT_EQ(self(block, 1)["D1mw"], cache_sim ? 1u : 0u);
    }
}

TEST_F(ReplayTest, MissesAreChargedToTheInstructionThatHadThem) {
    Block& block =
        program_.code(main_, 0x5000).op().reads(8).op().reads(8).op().writes(8).op().modifies(8).ends();
    trace_.thread(1).run(block, 1000, {0x100, 0x100, 0x200, 0x100});
    replay({.caches = kTinyD1, .cache_use = false});
    EXPECT_EQ(self(block, 0),
              (Events{{"Ir", 1}, {"I1mr", 1}, {"ILmr", 1}, {"Dr", 1}, {"D1mr", 1}, {"DLmr", 1}}));
    EXPECT_EQ(self(block, 1), (Events{{"Ir", 1}, {"Dr", 1}}));
    EXPECT_EQ(self(block, 2), (Events{{"Ir", 1}, {"Dw", 1}, {"D1mw", 1}, {"DLmw", 1}}));
    EXPECT_EQ(self(block, 3), (Events{{"Ir", 1}, {"Dw", 1}, {"D1mw", 1}}));
}

TEST_F(ReplayTest, EveryInstructionThatFetchesALineIsAnAccessToIt) {
    // Four instructions of 4 bytes, the last across the border of the line that ends at 0x5040.
    Block& block = program_.code(main_, 0x5032).op(4).op(4).op(4).op(4).ends();
    trace_.thread(1).run(block, 1000).run(block, 1000).run(block, 1000);
    replay();
    EXPECT_EQ(self(block, 0), (Events{{"Ir", 3},
                                      {"I1mr", 1},
                                      {"ILmr", 1},
                                      {"AcCost1", 1000 / 12},
                                      {"SpLoss1", 64 - 14},
                                      {"EvLine1", 1},
                                      {"UsByte1", 14},
                                      {"Access1", 12},
                                      {"AcCost2", 1000 / 12},
                                      {"SpLoss2", 64 - 14},
                                      {"EvLine2", 1},
                                      {"UsByte2", 14},
                                      {"Access2", 12}}));
    EXPECT_EQ(self(block, 3), (Events{{"Ir", 3},
                                      {"I1mr", 1},
                                      {"ILmr", 1},
                                      {"AcCost1", 1000 / 3},
                                      {"SpLoss1", 62},
                                      {"EvLine1", 1},
                                      {"UsByte1", 2},
                                      {"Access1", 3},
                                      {"AcCost2", 1000 / 3},
                                      {"SpLoss2", 62},
                                      {"EvLine2", 1},
                                      {"UsByte2", 2},
                                      {"Access2", 3}}));
}

TEST_F(ReplayTest, ALineAccessedMoreThanAThousandTimesHasNoAccessCost) {
    trace_.thread(1);
    for (int i = 0; i < 1001; ++i) trace_.run(main_reads_, 1000, {0x100});
    replay();
    // Its own fetches are 1001 as well.
    EXPECT_EQ(only(self(main_reads_), "1"),
              (Events{{"SpLoss1", 56 + 60},
                      {"EvLine1", 2},
                      {"UsByte1", 8 + 4},
                      {"Access1", 2002},
                      {"SpLossD1", 56},
                      {"EvLineD1", 1},
                      {"UsByteD1", 8},
                      {"AccessD1", 1001}}));
}

TEST_F(ReplayTest, ALineAccessedAThousandTimesHasTheLeastAccessCost) {
    trace_.thread(1);
    for (int i = 0; i < 1000; ++i) trace_.run(main_reads_, 1000, {0x100});
    replay();
    EXPECT_EQ(self(main_reads_)["AcCostD1"], 1u);
    EXPECT_EQ(self(main_reads_)["AcCost1"], 2u) << "and as many fetches";
}

// LL has two sets of one line: code in the first, data and the other code in the second.
TEST_F(ReplayTest, MissesThatDriveOutWrittenLinesAreToldApart) {
    Block& writes = program_.code(main_, 0x100c).op().writes(8).ends(kJump);
    Block& other_code = program_.code(main_, 0x5040).op().ends(kJump);
    trace_.thread(1).run(writes, 1000, {0x40}).run(writes, 1000, {0xc0}).run(main_reads_, 1000, {0x40});
    trace_.run(main_reads_, 1000, {0xc0}).run(writes, 1000, {0x40}).run(other_code, 1000);
    for (const CacheGeometry& d1 : {CacheGeometry{64, 1, 64}, CacheGeometry{32, 1, 32}}) {
        engine_.reset();
        replay({.caches = {.i1 = {1024, 1, 64}, .d1 = d1, .ll = {128, 1, 64}}, .write_back = true});
        Events written = self(writes);
        EXPECT_EQ(written["DLmw"], 3u);
        EXPECT_EQ(written["DLdmw"], 1u) << "the second one";
        Events read = self(main_reads_);
        EXPECT_EQ(read["DLmr"], 2u);
        EXPECT_EQ(read["DLdmr"], 1u) << "the first one";
        EXPECT_EQ(only(self(other_code), "r"), (Events{{"Ir", 1}, {"I1mr", 1}, {"ILmr", 1}, {"ILdmr", 1}}));
    }
}

TEST_F(ReplayTest, StreamsArePrefetchedIfThatIsAllThatIsAskedFor) {
    trace_.thread(1);
    for (Address line = 100; line < 110; ++line) trace_.run(main_reads_, 1000, {64 * line});
    replay({.caches = kTinyD1, .callgrind_prefetcher = true});
    EXPECT_EQ(self(main_reads_)["D1mr"], 10u);
    EXPECT_EQ(self(main_reads_)["DLmr"], 7u) << "the third one has fetched the line of the eighth";
}

// LL is one set, so each instruction is fetched by itself; the third one is behind the exit, in another line.
TEST_F(ReplayTest, NothingIsFetchedBehindTheExitTaken) {
    Block& block = program_.code(main_, 0x5038).op().op().may_exit().op().ends();
    trace_.thread(1).run_to(block, 0, 1000, {});
    replay({.caches = {.i1 = {1024, 1, 64}, .d1 = {64, 1, 64}, .ll = {512, 8, 64}}});
    EXPECT_EQ(events_of(engine_->totals(0))["I1mr"], 1u);
}

// The line of code loses its place in LL while an instruction further on in the same block runs.
TEST_F(ReplayTest, FetchesOfABlockAreCreditedBeforeItsAccessesPushCodeOutOfLl) {
    Block& block = program_.code(main_, 0x5000).op().op().reads(8).op().ends();
    trace_.thread(1).run(block, 1000, {0x10000});  // code in I1; LL: data
    trace_.run(block, 1000, {0x20000});            // LL: code? no: data again
    replay({.caches = {.i1 = {1024, 1, 64}, .d1 = {64, 1, 64}, .ll = {64, 1, 64}}});
    // LL holds one line. The first run loads the code and, at the second instruction, drives it out: two
    // fetches so far. What the copy in I1 gathers after that is dropped.
    const Events loader = self(block, 0);
    EXPECT_EQ(loader.at("Access2"), 2u);
    EXPECT_EQ(loader.at("UsByte2"), 8u);
    EXPECT_EQ(loader.at("Access1"), 6u);
    EXPECT_EQ(loader.at("UsByte1"), 12u);
}

// As above, with all fetches hitting I1: the accesses run ahead of the fetches' credit then.
TEST_F(ReplayTest, FetchesThatHitAreCreditedUpToTheInstructionThatPushesTheirLineOut) {
    Block& block = program_.code(main_, 0x5000).op().op().may_read(8).op().ends();
    Block& same_line = program_.code(main_, 0x5010).op().ends();
    trace_.thread(1).run(same_line, 1000);
    trace_.run(block, 1000, {0x10000}).run(block, 1000, {0});
    replay({.caches = {.i1 = {1024, 1, 64}, .d1 = {64, 1, 64}, .ll = {64, 1, 64}}});
    // One fetch of the block that loaded the line, two of the other before its read.
    EXPECT_EQ(self(same_line).at("Access2"), 3u);
    EXPECT_EQ(self(same_line).at("UsByte2"), 12u);
    EXPECT_EQ(self(same_line).at("Access1"), 1u + 3 + 3);
    EXPECT_EQ(self(same_line).at("UsByte1"), 16u);
}

// --- Collecting

TEST_F(ReplayTest, LinesLoadedWhileCollectingAreChargedWhenTheyAreEvictedLater) {
    trace_.thread(1).run(main_calls_, 1000).run(f_reads_, 992, {0x100});
    trace_.collect(false).run(main_reads_, 1000, {0x200}).run(main_goes_on_, 1000);
    replay();
    EXPECT_EQ(below(main_, f_)["UsByte1"], 8u + 4);
    EXPECT_EQ(self(main_reads_), Events{});
    EXPECT_EQ(self(main_goes_on_), Events{});
}

TEST_F(ReplayTest, LinesLoadedWhileNotCollectingAreNotCharged) {
    trace_.thread(1).collect(false).run(main_calls_, 1000).run(f_reads_, 992, {0x100});
    trace_.collect(true).run(main_reads_, 1000, {0x104});  // another use of f's line
    replay();
    EXPECT_EQ(calls(main_, f_), 0u);
    EXPECT_EQ(self(f_reads_), Events{});
    // Its code is in main's line, which was not loaded now either.
    EXPECT_EQ(self(main_reads_), (Events{{"Ir", 1}, {"Dr", 1}}));
}

TEST_F(ReplayTest, ACallEnteredBeforeCollectingHasWhatIsCollectedInIt) {
    trace_.thread(1).collect(false).run(main_calls_, 1000);
    trace_.run(f_calls_, 992).collect(true).run(g_reads_, 984, {0x100}).run(main_goes_on_, 1000);
    replay();
    EXPECT_EQ(calls(main_, f_), 0u);
    EXPECT_EQ(calls(f_, g_), 1u);
    EXPECT_EQ(below(main_, f_)["Ir"], 1u);
    EXPECT_EQ(below(main_, f_)["D1mr"], 1u);
    EXPECT_EQ(below(main_, f_)["UsByte1"], 8u + 4);
}

// --- The end, and the numbers about the engine itself

TEST_F(ReplayTest, AnEmptyTraceCostsNothing) {
    replay();
    EXPECT_EQ(engine_->arcs().size(), 0u);
    EXPECT_EQ(engine_->stats().tree.made, 0u);
    EXPECT_EQ(engine_->stats().tree.most_live, 0u);
}

TEST_F(ReplayTest, StatsCountNodesCallsAndArcs) {
    trace_.thread(1);
    for (int i = 0; i < 5; ++i) trace_.run(main_calls_, 1000).run(f_returns_, 992);
    trace_.run(main_calls_, 1000).run(g_reads_, 992, {0x100});
    replay();
    const EngineStats stats = engine_->stats();
    EXPECT_EQ(stats.arcs, 2u);
    EXPECT_EQ(stats.calls, 6u);
    // The root, f for the line of its code, and g. The last four calls of f load nothing.
    EXPECT_EQ(stats.tree.made, 3u);
    EXPECT_EQ(stats.tree.most_live, 3u);
    EXPECT_EQ(stats.tree.live, 0u);
}

TEST_F(ReplayTest, AForkedChildCountsFromTheForkAndWhatItHasLoadedItself) {
    // Thread 2 is gone in the child. f is still open in thread 1, and line 0x100 still cached.
    Block& f_begins = program_.entry(f_, 0x2010).op().reads(8).ends(kJump);
    trace_.thread(2).run(main_reads_, 5000, {0x300}).thread(1).run(main_calls_, 1000).run(f_begins, 992, {0x100});
    engine_ = std::make_unique<Engine>(EngineConfig{.caches = kTinyD1});
    engine_->replay(trace_.all());
    engine_->start_in_child(1);
    EXPECT_EQ(events_of(engine_->totals(0)), Events{});

    // The child reads another line, which drives the parent's out of D1.
    trace_ = Trace();
    trace_.thread(1).run(f_calls_, 992).run(g_reads_, 984, {0x200});
    engine_->replay(trace_.all());
    engine_->finish();
    EXPECT_EQ(calls(main_, f_), 0u);
    EXPECT_EQ(calls(f_, g_), 1u);
    EXPECT_EQ(below(main_, f_)["Ir"], 2u);
    EXPECT_EQ(below(f_, g_)["EvLine1"], 2u) << "its code and 0x200";
    EXPECT_EQ(events_of(engine_->totals(0))["D1mr"], 1u);
    EXPECT_EQ(events_of(engine_->totals(0))["EvLine1"], 2u);
    EXPECT_EQ(events_of(engine_->totals(0))["EvLine2"], 2u);
}

TEST_F(ReplayTest, AForkedChildGoesOnInTheThreadThatForked) {
    trace_.thread(2).run(main_reads_, 5000, {0x300}).thread(1).run(main_calls_, 1000);
    engine_ = std::make_unique<Engine>(EngineConfig{.caches = kTinyD1});
    engine_->replay(trace_.all());
    engine_->start_in_child(1);
    trace_ = Trace();
    trace_.run(f_reads_, 992, {0x100});
    engine_->replay(trace_.all());
    engine_->finish();
    EXPECT_EQ(calls(main_, f_), 1u);
}

TEST_F(ReplayTest, ABlockOfNoThreadFailsACheck) {
    trace_.run(main_goes_on_, 1000);
    EXPECT_DEATH(replay(), "current");
}

TEST_F(ReplayTest, EventsFollowTheConfiguration) {
    const auto width = [](bool cache_sim, bool cache_use) {
        return EngineConfig{.caches = kTinyD1, .cache_sim = cache_sim, .cache_use = cache_use}
            .events()
            .width();
    };
    EXPECT_EQ(width(true, true), column(Event::kAccessDL) + 1);
    EXPECT_EQ(width(true, false), column(Event::kDLmw) + 1);
    EXPECT_EQ(width(false, true), column(Event::kDw) + 1);
    EXPECT_EQ(width(false, false), column(Event::kDw) + 1);
}

TEST_F(ReplayTest, WhatCostsTimeIsOffUnlessItIsAskedFor) {
    const EngineConfig config;
    EXPECT_FALSE(config.separate_threads || config.write_back || config.callgrind_prefetcher || config.branch_sim ||
                 config.collect_jumps || config.bus_events || config.system_calls || config.system_cpu_time ||
                 config.context_tree || config.objects);
    EXPECT_EQ(config.dump_every, 0u);
}

// Without caches there is nothing to do in advance.
TEST_F(ReplayTest, WithoutCachesNothingIsDoneAhead) {
    trace_.thread(1).run(main_calls_, 1000);
    Engine engine({.caches = kTinyD1, .cache_sim = false});
    engine.announce(trace_.all());
    EXPECT_FALSE(engine.advance());
    EXPECT_FALSE(engine.is_supplied());
}

// What an engine notes about exits would be mixed up with another's.
TEST_F(ReplayTest, TwoEnginesAtOnceOnTheSameBlocksFailACheck) {
    trace_.thread(1).run(main_calls_, 1000);
    Engine first({.caches = kTinyD1});
    first.replay(trace_.all());
    EXPECT_DEATH(replay(), "exit.cost");
}

// Sums of what blocks do are kept short for a while; no batch may be too long for that.
TEST_F(ReplayTest, ABatchMayBeOfAnyLength) {
    constexpr std::uint32_t kLong = 60000;
    constexpr std::uint64_t kTimes = 90000;
    auto code = program_.code(f_, 0x10000);
    for (std::uint32_t i = 0; i < kLong; ++i) code.op(1);
    Block& long_block = code.ends();
    trace_.thread(1).run(main_calls_, 1000);
    for (std::uint64_t i = 0; i < kTimes; ++i) trace_.run(long_block, 992);
    replay({.caches = kTinyD1, .cache_sim = false});
    EXPECT_EQ(below(main_, f_)["Ir"], kTimes * kLong);
    EXPECT_GT(kTimes * kLong, std::uint64_t{1} << 32);
}

}  // namespace
}  // namespace bd
