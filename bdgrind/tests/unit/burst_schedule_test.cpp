// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/burst_schedule.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace bd {
namespace {

using Phase = BurstSchedule::Phase;

// Where bursts counted: from the first of these blocks to before the second. The first one is the start.
struct Counted {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t warmed_from;
    std::uint64_t cooled_to;
};

// Valgrind looks after each of these blocks.
std::vector<Counted> counted(const BurstRules& rules, const std::vector<std::uint64_t>& looks) {
    BurstSchedule schedule(rules);
    std::vector<Counted> bursts{{}};
    for (const std::uint64_t at : looks) {
        while (schedule.go_on(at)) {
            switch (schedule.phase()) {
                case Phase::kStart:
                    ADD_FAILURE() << "it does not start again";
                    break;
                case Phase::kWarming:
                    // It may follow at once.
                    if (bursts.back().cooled_to == 0) bursts.back().cooled_to = at;
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

std::vector<std::uint64_t> steps(std::uint64_t end, std::uint64_t step) {
    std::vector<std::uint64_t> looks;
    for (std::uint64_t at = step; at <= end; at += step) looks.push_back(at);
    return looks;
}

constexpr BurstRules kRules{.length = 1'000'000, .period = 20'000'000, .seed = 1};

TEST(BurstSchedule, TheStartCounts) {
    const auto bursts = counted(kRules, steps(100'000'000, 1000));
    ASSERT_FALSE(bursts.empty());
    EXPECT_EQ(bursts[0].begin, 0u);
    EXPECT_EQ(bursts[0].end, kRules.length);
    EXPECT_EQ(bursts[0].cooled_to, kRules.length + 100'000);
}

TEST(BurstSchedule, EachPeriodHasOneBurstWithItsMargins) {
    const auto bursts = counted(kRules, steps(2'100'000'000, 1000));
    ASSERT_GE(bursts.size(), 104u);
    for (std::size_t i = 1; i < bursts.size(); ++i) {
        EXPECT_LE(bursts[i].end - bursts[i].begin, kRules.length + 1000);
        EXPECT_EQ(bursts[i].cooled_to - bursts[i].end, 100'000u);
        EXPECT_GE(bursts[i].begin - bursts[i].warmed_from, 100'000u);
        EXPECT_LE(bursts[i].begin - bursts[i].warmed_from, 201'000u);
        EXPECT_GE(bursts[i].warmed_from, bursts[i - 1].cooled_to);
        if (i < 3) continue;
        EXPECT_LE(bursts[i].begin - bursts[i - 2].begin, 3 * kRules.period);
        EXPECT_GE(bursts[i].begin - bursts[i - 2].begin, kRules.period);
    }
}

// The same seed gives the same bursts, another one others.
TEST(BurstSchedule, TheSeedDecides) {
    const auto begins_of = [](std::uint64_t seed) {
        BurstRules rules = kRules;
        rules.seed = seed;
        std::vector<std::uint64_t> begins;
        for (const Counted& burst : counted(rules, steps(200'000'000, 1000))) begins.push_back(burst.begin);
        return begins;
    };
    EXPECT_EQ(begins_of(7), begins_of(7));
    EXPECT_NE(begins_of(7), begins_of(8));
    EXPECT_NE(begins_of(0), begins_of(1));
}

// Over many seeds, each piece of the run counts in one of ten runs, wherever it is and however long: long and short
// ones take turns. (Where two bursts meet, and right behind the start, the first margin does not count.)
TEST(BurstSchedule, EveryPieceIsAsLikelyToBeCounted) {
    std::vector<std::uint64_t> looks;
    for (std::uint64_t at = 0; at < 30'000'000;) {
        const bool has_system_calls = at / 3'000'000 % 2 != 0;
        looks.push_back(at += has_system_calls ? 7'000 : 100'000);
    }
    std::vector<double> times(looks.size());
    constexpr int kSeeds = 4000;
    for (int seed = 0; seed < kSeeds; ++seed) {
        const BurstRules rules{.length = 1'000'000, .period = 10'000'000, .seed = static_cast<std::uint64_t>(seed)};
        const auto bursts = counted(rules, looks);
        for (std::size_t i = 1; i < bursts.size(); ++i) {
            const auto first = std::ranges::upper_bound(looks, bursts[i].begin) - looks.begin();
            const auto last = std::ranges::upper_bound(looks, bursts[i].end) - looks.begin();
            for (auto at = first; at < last; ++at) ++times[static_cast<std::size_t>(at)];
        }
    }
    for (std::size_t i = 0; i < looks.size(); ++i) {
        if (looks[i] < 1'500'000 || looks[i] > 28'000'000) continue;
        EXPECT_NEAR(times[i], kSeeds / 10, kSeeds / 10 * 0.2) << looks[i];
    }
    // In the mean over each tenth of the run, chance matters less.
    for (std::uint64_t from = 3'000'000; from < 27'000'000; from += 3'000'000) {
        double sum = 0;
        double blocks = 0;
        for (std::size_t i = 1; i < looks.size(); ++i) {
            if (looks[i] <= from || looks[i] > from + 3'000'000) continue;
            sum += times[i] * static_cast<double>(looks[i] - looks[i - 1]);
            blocks += static_cast<double>(looks[i] - looks[i - 1]);
        }
        EXPECT_NEAR(sum / blocks, kSeeds / 10, kSeeds / 10 * 0.06) << from;
    }
}

// Where no look comes for longer than a burst, caches are warmed all the same, by the burst before if that is close.
TEST(BurstSchedule, LateLooksDoNotCountWhatIsCold) {
    const auto bursts = counted(kRules, steps(2'000'000'000, 3'000'000));
    for (std::size_t i = 1; i < bursts.size(); ++i) {
        EXPECT_GE(bursts[i].begin - bursts[i - 1].end, 100'000u);
        if (bursts[i].warmed_from != bursts[i - 1].cooled_to) {
            EXPECT_GE(bursts[i].begin - bursts[i].warmed_from, 100'000u);
        }
        EXPECT_GE(bursts[i].warmed_from, bursts[i - 1].cooled_to);
    }
}

}  // namespace
}  // namespace bd
