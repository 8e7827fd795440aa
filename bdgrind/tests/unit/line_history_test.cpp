// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/why/line_history.h"

#include <gtest/gtest.h>

namespace bd {
namespace {

TEST(LineHistory, KnowsWhoLoadedALineAndWhoDroveItOut) {
    LineHistory history(2, 1000);
    history.load(0, kNoLine, CostId{1});  // line 7
    EXPECT_EQ(history.past(LineNumber{7}).loaded_by, kNoCost);
    history.load(0, LineNumber{7}, CostId{2});  // 8
    EXPECT_EQ(history.past(LineNumber{7}).loaded_by, CostId{1});
    EXPECT_EQ(history.past(LineNumber{7}).evicted_by, CostId{2});
    history.load(1, kNoLine, CostId{3});  // 7
    // As it was the last time, not the first.
    history.load(1, LineNumber{7}, CostId{4});  // 9
    EXPECT_EQ(history.past(LineNumber{7}).loaded_by, CostId{3});
    EXPECT_EQ(history.past(LineNumber{7}).evicted_by, CostId{4});
}

TEST(LineHistory, FollowsOneLineInEightOnceThereHaveBeenMany) {
    constexpr std::uint64_t kLineCount = 8000;
    LineHistory history(1, kLineCount);
    for (std::uint64_t i = 1; i <= kLineCount; ++i) {
        EXPECT_EQ(history.one_in(), 1u);
        EXPECT_TRUE(history.follows(LineNumber{i}));
        history.load(0, LineNumber{i}, CostId{static_cast<std::uint32_t>(i)});
        history.count();
    }
    EXPECT_EQ(history.one_in(), 8u);
    std::uint64_t followed = 0;
    std::uint64_t latest = 0;
    for (std::uint64_t i = 1; i <= kLineCount; ++i) {
        const LineNumber line{i};
        // What is followed keeps its history.
        const CostId by{static_cast<std::uint32_t>(i)};
        EXPECT_EQ(history.past(line).evicted_by, history.follows(line) ? by : kNoCost);
        history.load(0, line, CostId{1});
        EXPECT_EQ(history.past(line).evicted_by, history.follows(line) ? CostId{1} : kNoCost);
        if (!history.follows(line)) continue;
        ++followed;
        // Neighbours are not all followed, nor none of many.
        EXPECT_LE(i - latest, 21u);
        latest = i;
    }
    EXPECT_NEAR(static_cast<double>(followed), kLineCount / 8.0, 10);
}

}  // namespace
}  // namespace bd
