// SPDX-License-Identifier: GPL-2.0-or-later
//
// Functions that the user says allocate: pools, wrappers of other allocators, and what is neither.

#include <cstdint>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "objects_fixture.h"
#include "profile/misnamed_allocators.h"
#include "text.h"

namespace bd::test {
namespace {

class NamedAllocatorsTest : public ObjectsTest {
protected:
    static constexpr Address kBss = 0x40000;  // 4 KiB are mapped

    NamedAllocatorsTest() {
        trace_.mark(Marker::kMapped, kBss, kBss + 0x1000, 0).mark(Marker::kMapped, 0x10000, 0x30000, 0);
    }

    // The pool is called from line 20, and gets a block for itself before it returns, unless that has no size.
    void pool(Address result, std::uint64_t size, Address inner = 0, std::uint64_t inner_size = 0) {
        trace_.run(call_second_, kStack).run(pool_calls_, kStack - 8).mark(Marker::kAllocatorEntered, size, 7, 7);
        if (inner_size != 0) {
            trace_.run(malloc_body_, kStack - 16).mark(Marker::kAllocatorEntered, inner_size, 7, 7);
            trace_.mark(Marker::kAllocatorLeft, inner, kStack - 16);
        }
        trace_.run(pool_returns_, kStack - 8).mark(Marker::kAllocatorLeft, result, kStack - 8).run(start_, kStack);
    }
    const ObjectGroup& of_pool() { return group("heap 20"); }
    const ObjectGroup& group(const std::string& which) {
        for (const ObjectGroup& each : engine_.objects()->groups().all()) {
            if (name(each) == which) return each;
        }
        ADD_FAILURE() << which;
        return engine_.objects()->groups().all().front();
    }
    std::string misnamed() {
        Text text;
        write_misnamed_allocators(text, finished().objects()->named_allocators(), "");
        return text.finished();
    }

