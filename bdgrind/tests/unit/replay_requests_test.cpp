// SPDX-License-Identifier: GPL-2.0-or-later
//
// Short traces through the whole engine, worked out by hand: what is asked for on the way.

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "replay_fixture.h"

namespace bd {
namespace {

using test::Events;
using test::ReplayTest;
using test::events_of;
using test::kTinyD1;
using test::only;
using enum JumpKind;

// Two threads do the same: a call that has returned, a jump within main, and a miss.
TEST_F(ReplayTest, AThreadIsZeroedAlone) {
    Block& main_jumps = program_.code(main_, 0x1010).op().ends(kJump);
    for (const Word id : {1, 2}) {
        trace_.thread(id).run(main_calls_, 1000 * id).run(f_returns_, 1000 * id - 8);
        trace_.run(main_jumps, 1000 * id).run(main_reads_, 1000 * id, {0x100 * id});
    }
    const EngineConfig config{.caches = kTinyD1, .separate_threads = true, .collect_jumps = true};
    const auto counts_of = [&](std::uint32_t thread) {
        Events counts = events_of(engine_->totals(thread));
        for (std::uint32_t id = 1; id <= engine_->arcs().size(); ++id) {
            if (engine_->arcs()[ArcId{id}].site.from->context->thread() != thread) continue;
            counts["calls"] += engine_->arcs()[ArcId{id}].calls;
            for (const std::uint64_t cost : engine_->arcs().costs(ArcId{id})) counts["inclusive"] += cost;
        }
        for (const Jump& jump : engine_->jumps()) {
            if (jump.site.from->context->thread() == thread) counts["jumps"] += jump.count;
        }
        std::erase_if(counts, [](const auto& each) { return each.second == 0; });
        return counts;
    };
    const auto replayed = [&] {
        engine_.reset();  // it knows the blocks
        engine_ = std::make_unique<Engine>(config);
        engine_->replay_whole(trace_.all());
        engine_->settle();
    };
    replayed();
    const Events first = counts_of(1);
    const Events second = counts_of(2);
    EXPECT_EQ(second.at("calls"), 1u);
    EXPECT_GT(second.at("inclusive"), 0u);
    EXPECT_GT(second.at("jumps"), 0u);
    EXPECT_EQ(second.at("Ir"), 4u);
    EXPECT_EQ(second.at("D1mr"), 1u);
    engine_->zero(2);
    EXPECT_EQ(counts_of(1), first);
    EXPECT_EQ(counts_of(2), Events{});
    replayed();
    engine_->zero(1);
    EXPECT_EQ(counts_of(1), Events{});
    EXPECT_EQ(counts_of(2), second);
    engine_->zero(0);
    EXPECT_EQ(counts_of(2), Events{});
}

TEST_F(ReplayTest, ASystemCallIsChargedToTheLastInstructionBeforeIt) {
    Block& f_asks = program_.entry(f_, 0x2010).op().op().ends(kJump);
    trace_.thread(1).mark(Marker::kSystemCall, 1, 1000, 100).run(main_calls_, 1000).run(f_asks, 992);
    trace_.mark(Marker::kSystemCall, 1, 70, 30).run(f_returns_, 992).run(main_goes_on_, 1000);
    replay({.caches = kTinyD1, .system_calls = true, .system_cpu_time = true});
    EXPECT_EQ(only(self(f_asks, 0), "Time"), Events{});
    EXPECT_EQ(self(f_asks, 1)["sysCount"], 1u);
    EXPECT_EQ(self(f_asks, 1)["sysTime"], 70u);
    EXPECT_EQ(self(f_asks, 1)["sysCpuTime"], 30u);
    EXPECT_EQ(below(main_, f_)["sysTime"], 70u);
    EXPECT_EQ(events_of(engine_->totals(0))["sysCount"], 1u) << "before its first instruction a thread has none";
}

// Only the outermost of recursive calls is one.
TEST_F(ReplayTest, ACallThatTogglesCollectingDoesSoOnce) {
    f_.triggers.toggle_collect = true;
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992).run(f_returns_, 984).run(f_returns_, 992);
    trace_.run(main_goes_on_, 1000).run(main_goes_on_, 1000);
    replay({.caches = kTinyD1, .cache_sim = false, .collect_at_start = false});
    EXPECT_EQ(events_of(engine_->totals(0)), (Events{{"Ir", 3}}));
    EXPECT_EQ(calls(f_, f_), 1u);
}

TEST_F(ReplayTest, ACallIsInThePartBehindTheDumpThatItAsksFor) {
    f_.triggers.dump_before = true;
    f_.triggers.dump_after = true;
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992).run(f_returns_, 984).run(f_returns_, 992);
    trace_.run(main_goes_on_, 1000);
    engine_ = std::make_unique<Engine>(EngineConfig{.cache_sim = false});
    Batch batch = trace_.all();
    const auto replay_to_dump = [&](RequestKind kind, std::uint64_t instructions, std::uint64_t calls_of_f) {
        batch = batch.subspan(engine_->replay(batch));
        ASSERT_EQ(engine_->requests().size(), 1u);
        EXPECT_EQ(engine_->requests()[0].kind, kind);
        EXPECT_EQ(engine_->requests()[0].function, &f_);
        engine_->clear_requests();
        engine_->settle();
        EXPECT_EQ(engine_->totals(0)[column(Event::kIr)], instructions);
        EXPECT_EQ(calls(main_, f_), calls_of_f);
    };
    replay_to_dump(RequestKind::kDumpBefore, 1, 0);
    replay_to_dump(RequestKind::kDumpAfter, 4, 1);
    engine_->replay_whole(batch);
    engine_->finish();
    EXPECT_EQ(calls(main_, f_), 1u);
    EXPECT_EQ(engine_->totals(0)[column(Event::kIr)], 5u);
    EXPECT_EQ(engine_->blocks_run(), 5u);
}

