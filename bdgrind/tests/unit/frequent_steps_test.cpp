// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/frequent_steps.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace bd {
namespace {

TEST(FrequentSteps, AFewAreCountedExactlyTheMostFrequentFirst) {
    FrequentSteps steps;
    for (const std::int64_t step : {8, -16, 8, 24, 8, -16}) steps.add(step);
    EXPECT_EQ(steps.kept()[0].bytes, 8);
    EXPECT_EQ(steps.kept()[0].at_least(), 3u);
    EXPECT_EQ(steps.kept()[1].bytes, -16);
    EXPECT_EQ(steps.kept()[1].at_least(), 2u);
    EXPECT_EQ(steps.kept()[2].bytes, 24);
    EXPECT_EQ(steps.kept()[3].times, 0u);
}

TEST(FrequentSteps, OfThoseThatCameAsOftenTheFirstToDoSoLeads) {
    FrequentSteps steps;
    for (const std::int64_t step : {8, -16, -16, 8}) steps.add(step);
    EXPECT_EQ(steps.kept()[0].bytes, -16);
    EXPECT_EQ(steps.kept()[1].bytes, 8);
}

TEST(FrequentSteps, OfManyTheBoundsHoldAndTheFrequentAreKept) {
    for (std::uint32_t seed = 1; seed <= 50; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        FrequentSteps steps;
        std::map<std::int64_t, std::uint32_t> exact;
        std::uint32_t count = 0;
        for (; count < 3000; ++count) {
            const std::int64_t step = random() % 3 == 0 ? 64 * (1 + random() % 2) : static_cast<int>(random());
            steps.add(step);
            ++exact[step];
        }
        std::uint32_t last = count;
        for (const FrequentSteps::Step& kept : steps.kept()) {
            EXPECT_LE(kept.at_least(), exact[kept.bytes]);
            EXPECT_GE(kept.times, exact[kept.bytes]);
            EXPECT_LE(kept.times, last);
            last = kept.times;
        }
        // A number that comes more often than one in as many as are kept is among them.
        for (const auto& [bytes, times] : exact) {
            if (times <= count / FrequentSteps::kKept) continue;
            EXPECT_TRUE(std::ranges::any_of(steps.kept(), [&](const auto& kept) { return kept.bytes == bytes; }));
        }
    }
}

}  // namespace
}  // namespace bd
