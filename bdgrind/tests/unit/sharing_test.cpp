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
    sharing.add(followed_write(0x1008), 3, 0x1004, CostId{1});
    sharing.add(followed_write(0x1010), 3, 0x1004, CostId{2});
    sharing.add(followed_write(0x1020), 4, 0x1020, CostId{1});
    ASSERT_EQ(sharing.lines().size(), 2u);
    EXPECT_EQ(sharing.lines()[0].object, Address{0x1004});
    EXPECT_EQ(sharing.lines()[1].object, Address{0x1020});
}

TEST(SharingTest, OfSeveralObjectsOfAGroupItHasNone) {
    Sharing sharing(6);
    for (const Address object : {0x1000, 0x1010, 0x1000}) {
        sharing.add(followed_write(object), 3, object, CostId{1});
    }
    ASSERT_EQ(sharing.lines().size(), 1u);
    EXPECT_EQ(sharing.lines()[0].object, Address{0});
}

using ObjectBeginningsTest = test::ObjectsTest;

TEST_F(ObjectBeginningsTest, AByteBelongsToTheBlockAroundIt) {
    allocate(call_first_, 0x5008, 24);
    allocate(call_second_, 0x100000, 1 << 20);
    read(0x5008);
    Objects& objects = const_cast<Objects&>(*finished().objects());
    EXPECT_EQ(objects.begin_of(0x5008), Address{0x5008});
    EXPECT_EQ(objects.begin_of(0x501f), Address{0x5008});
    EXPECT_EQ(objects.begin_of(0x5020), Address{0});
    EXPECT_EQ(objects.begin_of(0x5007), Address{0});
    EXPECT_EQ(objects.begin_of(0x123456), Address{0x100000});
}

}  // namespace
}  // namespace bd