TEST_F(ReplayTest, ADumpIsAskedForAfterEachSoManyBlocks) {
    trace_.thread(1);
    for (int i = 0; i < 4; ++i) trace_.run(main_reads_, 1000, {0x100}).collect(true).run(main_goes_on_, 1000);
    for (const bool cache_sim : {false, true}) {
        engine_.reset();
        engine_ = std::make_unique<Engine>(EngineConfig{.caches = kTinyD1, .cache_sim = cache_sim, .dump_every = 3});
        std::vector<std::uint64_t> dumped_at;
        for (Batch batch = trace_.all(); !batch.empty(); engine_->clear_requests()) {
            batch = batch.subspan(engine_->replay(batch));
            for (const Request& request : engine_->requests()) {
                EXPECT_EQ(request.kind, RequestKind::kDumpEvery);
                EXPECT_EQ(request.function, nullptr);
                EXPECT_EQ(request.thread, 0u);
                dumped_at.push_back(engine_->blocks_run());
            }
        }
        EXPECT_EQ(dumped_at, (std::vector<std::uint64_t>{3, 6}));
        EXPECT_EQ(engine_->blocks_run(), 8u);
    }
}

// From reads to goes_on; from there it goes straight on.
TEST_F(ReplayTest, JumpsAreCountedWhateverElseIsAskedFor) {
    trace_.thread(1);
    for (int i = 0; i < 5; ++i) trace_.run(main_goes_on_, 1000).run(main_reads_, 1000, {0x100});
    constexpr CacheGeometries kShortLines{.i1 = {1024, 1, 32}, .d1 = {32, 1, 32}, .ll = {1024, 1, 32}};
    for (const EngineConfig& config : {EngineConfig{.caches = kTinyD1, .cache_sim = false, .collect_jumps = true},
                                       EngineConfig{.caches = kTinyD1, .collect_jumps = true},
                                       EngineConfig{.caches = kTinyD1, .cache_use = false, .collect_jumps = true},
                                       EngineConfig{.caches = kShortLines, .collect_jumps = true}}) {
        engine_.reset();
        replay(config);
        ASSERT_EQ(engine_->jumps().size(), 1u);
        EXPECT_EQ(engine_->jumps()[0].site.from->block, &main_reads_);
        EXPECT_EQ(engine_->jumps()[0].target, &main_goes_on_);
        EXPECT_EQ(engine_->jumps()[0].count, 4u);
    }
}

