// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/line_sample.h"

#include <cstdint>
#include <set>

#include <gtest/gtest.h>

namespace bd {
namespace {

TEST(LineSample, TheFirstLinesAreLookedAtOneByOne) {
    LineSample sample;
    for (std::uint32_t i = 0; i < LineSample::kLookedAtFirst; ++i) {
        EXPECT_TRUE(sample.may_take_within(1));
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

TEST(LineSample, ItSaysInTimeWhetherALineMayBeLookedAt) {
    LineSample sample;
    for (std::uint32_t i = 0; i < LineSample::kLookedAtFirst; ++i) sample.take_next();
    std::set<std::uint32_t> gaps;
    std::uint32_t gap = 0;
    for (std::uint32_t i = 0; i < 10000; ++i) {
        const bool next = sample.may_take_within(1);
        const bool soon = sample.may_take_within(4);
        EXPECT_TRUE(!next || soon);
        ++gap;
        EXPECT_EQ(sample.take_next(), next);
        if (!next) continue;
        gaps.insert(gap);
        gap = 0;
    }
    EXPECT_EQ(gaps.size(), 15u);
    EXPECT_EQ(*gaps.begin(), 1u);
    EXPECT_EQ(*gaps.rbegin(), 15u);
}

}  // namespace
}  // namespace bd