    Block& pool_calls_ = program_.entry(pool_, 0x4100).op(4, 121).ends(kCall);
    Block& pool_returns_ = program_.code(pool_, 0x4110).op(4, 122).ends(kReturn);
};

// --- What is no block

TEST_F(NamedAllocatorsTest, WhatLiesInNoMemoryIsNoBlock) {
    for (int i = 0; i < 3; ++i) pool(0x90000, 64);
    read(0x90000);
    pool(kBss, 64);
    read(kBss);
    EXPECT_EQ(misnamed(),
              "--alloc-fn1=pool: 3 of its 4 results point outside the program's memory. If it does not return the "
              "block, remove the option.\n");
    EXPECT_EQ(loads_of(engine_), (Loads{{"heap 20", 1}, {"unknown", 1}}));
    EXPECT_EQ(of_pool().bytes, 64u);
}

TEST_F(NamedAllocatorsTest, WhatGoesPastTheEndOfItsMemoryIsNoBlock) {
    allocate(call_first_, 0x10000, 256);
    pool(0x10040, 0x7fff'1234);
    read(0x10040);
    pool(kBss + 0xfc0, 65);
    read(kBss + 0xfc0);
    EXPECT_EQ(misnamed(),
              "--alloc-fn1=pool: 2 of its 2 results lie in less memory than argument 1 says. If another argument is "
              "the size, name it: --alloc-fn<n>=.\n");
    EXPECT_EQ(loads_of(engine_), (Loads{{"heap 10", 1}, {"mapping", 1}}));
}

TEST_F(NamedAllocatorsTest, MemoryMayBeMappedInPiecesOrBeOnTheStack) {
    trace_.mark(Marker::kMapped, kBss + 0x1000, kBss + 0x2000, 0);
    pool(kBss + 0xfc0, 0x80);
    trace_.run(call_first_, kStack - 0x100);
    read(kBss + 0x1000);
    EXPECT_EQ(misnamed(), "");
    EXPECT_EQ(loads_of(engine_), (Loads{{"heap 20", 1}}));
}

TEST_F(NamedAllocatorsTest, AFunctionThatNeverReturnsABlockIsNamed) {
    for (int i = 0; i < 2; ++i) pool(0, 64);
    EXPECT_EQ(misnamed(),
              "--alloc-fn1=pool: none of its 2 calls returned a block. If it does not return the block, remove the "
              "option.\n");
}

TEST_F(NamedAllocatorsTest, AFewResultsOfAnotherKindAreNotWorthAWord) {
    for (std::uint64_t i = 0; i < 10; ++i) pool(kBss + 64 * i, 64);
    pool(1, 64);
    for (int i = 0; i < 9; ++i) pool(0, 64);
    EXPECT_EQ(misnamed(), "");
}

// It still has a group for each of its callers.
TEST_F(NamedAllocatorsTest, WhatReturnsNoBlockMayWrapAnAllocator) {
    pool(1, 64, 0x10000, 64);
    pool(0x90000, 64);
    read(0x10000);
    EXPECT_EQ(misnamed(), "");
    EXPECT_EQ(loads_of(engine_), (Loads{{"heap 20", 1}}));
    EXPECT_EQ(std::tuple(of_pool().blocks, of_pool().smallest, of_pool().largest), std::tuple(1u, 64u, 64u));
}

TEST_F(NamedAllocatorsTest, FiveAreNamed) {
    for (int i = 0; i < 7; ++i) {
        Function& f = program_.function("f" + std::to_string(i));
        f.allocator = pool_.allocator;
        const Address at = 0x8000 + 0x10 * static_cast<Address>(i);
        trace_.run(call_second_, kStack).run(program_.entry(f, at).op(4, 140).ends(kReturn), kStack - 8);
        trace_.mark(Marker::kAllocatorEntered, 8, 7, 7).mark(Marker::kAllocatorLeft, 1, kStack - 8);
        trace_.run(start_, kStack);
    }
    const std::string text = misnamed();
    EXPECT_NE(text.find("f4: 1 of its 1 results"), std::string::npos);
    EXPECT_EQ(text.find("f5"), std::string::npos);
    EXPECT_NE(text.find("Likewise 2 more functions that an --alloc-fn option names.\n"), std::string::npos);
}

// --- What a pool gets

// The first part begins where what the pool has got begins.
TEST_F(NamedAllocatorsTest, WhatAPoolGetsIsNoBlockOfItsPlace) {
    for (std::uint64_t chunk = 0; chunk < 2; ++chunk) {
        const Address base = 0x10000 + 0x10000 * chunk;
        pool(base, 48, base, 1024);
        pool(base + 48, 48);
        pool(base + 96, 48);
    }
    for (const Address address : {0x10000, 0x10030, 0x20000, 0x20060}) read(address);
    EXPECT_EQ(loads(), (Loads{{"heap 20", 3}}));
    EXPECT_EQ(std::tuple(of_pool().blocks, of_pool().bytes, of_pool().live_bytes), std::tuple(6u, 288u, 288u));
    EXPECT_EQ(std::tuple(of_pool().smallest, of_pool().largest, of_pool().divisor), std::tuple(48u, 48u, 48u));
    EXPECT_LE(of_pool().most_live_bytes, 288u);
}

TEST_F(NamedAllocatorsTest, WhatAPoolHasNotHandedOutIsItsOwn) {
    for (const std::uint64_t size : {1024, 100'000}) {
        pool(0x100000, 48, 0x100000, size);
        pool(0x100030, 48);
        for (const Address address : {0x100000, 0x100080}) read(address);
        trace_.mark(Marker::kUnmapped, 0x100000, 0x120000, 0);
    }
    const Loads found = loads();
    EXPECT_EQ(found.at("heap 20"), 2u);
    EXPECT_EQ(found.at("unused"), 1u);
}

// Both begin at one address, and what the pool has got is too large to be forgotten.
TEST_F(NamedAllocatorsTest, APartIsFreedBeforeWhatThePoolHasGot) {
    pool(0x100000, 48, 0x100000, 100'000);
    pool(0x100030, 48);
    free(0x100000);
    for (const Address address : {0x100000, 0x100080, 0x100030}) read(address);
    free(0x100000);
    for (const Address address : {0x100080, 0x100030}) read(address);
    EXPECT_EQ(loads(), (Loads{{"heap 20", 1}, {"unused", 2}, {"unknown", 2}}));
}

// Each call returns a part of what the one within it has returned, which begins there, too.
TEST_F(NamedAllocatorsTest, APartOfAPartIsAsLargeAsTheOutermostCallWasAskedFor) {
    pool(0x10000, 48, 0x10000, 1024);
    pool(0x10030, 48);
    trace_.run(call_second_, kStack);
    constexpr std::uint64_t kAsked[]{16, 80, 160};
    for (std::uint64_t i = 0; i < 3; ++i) {
        trace_.run(pool_calls_, kStack - 8 * (i + 1)).mark(Marker::kAllocatorEntered, kAsked[i], 7, 7);
    }
    trace_.run(malloc_body_, kStack - 32).mark(Marker::kAllocatorEntered, 256, 7, 7);
    trace_.mark(Marker::kAllocatorLeft, 0x20000, kStack - 32);
    for (std::uint64_t i = 3; i != 0; --i) {
        trace_.run(pool_returns_, kStack - 8 * i).mark(Marker::kAllocatorLeft, 0x20000, kStack - 8 * i);
    }
    trace_.run(start_, kStack);
    for (const Address address : {0x20000, 0x20040, 0x20080}) read(address);
    EXPECT_EQ(loads(), (Loads{{"heap 20", 1}, {"mapping", 2}}));
    EXPECT_EQ(std::tuple(of_pool().smallest, of_pool().largest, of_pool().live_bytes), std::tuple(16u, 48u, 112u));
}

// A header stands before each block.
TEST_F(NamedAllocatorsTest, AWrapperMayReturnAPartOfWhatItWraps) {
    for (std::uint64_t i = 0; i < 20; ++i) pool(0x10010 + 0x100 * i, 100, 0x10000 + 0x100 * i, 116);
    read(0x10020);
    EXPECT_EQ(loads(), (Loads{{"heap 20", 1}}));
    EXPECT_EQ(std::tuple(of_pool().blocks, of_pool().bytes), std::tuple(20u, 2000u));
    EXPECT_EQ(std::tuple(of_pool().smallest, of_pool().largest), std::tuple(100u, 100u));
    EXPECT_EQ(of_pool().usual_size(), 100u);
}

// What is asked for may be a number of elements.
TEST_F(NamedAllocatorsTest, WhatIsWrappedKnowsItsSize) {
    for (std::uint64_t i = 0; i < 100; ++i) pool(0x10000 + 0x100 * i, 3, 0x10000 + 0x100 * i, 72);
    EXPECT_EQ(misnamed(), "");
    EXPECT_EQ(std::tuple(of_pool().blocks, of_pool().bytes), std::tuple(100u, 7200u));
    EXPECT_EQ(std::tuple(of_pool().smallest, of_pool().largest), std::tuple(72u, 72u));
}

// No call says when an arena begins anew.
TEST_F(NamedAllocatorsTest, PartsThatAreNotFreedGiveWayToOthers) {
    allocate(call_first_, 0x10000, 0x1000);
    pool(0x10000, 0x100);
    pool(0x10100, 0x100);
    pool(0x10080, 0x100);
    read(0x10080);
    pool(0x100c0, 0x20);  // within a part of its own
    EXPECT_EQ(misnamed(), "");
    EXPECT_EQ(loads_of(engine_), (Loads{{"heap 20", 1}}));
    EXPECT_EQ(of_pool().blocks, 4u);
    EXPECT_EQ(of_pool().live_bytes, 0x20u);
}

TEST_F(NamedAllocatorsTest, WhatWasLeftByAJumpHasItsSizesNoted) {
    trace_.run(call_second_, kStack).run(pool_calls_, kStack - 8).mark(Marker::kAllocatorEntered, 48, 7, 7);
    trace_.run(malloc_body_, kStack - 16).mark(Marker::kAllocatorEntered, 96, 7, 7);
    trace_.mark(Marker::kAllocatorLeft, 0x10000, kStack - 16).run(start_, kStack);
    allocate(call_first_, 0x20000, 64);
    finished();
    EXPECT_EQ(std::tuple(of_pool().blocks, of_pool().smallest, of_pool().largest), std::tuple(1u, 96u, 96u));
}

}  // namespace
}  // namespace bd::test
