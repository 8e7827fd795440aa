// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/group_ranges.h"

#include <string>

#include <gtest/gtest.h>

namespace bd {
namespace {

GroupRange range(Address begin, Address end, std::uint32_t group) {
    return {begin, end, GroupId{group}};
}

class GroupRangesTest : public testing::Test {
protected:
    void map(Address begin, Address end, std::uint32_t group) {
        const GroupRange added = range(begin, end, group);
        ranges_.remove(begin, end);
        ranges_.add({&added, 1});
    }
    // 0: nothing is known.
    std::uint32_t at(Address address) {
        const GroupRange* const found = ranges_.find(address);
        return found == nullptr ? 0 : static_cast<std::uint32_t>(found->group);
    }

    GroupRanges ranges_;
};

TEST_F(GroupRangesTest, WhatIsMappedIsFoundUpToItsEnd) {
    map(100, 200, 1);
    EXPECT_EQ(at(99), 0u);
    EXPECT_EQ(at(100), 1u);
    EXPECT_EQ(at(199), 1u);
    EXPECT_EQ(at(200), 0u);
}

TEST_F(GroupRangesTest, WhatIsMappedOverAnotherTakesItsMiddle) {
    map(100, 200, 1);
    map(120, 140, 2);
    EXPECT_EQ(at(119), 1u);
    EXPECT_EQ(at(120), 2u);
    EXPECT_EQ(at(140), 1u);
    map(90, 130, 3);
    EXPECT_EQ(at(100), 3u);
    EXPECT_EQ(at(130), 2u);
    map(0, 1000, 4);
    EXPECT_EQ(at(150), 4u);
}

TEST_F(GroupRangesTest, WhatIsUnmappedIsForgotten) {
    map(100, 200, 1);
    map(200, 300, 2);
    ranges_.remove(150, 250);
    EXPECT_EQ(at(149), 1u);
    EXPECT_EQ(at(150), 0u);
    EXPECT_EQ(at(249), 0u);
    EXPECT_EQ(at(250), 2u);
    ranges_.remove(50, 50);
    ranges_.remove(0, 1000);
    EXPECT_EQ(at(250), 0u);
}

TEST_F(GroupRangesTest, WhatEndsBesideWhatIsUnmappedStaysAsItIs) {
    map(100, 199, 1);
    map(300, 401, 2);
    map(500, 600, 3);
    ranges_.remove(200, 250);
    EXPECT_EQ(at(199), 0u);
    ranges_.remove(400, 500);
    EXPECT_EQ(at(399), 2u);
    EXPECT_EQ(at(400), 0u);
    EXPECT_EQ(at(500), 3u);
}

TEST_F(GroupRangesTest, PartsAreOfWhatHasAByteThere) {
    map(100, 200, 1);
    map(200, 300, 2);
    const auto parts = [this](Address begin, Address end) {
        std::string text;
        ranges_.for_each_part(begin, end, [&text](const GroupRange& each, Address from, Address to) {
            text += std::to_string(static_cast<std::uint32_t>(each.group)) + ":" + std::to_string(from) + "-" +
                    std::to_string(to) + " ";
        });
        return text;
    };
    EXPECT_EQ(parts(0, 100), "");
    EXPECT_EQ(parts(90, 101), "1:100-101 ");
    EXPECT_EQ(parts(199, 201), "1:199-200 2:200-201 ");
    EXPECT_EQ(parts(200, 300), "2:200-300 ");
    EXPECT_EQ(parts(300, 400), "");
}

TEST_F(GroupRangesTest, ManyMayBeMappedAtOnce) {
    map(100, 200, 1);
    map(300, 400, 2);
    const GroupRange added[]{range(200, 210, 3), range(210, 250, 4)};
    ranges_.add(added);
    EXPECT_EQ(at(199), 1u);
    EXPECT_EQ(at(205), 3u);
    EXPECT_EQ(at(210), 4u);
    EXPECT_EQ(at(250), 0u);
    EXPECT_EQ(at(300), 2u);
}

}  // namespace
}  // namespace bd
