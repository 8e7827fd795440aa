// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/order_sampler.h"

#include <map>
#include <vector>

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

class OrderSamplerTest : public ::testing::Test {
protected:
    Program program;
    Function& f = program.function("f");
    Block& reads = program.code(f, 0x1000).op().reads(8).ends();
    Block& latch = program.code(f, 0x1004).op().ends();
    Trace trace;
};

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
    struct Case {
        Address address;
        std::uint32_t lines, pages;
    };
    for (const auto& [address, lines, pages] : {Case{0x10000, 0, 0}, Case{0x10038, 0, 0}, Case{0x10039, 1, 0},
                                                Case{0x10ff8, 0, 0}, Case{0x10ff9, 1, 1}, Case{0x1103c, 1, 0}}) {
        SCOPED_TRACE(address);
        Trace one;
        one.run(reads, kStack, {address});
        OrderSampler sampler(64, false, kAll);
        sampler.replay(one.all(), 0, true);
        EXPECT_EQ(find(sampler, reads)->straddle_line, lines);
        EXPECT_EQ(find(sampler, reads)->straddle_page, pages);
    }
}

TEST_F(OrderSamplerTest, AnAccessOfAGroupHasAnAddressOfItsOwn) {
    Block& group = program.code(f, 0x2000).op().reads(8).op().joins(8, AccessKind::kRead, 16).ends();
    trace.run(group, kStack, {0x10029});
    OrderSampler sampler(64, false, kAll);
    sampler.replay(trace.all(), 0, true);
    std::map<std::uint16_t, std::uint32_t> straddles;  // by instruction
    for (const OrderRow& row : sampler.table().rows()) {
        if (row.accesses != 0) straddles[sampler.table().site(row.site).instruction] = row.straddle_line;
    }
    EXPECT_EQ(straddles, (std::map<std::uint16_t, std::uint32_t>{{0, 0}, {1, 1}}));
}

TEST_F(OrderSamplerTest, TwoLoopsAroundTheInnermostOneAreSeen) {
    std::vector<const Block*> headers;
    for (Address i = 0; i < 3; ++i) headers.push_back(&program.code(f, 0xf00 + 16 * i).op().ends());
    trace.thread(1);
    for (int rounds = 0; rounds < 16; ++rounds) {
        for (std::size_t i = 0; i < 3; ++i) {
            // Each loop has two rounds.
            if (rounds % (4 >> i) == 0) trace.run(*headers[i], kStack);
        }
        for (Address i = 0; i < 3; ++i) trace.run(reads, kStack, {0x10000 + 8 * i});
    }
    OrderSampler sampler(64, false, kAll);
    sampler.replay(trace.all(), 0, true);
    for (std::uint32_t inner = 1; inner <= 2; ++inner) {
        const OrderRow* const around = find(sampler, reads, inner);
        ASSERT_NE(around, nullptr);
        EXPECT_EQ(&sampler.header(around->loop), headers[3 - inner]);
    }
    EXPECT_EQ(find(sampler, reads, 3), nullptr);
}

// What blocks say of their addresses.
class OrderFlowTest : public OrderSamplerTest {
protected:
    std::uint32_t count(Dependence dependence, std::uint16_t instruction) {
        OrderSampler sampler(64, false, kAll);
        sampler.replay(trace.all(), 0, true);
        std::uint32_t count = 0;
        for (const OrderRow& row : sampler.table().rows()) {
            if (row.accesses == 0 || sampler.table().site(row.site).instruction != instruction) continue;
            count += row.depends[static_cast<std::size_t>(dependence)];
        }
        return count;
    }
    DataflowBuilder flow;
};

TEST_F(OrderFlowTest, WhatABlockLeavesInARegisterIsFollowedToTheNext) {
    flow.start();
    flow.add_access(Value(Source::of_register(1)), false, nullptr);
    flow.put(1, Value(Source::of_access(0)));
    flow.put(2, Value());
    flow.add_exit();
    Block& follows = program.code(f, 0x2000).op().reads(8).flows(flow).ends();
    for (Address i = 0; i < 10; ++i) trace.run(follows, kStack, {0x10000 + 256 * i});
    EXPECT_EQ(count(Dependence::kUnknown, 0), 1u);
    EXPECT_EQ(count(Dependence::kChain, 0), 9u);
}

TEST_F(OrderFlowTest, AnInstructionThatOnlyWritesLoadsNothing) {
    for (const AccessKind kind : {AccessKind::kRead, AccessKind::kModify, AccessKind::kWrite}) {
        SCOPED_TRACE(static_cast<int>(kind));
        flow.start();
        flow.add_access(Value(Source::of_register(1)), false, nullptr);
        flow.add_access(Value(Source::of_access(0)), false, nullptr);
        flow.add_exit();
        Block& block = program.code(f, 0x2000 + 64 * static_cast<Address>(kind))
                           .op()
                           .access(8, kind, false)
                           .op()
                           .reads(8)
                           .flows(flow)
                           .ends();
        trace = {};
        for (Address i = 0; i < 10; ++i) trace.run(block, kStack, {0x10000 + 256 * i, 0x20000 + 256 * i});
        EXPECT_EQ(count(Dependence::kPointer, 1), kind == AccessKind::kWrite ? 0u : 9u);
        EXPECT_EQ(count(Dependence::kArithmetic, 1), kind == AccessKind::kWrite ? 9u : 0u);
    }
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