// main jumps down to where the stack of f was, which began with f: so f has been left.
TEST_F(ReplayTest, AJumpThatADumpInterruptsIsCounted) {
    Block& f_switches = program_.entry(f_, 0x2010).op().ends(kJump);
    f_.triggers.dump_after = true;
    trace_.thread(1).run(main_goes_on_, 100'000).run(f_switches, 50'000).run(main_reads_, 100'000, {0x100});
    trace_.run(main_goes_on_, 40'000);
    for (const bool cache_sim : {false, true}) {
        engine_.reset();
        engine_ = std::make_unique<Engine>(
            EngineConfig{.caches = kTinyD1, .cache_sim = cache_sim, .collect_jumps = true});
        const Batch rest = trace_.all().subspan(engine_->replay(trace_.all()));
        ASSERT_EQ(engine_->requests().size(), 1u);
        EXPECT_EQ(engine_->requests()[0].kind, RequestKind::kDumpAfter);
        engine_->clear_requests();
        EXPECT_TRUE(engine_->jumps().empty());
        engine_->replay_whole(rest);
        engine_->settle();
        ASSERT_EQ(engine_->jumps().size(), 1u);
        EXPECT_EQ(engine_->jumps()[0].site.from->block, &main_reads_);
        EXPECT_EQ(engine_->jumps()[0].target, &main_goes_on_);
        EXPECT_EQ(engine_->jumps()[0].count, 1u);
    }
}

TEST_F(ReplayTest, StacksAreThoseOfThreadsAndTheirHandlers) {
    trace_.thread(1).run(main_calls_, 1000).thread(3).run(f_calls_, 5000);
    trace_.mark(Marker::kSignalEnter, 3, 0, 4800).run(handler_reads_, 4700, {0x100});
    engine_ = std::make_unique<Engine>(EngineConfig{.caches = kTinyD1});
    engine_->replay(trace_.all());
    std::vector<std::pair<std::uint32_t, const Function*>> stacks;
    for (const Engine::Stack& stack : engine_->stacks()) {
        stacks.emplace_back(stack.thread, &stack.execution->context->function());
    }
    EXPECT_EQ(stacks, (decltype(stacks){{1, &main_}, {3, &f_}, {3, &handler_}}));
    EXPECT_EQ(engine_->threads(), std::vector<std::uint32_t>{0}) << "costs are not separate by thread";
}

TEST_F(ReplayTest, ThreadsAreOfThePlaceThatCreatedThem) {
    trace_.thread(1).run(main_calls_, 1000).mark(Marker::kThreadCreate, 1, 6).run(f_calls_, 992);
    for (const Word id : {2, 3, 5}) trace_.mark(Marker::kThreadCreate, 1, id);
    for (const Word id : {2, 3, 6}) trace_.thread(id).run(g_reads_, 1000 * id, {0x100});
    trace_.mark(Marker::kThreadEnd, 3).thread(5);  // which has not run yet
    // It is not known what created these.
    for (const Word id : {4, 7, 9}) trace_.thread(id).run(g_reads_, 1000 * id, {0x100});
    engine_ = std::make_unique<Engine>(EngineConfig{.caches = kTinyD1});
    engine_->replay_whole(trace_.all());
    const std::vector<ThreadOrigin> origins = engine_->thread_origins();
    ASSERT_EQ(origins.size(), 2u);
    for (const ThreadOrigin& origin : origins) {
        EXPECT_EQ(&origin.root->function(), &g_);
        ASSERT_FALSE(origin.creators.empty());
        EXPECT_EQ(&origin.creators.front()->function(), &main_);
        const bool from_f = &origin.creators.back()->function() == &f_;
        EXPECT_EQ(origin.creators.size(), from_f ? 2u : 1u);
        EXPECT_EQ(origin.threads, from_f ? 2u : 1u);
    }
}

}  // namespace
}  // namespace bd
