// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bytes that are used late or never, by data object: an object's end is the end of its bytes' lives.

#include <map>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "objects_fixture.h"

namespace bd {
namespace {

using enum JumpKind;

class ObjectStaysTest : public test::ObjectsTest {
protected:
    using Stay = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // stays, unused bytes, late ones of these

    ObjectStaysTest() { realloc_.allocator = {.kind = AllocatorKind::kReallocates, .block = 1, .size = 2}; }

    void reallocate(Address block, Address result, std::uint64_t size) {
        trace_.run(call_second_, kStack).run(realloc_body_, kStack - 8);
        trace_.mark(Marker::kAllocatorEntered, block, size, 7).mark(Marker::kAllocatorLeft, result, kStack - 8);
        trace_.run(start_, kStack);
    }

    // By group; of heap blocks.
    std::map<std::string, Stay> stays() {
        Engine engine({.caches = engine_.config().caches, .objects = true, .why = true});
        engine.replay_whole(trace_.all());
        engine.finish();
        std::map<std::string, Stay> stays;
        for (const StaySum& sum : engine.why()->stays.sums()) {
            const std::string group = name(engine.objects()->groups()[GroupId{sum.key.group}]);
            if (group.starts_with("heap")) stays[group] = {sum.stays, sum.unused, sum.late};
            EXPECT_EQ(sum.late + sum.never, sum.unused);
        }
        return stays;
    }

    Function& realloc_ = program_.function("realloc");
    Block& realloc_body_ = program_.entry(realloc_, 0x5000).op(4, 130).ends(kReturn);
};

TEST_F(ObjectStaysTest, WhatAnotherStayUsesIsLate) {
    allocate(call_first_, 0x10000, 64);
    for (const Address address : {0x10000, 0x20000, 0x10001}) read(address);
    EXPECT_EQ(stays(), (std::map<std::string, Stay>{{"heap 10", {2, 126, 2}}}));
}

TEST_F(ObjectStaysTest, WhatAnotherObjectUsesIsNot) {
    allocate(call_first_, 0x10000, 64);
    read(0x10000);
    read(0x20000);
    free(0x10000);
    allocate(call_second_, 0x10000, 64);
    read(0x10001);
    EXPECT_EQ(stays(), (std::map<std::string, Stay>{{"heap 10", {1, 63, 0}}, {"heap 20", {1, 63, 0}}}));
}

TEST_F(ObjectStaysTest, AMovedBlockIsAnotherObject) {
    allocate(call_first_, 0x10000, 64);
    read(0x10000);
    read(0x20000);
    reallocate(0x10000, 0x11000, 128);
    allocate(call_first_, 0x10000, 64);
    read(0x10001);
    EXPECT_EQ(stays(), (std::map<std::string, Stay>{{"heap 10", {2, 126, 0}}}));
}

TEST_F(ObjectStaysTest, ABlockThatGrowsWhereItIsGoesOn) {
    allocate(call_first_, 0x10000, 64);
    read(0x10000);
    read(0x20000);
    reallocate(0x10000, 0x10000, 128);
    read(0x10001);
    EXPECT_EQ(stays(), (std::map<std::string, Stay>{{"heap 10", {1, 63, 1}}, {"heap 20", {1, 63, 1}}}));
}

}  // namespace
}  // namespace bd
