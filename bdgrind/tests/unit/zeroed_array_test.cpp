// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/base/zeroed_array.h"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

namespace bd {
namespace {

struct Item {
    std::uint64_t number;
    std::uint16_t more;
};

TEST(ZeroedArray, ElementsAreZeroAndKeepWhatIsWritten) {
    ZeroedArray<Item> items(1000);
    EXPECT_EQ(items.size(), 1000u);
    EXPECT_EQ(items.end() - items.begin(), 1000);
    EXPECT_TRUE(
        std::all_of(items.begin(), items.end(), [](const Item& i) { return i.number == 0 && i.more == 0; }));
    items[999] = {7, 8};
    EXPECT_EQ(items[999].number, 7u);
    EXPECT_EQ(items[998].number, 0u);
}

TEST(ZeroedArray, AnEmptyOneIsFine) {
    ZeroedArray<Item> items(0);
    EXPECT_EQ(items.size(), 0u);
    EXPECT_EQ(items.begin(), items.end());
}

}  // namespace
}  // namespace bd
