// SPDX-License-Identifier: GPL-2.0-or-later
//
// Data objects where a trace says what cannot be, and with lines of D1 that have not 64 bytes.

#include "engine/objects/objects.h"

#include <gtest/gtest.h>

#include "objects_fixture.h"

namespace bd {
namespace {

using test::ObjectsTest;

// --- Sizes that cannot be

// An argument of -1, as where --alloc-fn names the wrong one.
TEST_F(ObjectsTest, ASizeThatGoesPastTheLastAddressIsNoBlock) {
    allocate(call_first_, 0x10000, 32);
    allocate(call_second_, 0x10020, ~std::uint64_t{0});
    allocate(call_second_, 0x10020, std::uint64_t{0} - 0x10020);
    allocate(call_second_, std::uint64_t{1} << 63, std::uint64_t{1} << 63);
    for (const Address address : {0x10000, 0x20000, 0x10020}) read(address);
    EXPECT_EQ(loads(), (Loads{{"heap 10", 1}, {"unknown", 2}}));
    for (const ObjectGroup& group : engine_.objects()->groups().all()) EXPECT_EQ(group.blocks, group.live_bytes / 32);
}

// The largest that has an end.
TEST_F(ObjectsTest, ABlockMayReachUpToTheLastAddress) {
    allocate(call_first_, 0x10000, 32);
    allocate(call_second_, 0x10020, ~std::uint64_t{0} - 0x10020);
    for (const Address address : {0x10000ull, 0x10020ull, 0xfffffffffffffffeull, 0x10000ull}) read(address);
    EXPECT_EQ(loads(), (Loads{{"heap 10", 2}, {"heap 20", 1}}));
}

TEST_F(ObjectsTest, AProductOfSizeAndCountThatWrapsAroundIsNoBlock) {
    malloc_.allocator = {.kind = AllocatorKind::kAllocates, .size = 1, .count = 2};
    trace_.run(call_first_, kStack).run(malloc_body_, kStack - 8);
    trace_.mark(Marker::kAllocatorEntered, (std::uint64_t{1} << 60) + 1, 16, 7);
    trace_.mark(Marker::kAllocatorLeft, 0x10000, kStack - 8).run(start_, kStack);
    read(0x10000);
    EXPECT_EQ(loads(), (Loads{{"unknown", 1}}));
}

// --- Lines that have not 64 bytes

// Both blocks are in the line of 128 bytes that is loaded after they were allocated.
TEST_F(ObjectsTest, ALineOf128BytesIsLoadedAsAWhole) {
    allocate(call_first_, 0x10000, 64);
    allocate(call_second_, 0x10040, 64);
    for (const Address address : {0x10000, 0x10040, 0x20000}) read(address);
    Engine engine({.caches = {.i1 = {1024, 1, 64}, .d1 = {128, 1, 128}, .ll = {128, 1, 128}}, .objects = true});
    engine.replay_whole(trace_.all());
    engine.finish();
    EXPECT_EQ(patterns_of(engine), (Loads{{"heap 10 0+64 1", 1}, {"heap 20 0+64 1", 1}}));
}

// That the next line is loaded says nothing of the one in which a block has been allocated since it was loaded.
TEST_F(ObjectsTest, ALineOf16BytesIsLoadedAlone) {
    read(0x10010);
    allocate(call_first_, 0x10010, 16);
    read(0x10000);
    Engine engine({.caches = {.i1 = {1024, 1, 64}, .d1 = {64, 4, 16}, .ll = {64, 1, 64}}, .objects = true});
    engine.replay_whole(trace_.all());
    engine.finish();
    EXPECT_EQ(patterns_of(engine), Loads{});
}

}  // namespace
}  // namespace bd
