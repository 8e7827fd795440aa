// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/order_sampler.h"

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "program.h"

namespace bd::test {
namespace {

constexpr Address kStack = 0x7000;
constexpr OrderSampling kAll{.whole = 1u << 30, .piece = 16, .first_period = 32, .first_periods_until = 1};

const OrderRow* find(const OrderSampler& sampler, const Block& block, std::uint32_t inner = 0,
                     std::uint32_t access = 0, std::uint32_t thread = 0) {
    for (const OrderRow& row : sampler.table().rows()) {
        if (row.site == kNoSite || row.accesses == 0) continue;
        const OrderSite& site = sampler.table().site(row.site);
        if (site.block->address == block.address && site.access == access && row.inner == inner &&
            row.thread == thread && (row.loop != kNoLoop || inner == 0)) {
            return &row;
        }
    }
    return nullptr;
}

TEST(OrderRow, TheSiteThatMostlyLoadedLeads) {
    OrderRow row;
    const auto lead = [&row](std::uint32_t site) {
        row.depend({Dependence::kIndex, SiteId{site}});
        return row.leads[static_cast<std::size_t>(Dependence::kIndex)];
    };
    EXPECT_EQ(lead(1).site, SiteId{1});
    EXPECT_EQ(lead(1).votes, 2u);
    EXPECT_EQ(lead(2).site, SiteId{1});
    EXPECT_EQ(lead(2).votes, 0u);
    EXPECT_EQ(lead(2).site, SiteId{2});
    EXPECT_EQ(lead(2).votes, 2u);
    EXPECT_EQ(row.depends[static_cast<std::size_t>(Dependence::kIndex)], 6u);
    EXPECT_EQ(row.leads[static_cast<std::size_t>(Dependence::kPointer)].votes, 0u);
}

class OrderSamplerTest : public ::testing::Test {
protected:
    Program program;
    Function& f = program.function("f");
    Block& reads = program.code(f, 0x1000).op().reads(8).ends();
    Block& latch = program.code(f, 0x1004).op().ends();
    Trace trace;
};

TEST_F(OrderSamplerTest, TheTableClearsTheCountsOfAThread) {
    for (const std::uint32_t cleared : {0u, 1u, 2u}) {
        OrderTable table;
        const SiteId site = table.sites(reads)[0];
        for (const std::uint32_t thread : {1u, 2u}) table.row({site, kNoLoop, thread, 0}).accesses = 10 * thread;
        table.clear_counts(cleared);
        for (const std::uint32_t thread : {1u, 2u}) {
            const bool is_kept = cleared != 0 && cleared != thread;
            EXPECT_EQ(table.row({site, kNoLoop, thread, 0}).accesses, is_kept ? 10 * thread : 0u);
        }
    }
}

TEST_F(OrderSamplerTest, CountsStepsByInstructionAndLoop) {
    trace.thread(1);
    for (Address i = 0; i < 100; ++i) trace.run(reads, kStack, {0x10000 + 256 * i});
    OrderSampler sampler(64, false, kAll);
    sampler.replay(trace.all(), 0, true);
    EXPECT_EQ(sampler.accesses(), 100u);
    // Of the first round it is not known that it is one.
    ASSERT_EQ(sampler.table().rows().size(), 3u);
    EXPECT_EQ(sampler.table().rows()[1].loop, kNoLoop);
    EXPECT_EQ(sampler.table().rows()[1].accesses, 1u);
    const OrderRow& row = sampler.table().rows()[2];
    EXPECT_EQ(row.accesses, 99u);
    EXPECT_EQ(row.steps.counts().forward, 98u);
    EXPECT_EQ(row.steps.counts().runs, 1u);
    EXPECT_EQ(row.steps.counts().frequent.kept()[0].bytes, 256);
    EXPECT_EQ(&sampler.header(row.loop), &reads);
}

TEST_F(OrderSamplerTest, ALoopAroundSeesTheFirstAddressOfEachRunOfTheInnerOne) {
    Block& outer = program.code(f, 0xff0).op().ends();
    trace.thread(1);
    for (Address j = 0; j < 10; ++j) {
        trace.run(outer, kStack);
        for (Address i = 0; i < 5; ++i) trace.run(reads, kStack, {0x10000 + 8 * j + 4096 * i});
        trace.run(latch, kStack);
    }
    OrderSampler sampler(64, false, kAll);
    sampler.replay(trace.all(), 0, true);
    const OrderRow* const around = find(sampler, reads, 1);
    ASSERT_NE(around, nullptr);
    EXPECT_EQ(&sampler.header(around->loop), &outer);
    EXPECT_GE(around->accesses, 8u);
    EXPECT_EQ(around->steps.counts().near, around->accesses - 1);
    EXPECT_EQ(around->steps.counts().frequent.kept()[0].bytes, 8);
}

TEST_F(OrderSamplerTest, CountsWhatStraddlesLinesAndPages) {
    trace.thread(1);
    for (const Address address : {0x10000, 0x10038, 0x10039, 0x10ff8, 0x10ff9, 0x1103c}) {
        trace.run(reads, kStack, {address});
    }
    OrderSampler sampler(64, false, kAll);
    sampler.replay(trace.all(), 0, true);
    std::uint32_t lines = 0;
    std::uint32_t pages = 0;
    for (const OrderRow& row : sampler.table().rows()) {
        lines += row.straddle_line;
        pages += row.straddle_page;
    }
    EXPECT_EQ(lines, 3u);
    EXPECT_EQ(pages, 1u);
}

TEST_F(OrderSamplerTest, AnInstructionsAccessesAreApartAndBlocksThatShareItTogether) {
    Block& copies = program.code(f, 0x2000).op().reads(8).writes(8).ends();
    Block& longer = program.code(f, 0x1ffc).op().op().reads(8).writes(8).ends();
    trace.thread(1);
    for (Address i = 0; i < 8; ++i) {
        trace.run(i % 2 == 0 ? copies : longer, kStack, {0x10000 + 8 * i, 0x20000 - 128 * i});
    }
    OrderSampler sampler(64, false, kAll);
    sampler.replay(trace.all(), 0, true);
    const OrderRow* const read = find(sampler, copies, 0, 0);
    const OrderRow* const write = find(sampler, copies, 0, 1);
    ASSERT_TRUE(read != nullptr && write != nullptr);
    EXPECT_NE(read->site, write->site);
    std::uint32_t accesses = 0;
    for (const OrderRow& row : sampler.table().rows()) {
        if (row.site == read->site && row.inner == 0) accesses += row.accesses;
    }
    EXPECT_EQ(accesses, 8u);
}

TEST_F(OrderSamplerTest, AGuardedAccessThatDidNotHappenIsNone) {
    Block& may = program.code(f, 0x3000).op().may_read(8).ends();
    trace.thread(1);
    for (const Address address : {0x10000, 0, 0x10008, 0, 0}) trace.run(may, kStack, {address});
    OrderSampler sampler(64, false, kAll);
    sampler.replay(trace.all(), 0, true);
    EXPECT_EQ(sampler.accesses(), 2u);
}

TEST_F(OrderSamplerTest, AThreadThatTakesOverBeginsAnew) {
    for (Address i = 0; i < 10; ++i) {
        trace.thread(1 + i % 2);
        trace.run(reads, kStack, {0x10000 + 8 * i});
        trace.run(reads, kStack, {0x20000 + 8 * i});
    }
    OrderSampler sampler(64, true, kAll);
    sampler.replay(trace.all(), 0, true);
    for (std::uint32_t thread = 1; thread <= 2; ++thread) {
        const OrderRow* const row = find(sampler, reads, 0, 0, thread);
        ASSERT_NE(row, nullptr);
        EXPECT_EQ(row->steps.counts().near, 0u);
    }
}

// A trace that is long enough for some pieces, and a sampler that takes a part of it.
class OrderPiecesTest : public OrderSamplerTest {
protected:
    static constexpr OrderSampling kPieces{
        .whole = 300, .piece = 90, .first_period = 300, .first_periods_until = 3000};
    OrderPiecesTest() {
        trace.thread(1);
        for (Address i = 0; i < 20000; ++i) trace.run(reads, kStack, {0x10000 + 8 * i});
    }
};

TEST_F(OrderPiecesTest, TheBeginningIsSeenWholeAndTheRestInPart) {
    OrderSampler sampler(64, false, kPieces);
    sampler.replay(trace.batch(0, 101), 0, true);
    EXPECT_EQ(sampler.accesses(), 99u);  // with the marker, the last record begins behind `whole`
    sampler.replay(trace.batch(101, 1001), 0, true);
    EXPECT_NEAR(static_cast<double>(sampler.accesses()), 100 + 9 * 30, 12);
    // 4 times as long from 3000 words on, 16 times from 48,000 on.
    sampler.replay(trace.batch(1001, 16001), 0, true);
    EXPECT_NEAR(static_cast<double>(sampler.accesses()), 100 + 9 * 30 + 37.5 * 30, 40);
    sampler.replay(trace.batch(16001, trace.records()), 0, true);
    EXPECT_NEAR(static_cast<double>(sampler.accesses()), 100 + 9 * 30 + 37.5 * 30 + 2.5 * 30, 60);
}

TEST_F(OrderPiecesTest, BatchesMakeNoDifference) {
    OrderSampling sampling = kPieces;
    sampling.probe_period = 700;
    sampling.short_piece = 40;
    sampling.few = 5000;
    OrderSampler whole(64, false, sampling);
    whole.replay(trace.all(), 0, true);
    OrderSampler parts(64, false, sampling);
    for (std::size_t first = 0; first < trace.records();) {
        const std::size_t end = std::min(trace.records(), first + 1 + first % 117);
        parts.replay(trace.batch(first, end), first == 0 ? 0 : 1, true);
        first = end;
    }
    EXPECT_EQ(parts.accesses(), whole.accesses());
    ASSERT_EQ(parts.table().rows().size(), whole.table().rows().size());
    for (std::size_t i = 0; i < whole.table().rows().size(); ++i) {
        EXPECT_EQ(parts.table().rows()[i].accesses, whole.table().rows()[i].accesses);
        EXPECT_EQ(parts.table().rows()[i].steps.counts().near, whole.table().rows()[i].steps.counts().near);
    }
}

TEST_F(OrderPiecesTest, NoStepLeadsFromOnePieceToTheNext) {
    OrderSampler sampler(64, false, kPieces);
    sampler.replay(trace.all(), 0, true);
    std::uint64_t accesses = 0;
    std::uint64_t near = 0;
    for (const OrderRow& row : sampler.table().rows()) {
        accesses += row.accesses;
        near += row.steps.counts().near;
        EXPECT_EQ(row.steps.counts().forward + row.steps.counts().far, 0u);
    }
    EXPECT_GT(near, accesses * 9 / 10);
    EXPECT_LT(near, accesses);
}

// Code that runs between two pieces only.
class OrderProbesTest : public OrderSamplerTest {
protected:
    static constexpr OrderSampling kProbes{.whole = 300,
                                           .piece = 90,
                                           .first_period = 1u << 20,
                                           .first_periods_until = 1u << 30,
                                           .probe_period = 200,
                                           .short_piece = 60,
                                           .few = 50,
                                           .most_short = 8};
    OrderProbesTest() {
        trace.thread(1);
        for (Address i = 0; i < 1000; ++i) trace.run(reads, kStack, {0x10000 + 8 * i});
        for (Address i = 0; i < 400; ++i) trace.run(rare, kStack, {0x90000 + 128 * i});
        for (Address i = 0; i < 1000; ++i) trace.run(reads, kStack, {0x10000 + 8 * i});
    }
    Block& rare = program.code(f, 0x2000).op().reads(8).ends();
};

TEST_F(OrderProbesTest, CodeOfWhichLittleHasBeenSeenIsLookedAt) {
    OrderSampler sampler(64, false, kProbes);
    sampler.replay(trace.all(), 0, true);
    // Three pieces of 20 records: then 50 have been seen.
    const OrderRow* row = find(sampler, rare);
    ASSERT_NE(row, nullptr);
    std::uint64_t accesses = 0;
    for (const OrderRow& one : sampler.table().rows()) {
        if (one.site == row->site) accesses += one.accesses;
    }
    EXPECT_EQ(accesses, 60u);
    EXPECT_EQ(sampler.accesses(), 99u + 60u);  // with the marker, the last record begins behind `whole`
}

TEST_F(OrderProbesTest, AShareOfTheRunIsNotExceeded) {
    OrderSampling sampling = kProbes;
    sampling.few = 1u << 20;
    OrderSampler sampler(64, false, sampling);
    sampler.replay(trace.all(), 0, true);
    EXPECT_GT(sampler.accesses(), 100u + 7200 / 8 / 3 - 40);
    EXPECT_LE(sampler.accesses(), 100u + 7200 / 8 / 3);
}

TEST_F(OrderProbesTest, StepsDoNotGoOnBehindAShortPiece) {
    OrderSampler sampler(64, false, kProbes);
    sampler.replay(trace.all(), 0, true);
    std::uint64_t far = 0;
    std::uint64_t forward = 0;
    for (const OrderRow& row : sampler.table().rows()) {
        far += row.steps.counts().far;
        forward += row.steps.counts().forward;
    }
    EXPECT_EQ(far, 0u);
    EXPECT_NEAR(static_cast<double>(forward), 57, 3);
}

class OrderEngineTest : public OrderSamplerTest {
protected:
    OrderEngineTest() {
        config.caches = {{32768, 8, 64}, {32768, 8, 64}, {1 << 20, 16, 64}};
        config.orders = true;
        config.order_sampling = kAll;
    }
    std::uint64_t accesses(const Engine& engine) const { return engine.orders()->accesses(); }
    EngineConfig config;
};

TEST_F(OrderEngineTest, WhatIsNotCollectedIsNotSeen) {
    Engine engine(config);
    trace.thread(1).collect(false);
    for (Address i = 0; i < 10; ++i) trace.run(reads, kStack, {0x10000 + 8 * i});
    engine.replay_whole(trace.all());
    EXPECT_EQ(accesses(engine), 0u);
    Trace more;
    more.collect(true);
    engine.replay_whole(more.all());
    Trace seen;
    for (Address i = 0; i < 10; ++i) seen.run(reads, kStack, {0x10000 + 8 * i});
    engine.replay_whole(seen.all());
    EXPECT_EQ(accesses(engine), 10u);
}

TEST_F(OrderEngineTest, ZeroingForgetsWhatWasCounted) {
    Engine engine(config);
    trace.thread(1);
    for (Address i = 0; i < 10; ++i) trace.run(reads, kStack, {0x10000 + 8 * i});
    engine.replay_whole(trace.all());
    EXPECT_EQ(accesses(engine), 10u);
    engine.zero(0);
    EXPECT_EQ(accesses(engine), 0u);
    EXPECT_EQ(find(*engine.orders(), reads), nullptr);
}

TEST_F(OrderEngineTest, IsThereOnlyIfAskedFor) {
    config.orders = false;
    EXPECT_EQ(Engine(config).orders(), nullptr);
}

}  // namespace
}  // namespace bd::test
