// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/line_sample.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace bd {
namespace {

TEST(LineSample, TheFirstLinesAreLookedAtOneByOne) {
    LineSample sample;
    for (std::uint32_t i = 0; i < LineSample::kLookedAtFirst; ++i) {
        EXPECT_TRUE(sample.will_take(1));
        EXPECT_TRUE(sample.will_take(9));
        ASSERT_TRUE(sample.take_next()) << i;
        ASSERT_EQ(sample.weight(), 1u) << i;
    }
}

// Whatever regular turns lines take: of each of 2 to 16 that follow each other again and again, about as many are seen
// as there are. (300,000 lines of a residue are 37,500 that are seen, with a deviation of less than 200.)
TEST(LineSample, OfTheOthersOneInEightOfWhatTakesTurns) {
    for (std::uint32_t period = 2; period <= 16; ++period) {
        LineSample sample;
        for (std::uint32_t i = 0; i < LineSample::kLookedAtFirst; ++i) sample.take_next();
        std::uint64_t seen[16]{};
        for (std::uint32_t i = 0; i < period * 300000; ++i) {
            if (sample.take_next()) seen[i % period] += sample.weight();
        }
        for (std::uint32_t turn = 0; turn < period; ++turn) {
            EXPECT_NEAR(static_cast<double>(seen[turn]), 300000, 8 * 1000) << turn << " of " << period;
        }
    }
}

TEST(LineSample, GapsAreOf1To15Lines) {
    LineSample sample;
    for (std::uint32_t i = 0; i < LineSample::kLookedAtFirst; ++i) sample.take_next();
    std::set<std::uint32_t> gaps;
    std::uint32_t gap = 0;
    for (std::uint32_t i = 0; i < 10000; ++i) {
        ++gap;
        if (!sample.take_next()) continue;
        gaps.insert(gap);
        gap = 0;
    }
    EXPECT_EQ(gaps.size(), 15u);
    EXPECT_EQ(*gaps.begin(), 1u);
    EXPECT_EQ(*gaps.rbegin(), 15u);
}

// It is right about the next two of those that it takes, and says of no other that it will be.
TEST(LineSample, ItSaysInTimeWhichLinesItWillTake) {
    for (const std::uint32_t ahead : {1u, 5u, 9u}) {
        LineSample sample;
        for (std::uint32_t i = 0; i < LineSample::kLookedAtFirst; ++i) sample.take_next();
        std::vector<bool> said;
        std::vector<bool> taken;
        for (std::uint32_t i = 0; i < 20000; ++i) {
            said.push_back(sample.will_take(ahead));
            taken.push_back(sample.take_next());
        }
        std::uint32_t unsaid = 0;
        for (std::size_t i = 0; i + ahead - 1 < said.size(); ++i) {
            const std::size_t at = i + ahead - 1;
            const auto before = std::count(taken.begin() + static_cast<std::ptrdiff_t>(i),
                                           taken.begin() + static_cast<std::ptrdiff_t>(at), true);
            if (before < 2) {
                ASSERT_EQ(said[i], taken[at]) << i << ", " << ahead << " ahead";
            } else {
                EXPECT_FALSE(said[i]);
                unsaid += taken[at] ? 1 : 0;
            }
        }
        EXPECT_LE(unsaid, 20000u / 8 / 8) << ahead;
    }
}

}  // namespace
}  // namespace bd
