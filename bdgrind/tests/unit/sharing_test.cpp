// SPDX-License-Identifier: GPL-2.0-or-later
//
// The lines that cores take from each other, and the objects in them.

#include "engine/sharing/sharing.h"

#include <gtest/gtest.h>

#include "objects_fixture.h"

namespace bd {
namespace {

CoherenceMark followed_write(Address address) {
    return {.transferred = true, .is_write = true, .is_followed = true, .bytes = 8, .address = address};
}

TEST(SharingTest, ALineHasTheObjectOfItsGroupThatWasAccessed) {
    Sharing sharing(6);
    sharing.add(followed_write(0x1008), 3, {0x1004, 20}, CostId{1});
    sharing.add(followed_write(0x1010), 3, {0x1004, 20}, CostId{2});
    sharing.add(followed_write(0x1020), 4, {0x1020, 32}, CostId{1});
    ASSERT_EQ(sharing.lines().size(), 2u);
    EXPECT_EQ(sharing.lines()[0].only_object(), Address{0x1004});
    EXPECT_EQ(sharing.lines()[0].objects, (std::vector<ObjectRange>{{0x1004, 20}}));
    EXPECT_EQ(sharing.lines()[1].only_object(), Address{0x1020});
    EXPECT_EQ(sharing.lines()[1].objects, (std::vector<ObjectRange>{{0x1020, 32}}));
}

TEST(SharingTest, OfSeveralObjectsOfAGroupItHasEachOnce) {
    Sharing sharing(6);
    for (const Address object : {0x1000, 0x1010, 0x1000}) {
        sharing.add(followed_write(object), 3, {object, 16}, CostId{1});
    }
    ASSERT_EQ(sharing.lines().size(), 1u);
    EXPECT_EQ(sharing.lines()[0].only_object(), Address{0});
    EXPECT_EQ(sharing.lines()[0].objects, (std::vector<ObjectRange>{{0x1000, 16}, {0x1010, 16}}));
}

TEST(SharingTest, BlocksOfSeveralSizesMayBeginAtTheSameByte) {
    Sharing sharing(6);
    for (const std::uint64_t bytes : {16, 24}) sharing.add(followed_write(0x1000), 3, {0x1000, bytes}, CostId{1});
    EXPECT_EQ(sharing.lines()[0].only_object(), Address{0x1000});
    EXPECT_EQ(sharing.lines()[0].objects, (std::vector<ObjectRange>{{0x1000, 16}, {0x1000, 24}}));
}

TEST(SharingTest, AnAccessBesideAllObjectsLeavesThemAsTheyAre) {
    Sharing sharing(6);
    sharing.add(followed_write(0x1000), 3, {0x1000, 16}, CostId{1});
    sharing.add(followed_write(0x1010), 3, {}, CostId{1});
    EXPECT_EQ(sharing.lines()[0].only_object(), Address{0});
    EXPECT_EQ(sharing.lines()[0].objects, (std::vector<ObjectRange>{{0x1000, 16}}));
}

TEST(SharingTest, OfMoreObjectsThanThereIsRoomForItHasNone) {
    Sharing sharing(6);
    for (Address begin = 0x1000; begin < 0x1000 + SharedLine::kMostObjects; ++begin) {
        sharing.add(followed_write(begin), 3, {begin, 1}, CostId{1});
    }
    EXPECT_EQ(sharing.lines()[0].objects.size(), SharedLine::kMostObjects);
    for (const Address begin : {0x1030, 0x1000}) {
        sharing.add(followed_write(begin), 3, {begin, 1}, CostId{1});
        EXPECT_TRUE(sharing.lines()[0].objects.empty());
        EXPECT_EQ(sharing.lines()[0].only_object(), Address{0});
    }
}

using ObjectBeginningsTest = test::ObjectsTest;

TEST_F(ObjectBeginningsTest, AByteBelongsToTheBlockAroundIt) {
    allocate(call_first_, 0x5008, 24);
    allocate(call_second_, 0x100000, 1 << 20);
    read(0x5008);
    Objects& objects = const_cast<Objects&>(*finished().objects());
    EXPECT_EQ(objects.object_at(0x5008), (ObjectRange{0x5008, 24}));
    EXPECT_EQ(objects.object_at(0x501f), (ObjectRange{0x5008, 24}));
    EXPECT_EQ(objects.object_at(0x5020), ObjectRange{});
    EXPECT_EQ(objects.object_at(0x5007), ObjectRange{});
    EXPECT_EQ(objects.object_at(0x123456), (ObjectRange{0x100000, 1 << 20}));
}

}  // namespace
}  // namespace bd
