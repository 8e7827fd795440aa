// SPDX-License-Identifier: GPL-2.0-or-later
//
// Placements of pages side by side: each must have the misses of a naive run of its own, which knows nothing of others.

#include "engine/cache/placements.h"

#include <array>
#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "engine_costs.h"
#include "naive_engine.h"
#include "profile/file_head.h"
#include "runs.h"
#include "scenario.h"
#include "text.h"

namespace bd {
namespace {

using test::Scenario;

constexpr std::array kEventsOfL2{Event::kI2mr, Event::kD2mr, Event::kD2mw};
constexpr std::array kEventsOfLL{Event::kILmr, Event::kDLmr, Event::kDLmw};

EngineConfig config_of(const Scenario& scenario, std::uint32_t placements) {
    return {.caches = scenario.caches,
            .contexts = {.skip_direct_recursion = scenario.skip_direct_recursion, .separate_callers = true},
            .callgrind_prefetcher = scenario.callgrind_prefetcher,
            .prefetchers = scenario.prefetchers,
            .l2_prefetchers = scenario.l2_prefetchers,
            .placements = placements};
}

// The misses of a placement, by event, and the same of a run of its own.
std::array<std::uint64_t, 6> misses_of(const Placements& placements, std::uint32_t placement) {
    const Placements::Misses& misses = placements.misses(placement);
    const auto& l2 = misses[Level::kL2];
    const auto& ll = misses[Level::kLL];
    if (!placements.has_l2()) return {0, 0, 0, ll[0], ll[1], ll[2]};
    return {l2[0], l2[1], l2[2], ll[0], ll[1], ll[2]};
}
std::array<std::uint64_t, 6> misses_of(const test::Counts& totals) {
    std::array<std::uint64_t, 6> misses{};
    for (std::size_t i = 0; i < 3; ++i) {
        misses[i] = totals[column(kEventsOfL2[i])];
        misses[3 + i] = totals[column(kEventsOfLL[i])];
    }
    return misses;
}

Scenario scenario_of(unsigned seed, std::mt19937& random) {
    Scenario scenario = test::random_scenario(seed);
    switch (random() % 3) {
        case 0:
            break;
        case 1:
            scenario = with_l2(scenario, seed);
            break;
        default:
            scenario = with_exclusive_ll(scenario, seed);
    }
    if (random() % 2 == 0) scenario = with_policies(scenario, seed);
    if (random() % 3 == 0) scenario = with_prefetchers(scenario, seed);
    scenario.caches.pages = {.frames = PageFrames::kRandom, .seed = random() % 1000};
    return scenario;
}

TEST(Placements, EachHasTheMissesOfARunOfItsOwn) {
#ifdef __SANITIZE_ADDRESS__
    constexpr unsigned kRuns = 60;
#else
    constexpr unsigned kRuns = 600;
#endif
    unsigned different = 0;
    for (unsigned seed = 0; seed < test::runs(kRuns) && !HasFailure(); ++seed) {
        std::mt19937 random(seed);
        Scenario scenario = scenario_of(seed, random);
        const auto number = static_cast<std::uint32_t>(2 + random() % 4);
        const test::BuiltScenario built(scenario);
        Engine engine(config_of(scenario, number));
        engine.replay_whole(built.trace().batch(0, scenario.records.size()));
        engine.finish();
        const Placements& placements = *engine.placements();
        ASSERT_EQ(placements.number(), number);
        for (std::uint32_t i = 0; i < number; ++i) {
            const test::Counts totals = run_naively(scenario, scenario.records.size()).totals;
            EXPECT_EQ(misses_of(placements, i), misses_of(totals)) << "seed " << seed << ", placement " << i;
            ++scenario.caches.pages.seed;
        }
        if (misses_of(placements, 0) != misses_of(placements, 1)) ++different;
    }
    EXPECT_GT(different, test::runs(kRuns) / 4);
}

TEST(Placements, WhatIsProfiledStaysAsItWas) {
    for (unsigned seed = 0; seed < test::runs(100) && !HasFailure(); ++seed) {
        std::mt19937 random(seed);
        const Scenario scenario = scenario_of(seed, random);
        const test::BuiltScenario built(scenario);
        std::array<test::RunCosts, 2> costs;
        for (const std::uint32_t number : {0u, 3u}) {
            Engine engine(config_of(scenario, number));
            EXPECT_EQ(engine.placements() == nullptr, number == 0);
            engine.replay_whole(built.trace().batch(0, scenario.records.size()));
            engine.finish();
            test::add_costs_of(engine, 0, costs[number != 0]);
            if (number == 0) continue;
            EXPECT_EQ(misses_of(*engine.placements(), 0), misses_of(costs[1].totals)) << "seed " << seed;
            engine.zero(0);
            for (std::uint32_t i = 0; i < number; ++i) {
                EXPECT_EQ(misses_of(*engine.placements(), i), (std::array<std::uint64_t, 6>{}));
            }
        }
        const EventSet events = config_of(scenario, 0).events();
        EXPECT_EQ(differences(costs[0], costs[1], events, false), "") << "seed " << seed;
    }
}

// Two pages of data in turn, and an LL of 64 sets of one way with lines of 64 bytes: all its sets are those within a
// page, so that the pages always collide. With 128 sets, it depends on the lowest bit of their frames.
TEST(Placements, PagesCollideOrNot) {
    CacheGeometries caches{.i1 = {1024, 2, 64}, .d1 = {1024, 2, 64}, .ll = {4096, 1, 64}};
    caches.pages.frames = PageFrames::kRandom;
    constexpr std::uint32_t kNumber = 32;
    constexpr unsigned kRounds = 10;
    const auto misses = [&] {
        Placements placements(caches, kNumber, {});
        for (unsigned round = 0; round < kRounds; ++round) {
            for (const Address page : {0x10'0000, 0x20'0000}) {
                placements.load(Reference::kData, page + 64, 8, 0);
                placements.end_access(1, Outcome::kLLMiss, true);
            }
        }
        placements.settle();
        std::array<std::uint64_t, kNumber> found{};
        for (std::uint32_t i = 0; i < kNumber; ++i) {
            found[i] = placements.misses(i)[Level::kLL][1];
        }
        return found;
    };
    for (const std::uint64_t found : misses()) EXPECT_EQ(found, 2 * kRounds);
    caches.ll.size_bytes = 8192;
    unsigned colliding = 0;
    const auto found = misses();
    for (std::uint32_t i = 1; i < kNumber; ++i) {
        if (found[i] == 2 * kRounds)
            ++colliding;
        else
            EXPECT_EQ(found[i], 2u);
    }
    EXPECT_GT(colliding, 5u);
    EXPECT_LT(colliding, 26u);
}

// As many as wait at a time are simulated in between, of accesses to two lines each as well.
TEST(Placements, AnyNumberOfAccessesMayWait) {
    CacheGeometries caches{.i1 = {1024, 2, 64}, .d1 = {1024, 2, 64}, .ll = {4096, 1, 64}};
    caches.pages.frames = PageFrames::kRandom;
    for (const unsigned lines : {1u, 2u, 3u}) {
        Placements placements(caches, 3, {});
        constexpr std::uint64_t kAccesses = 5'000;
        for (std::uint64_t i = 0; i < kAccesses; ++i) {
            for (unsigned line = 0; line < lines; ++line) {
                placements.load(Reference::kData, 64 * (lines * i + line), 8, 0);
            }
            placements.end_access(2, Outcome::kLLMiss, true);
        }
        placements.settle();
        for (std::uint32_t i = 0; i < 3; ++i) {
            EXPECT_EQ(misses_of(placements, i), (std::array<std::uint64_t, 6>{0, 0, 0, 0, 0, kAccesses}));
        }
    }
}

TEST(Placements, WhatIsNotCollectedIsNotCounted) {
    CacheGeometries caches{.i1 = {1024, 2, 64}, .d1 = {1024, 2, 64}, .ll = {4096, 1, 64}};
    caches.pages.frames = PageFrames::kRandom;
    Placements placements(caches, 2, {});
    placements.load(Reference::kFetch, 0x10'0000, 4, 0);
    placements.end_access(0, Outcome::kLLMiss, false);
    placements.load(Reference::kFetch, 0x10'0000, 4, 0);  // in LL since
    placements.end_access(0, Outcome::kL1Miss, true);
    placements.settle();
    EXPECT_EQ(misses_of(placements, 1), (std::array<std::uint64_t, 6>{}));
    placements.flush();
    placements.load(Reference::kFetch, 0x10'0000, 4, 0);
    placements.load(Reference::kFetch, 0x10'0040, 4, 0);  // one access to two lines
    placements.end_access(0, Outcome::kLLMiss, true);
    placements.settle();
    EXPECT_EQ(misses_of(placements, 1), (std::array<std::uint64_t, 6>{0, 0, 0, 1}));
}

// What D1 misses in a placement is in proportion to what moved stacks have missed.
TEST(Placements, D1MissesAreEstimated) {
    CacheGeometries caches{.i1 = {1024, 2, 64}, .d1 = {1024, 2, 64}, .ll = {4096, 1, 64}};
    caches.pages.frames = PageFrames::kRandom;
    Placements placements(caches, 3, {});
    const auto misses_of = [&](std::size_t kind) {
        std::array<std::uint64_t, 3> misses{};
        for (std::uint32_t i = 0; i < 3; ++i) misses[i] = placements.d1_misses(i, kind);
        return misses;
    };
    for (unsigned i = 0; i < 300; ++i) {
        placements.load(Reference::kData, 0x10'0000, 8, 0);
        placements.end_access(1, Outcome::kLLMiss, i >= 100);
    }
    placements.settle();
    EXPECT_EQ(misses_of(1), (std::array<std::uint64_t, 3>{200, 200, 200}));  // nothing is known of stacks
    placements.note_stacks({{30, 5}, {33, 5}, {24, 5}});
    placements.note_stacks({});
    placements.note_stacks({{10, 5}, {11, 5}, {12, 5}});
    EXPECT_EQ(misses_of(1), (std::array<std::uint64_t, 3>{200, 220, 180}));
    EXPECT_EQ(misses_of(2), (std::array<std::uint64_t, 3>{}));
    placements.clear_counts();
    EXPECT_EQ(misses_of(1), (std::array<std::uint64_t, 3>{}));
    for (unsigned i = 0; i < 100; ++i) {
        placements.load(Reference::kData, 0x10'0000, 8, 0);
        placements.end_access(1, Outcome::kL1Miss, true);
    }
    EXPECT_EQ(misses_of(1), (std::array<std::uint64_t, 3>{100, 110, 90}));
    // Now 1.2 times as many in all: 360 of which 220 were told before; and as many.
    placements.note_stacks({{40, 0}, {52, 0}, {44, 0}});
    EXPECT_EQ(misses_of(1), (std::array<std::uint64_t, 3>{100, 140, 120}));
    // Never fewer than none.
    placements.note_stacks({{80, 0}, {0, 0}, {0, 0}});
    EXPECT_EQ(misses_of(1), (std::array<std::uint64_t, 3>{100, 0, 0}));
}

// Prefetchers by stride look at instructions, in LL or in L2.
TEST(Placements, InstructionsAreFollowedForStrides) {
    CacheGeometries caches{
        .i1 = {1024, 2, 64}, .d1 = {1024, 2, 64}, .ll = {4096, 1, 64}, .l2 = {2048, 1, 64}};
    caches.pages.frames = PageFrames::kRandom;
    const auto follows = [&](bool in_ll, bool in_l2) {
        const NextLevelConfig config{.prefetchers = {.adjacent = true, .stride = in_ll},
                                     .l2_prefetchers = {.stream = true, .stride = in_l2}};
        return Placements(caches, 2, config).follows_instructions();
    };
    EXPECT_FALSE(follows(false, false));
    EXPECT_TRUE(follows(true, false));
    EXPECT_TRUE(follows(false, true));
    EXPECT_TRUE(follows(true, true));
}

TEST(Placements, AHeadHasALineForEachEvent) {
    CacheGeometries caches{.i1 = {1024, 2, 64}, .d1 = {1024, 2, 64}, .ll = {8192, 1, 64}};
    caches.pages = {.frames = PageFrames::kRandom, .seed = 7};
    Placements placements(caches, 3, {});
    placements.load(Reference::kData, 0x10'0000, 8, 0);
    placements.end_access(2, Outcome::kLLMiss, true);
    placements.settle();
    RunDescription run;
    run.placements = &placements;
    test::Text text;
    write_descriptions(text, run);
    EXPECT_EQ(text.finished(),
              "desc: Placements: 3, seeds 7 to 9\n"
              "desc: Placements of D1mr: 0 0 0\n"
              "desc: Placements of D1mw: 1 1 1\n"
              "desc: Placements of ILmr: 0 0 0\n"
              "desc: Placements of DLmr: 0 0 0\n"
              "desc: Placements of DLmw: 1 1 1\n");
}

}  // namespace
}  // namespace bd
