// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/burst_schedule.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bd {
namespace {

using Phase = BurstSchedule::Phase;

// Where bursts counted: from the first of these blocks to before the second. Time goes on in steps.
struct Counted {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t warmed_from;
    std::uint64_t cooled_to;
};

std::vector<Counted> counted(const BurstRules& rules, std::uint64_t end, std::uint64_t step) {
    BurstSchedule schedule(rules);
    std::vector<Counted> bursts;
    for (std::uint64_t at = 0; at <= end; at += step) {
        while (schedule.go_on(at)) {
            switch (schedule.phase()) {
                case Phase::kWarming:
                    bursts.push_back({.begin = 0, .end = 0, .warmed_from = at, .cooled_to = 0});
                    break;
                case Phase::kCounting:
                    bursts.back().begin = at;
                    break;
                case Phase::kCooling:
                    bursts.back().end = at;
                    break;
                case Phase::kUnobserved:
                    bursts.back().cooled_to = at;
                    break;
            }
        }
    }
    while (!bursts.empty() && bursts.back().cooled_to == 0) bursts.pop_back();
    return bursts;
}

constexpr BurstRules kRules{.length = 1'000'000, .period = 20'000'000, .seed = 1};

TEST(BurstSchedule, EachPeriodHasOneBurstWithItsMargins) {
    const auto bursts = counted(kRules, 2'100'000'000, 1000);
    ASSERT_GE(bursts.size(), 104u);
    for (std::size_t i = 0; i < 104; ++i) {
        EXPECT_EQ(bursts[i].end - bursts[i].begin, kRules.length);
        EXPECT_EQ(bursts[i].cooled_to - bursts[i].end, 100'000u);
        // A burst may only be late because the one before was.
        EXPECT_GE(bursts[i].begin, i * kRules.period);
        EXPECT_LE(bursts[i].begin, (i + 1) * kRules.period + kRules.length + 400'000);
        if (bursts[i].warmed_from != 0) {
            EXPECT_GE(bursts[i].begin - bursts[i].warmed_from, 100'000u);
            EXPECT_LE(bursts[i].begin - bursts[i].warmed_from, 101'000u);
        }
        EXPECT_GE(bursts[i].warmed_from, i == 0 ? 0 : bursts[i - 1].cooled_to);
    }
}

// The same seed gives the same bursts, another one others.
TEST(BurstSchedule, TheSeedDecides) {
    const auto begins_of = [](std::uint64_t seed) {
        BurstRules rules = kRules;
        rules.seed = seed;
        std::vector<std::uint64_t> begins;
        for (const Counted& burst : counted(rules, 200'000'000, 1000)) begins.push_back(burst.begin);
        return begins;
    };
    EXPECT_EQ(begins_of(7), begins_of(7));
    EXPECT_NE(begins_of(7), begins_of(8));
    EXPECT_NE(begins_of(0), begins_of(1));
}

// Over many seeds, no tenth of a period is counted more often than another, not even at the program's start.
TEST(BurstSchedule, EveryBlockIsAsLikelyToBeCounted) {
    constexpr std::uint64_t kPeriods = 3;
    constexpr std::uint64_t kTenth = kRules.period / 10;
    std::vector<std::uint64_t> begun(10 * kPeriods);
    constexpr std::uint64_t kSeeds = 2000;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        BurstRules rules = kRules;
        rules.seed = seed;
        for (const Counted& burst : counted(rules, (kPeriods + 1) * kRules.period, 100'000)) {
            if (burst.begin < kPeriods * kRules.period) ++begun[burst.begin / kTenth];
        }
    }
    for (const std::uint64_t times : begun) {
        EXPECT_GT(times, kSeeds / 10 * 3 / 4);
        EXPECT_LT(times, kSeeds / 10 * 5 / 4);
    }
}

// Where nobody looks for longer than a burst, what has begun late is as long all the same.
TEST(BurstSchedule, LateLooksMakeBurstsLateOrLongButNotShort) {
    for (const Counted& burst : counted(kRules, 2'000'000'000, 3'000'000)) {
        EXPECT_GE(burst.end - burst.begin, kRules.length);
        EXPECT_GE(burst.begin - burst.warmed_from, burst.begin == 0 ? 0u : 100'000u);
    }
}

}  // namespace
}  // namespace bd
