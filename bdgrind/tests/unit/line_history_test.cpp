// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/why/line_history.h"

#include <gtest/gtest.h>

namespace bd {
namespace {

TEST(LineHistory, KnowsWhoLoadedALineAndWhoDroveItOut) {
    LineHistory history(2);
    EXPECT_EQ(history.load(LineNumber{7}, 0, kNoLine, CostId{1}).loaded_by, kNoCost);
    history.load(LineNumber{8}, 0, LineNumber{7}, CostId{2});
    const LineHistory::Past past = history.load(LineNumber{7}, 1, kNoLine, CostId{3});
    EXPECT_EQ(past.loaded_by, CostId{1});
    EXPECT_EQ(past.driven_out_by, CostId{2});
    // As it was the last time, not the first.
    history.load(LineNumber{9}, 1, LineNumber{7}, CostId{4});
    const LineHistory::Past later = history.load(LineNumber{7}, 1, LineNumber{9}, CostId{5});
    EXPECT_EQ(later.loaded_by, CostId{3});
    EXPECT_EQ(later.driven_out_by, CostId{4});
}

}  // namespace
}  // namespace bd
