// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/heap_blocks.h"

#include <map>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "heap_blocks_fixture.h"

namespace bd {
namespace {

using test::HeapBlocksTest;
using test::kHeap;

TEST_F(HeapBlocksTest, ABlockHasItsBytesAndNoOthers) {
    add(kHeap + 16, 24, "a");
    EXPECT_EQ(at(kHeap + 15), "");
    EXPECT_EQ(at(kHeap + 16), "a");
    EXPECT_EQ(at(kHeap + 39), "a");
    EXPECT_EQ(at(kHeap + 40), "");
}

TEST_F(HeapBlocksTest, WhatIsFreeBelongsToNoGroupUntilItIsAllocatedAgain) {
    add(kHeap, 100, "a");
    blocks_.free(kHeap);
    EXPECT_EQ(at(kHeap), "");
    blocks_.free(kHeap);  // twice
    add(kHeap, 50, "b");
    EXPECT_EQ(at(kHeap + 49), "b");
    EXPECT_EQ(at(kHeap + 50), "");
    EXPECT_EQ(groups_[group("a")].blocks_freed, 1u);
    EXPECT_EQ(groups_[group("a")].live_bytes, 0u);
    EXPECT_EQ(groups_[group("b")].live_bytes, 50u);
}

TEST_F(HeapBlocksTest, FreeMustNameTheBeginning) {
    add(kHeap, 100, "a");
    blocks_.free(kHeap + 16);
    blocks_.free(kHeap + 8);
    EXPECT_EQ(at(kHeap), "a");
}

TEST_F(HeapBlocksTest, ABlockMayReachIntoOtherPages) {
    add(0x5ff0, 0x2020, "a");
    EXPECT_EQ(at(0x5ff0), "a");
    EXPECT_EQ(at(0x6000), "a");
    EXPECT_EQ(at(0x8005), "a");
    EXPECT_EQ(at(0x8010), "");
    blocks_.free(0x5ff0);
    EXPECT_EQ(at(0x7000), "");
    add(0x7000, 16, "b");
    EXPECT_EQ(at(0x7000), "b");
    EXPECT_EQ(at(0x7010), "");
}

TEST_F(HeapBlocksTest, WithinAnotherTheInnerOneIsTheOwner) {
    add(kHeap, 1000, "chunk");
    add(kHeap + 32, 24, "first", true);
    add(kHeap + 64, 24, "second", true);
    EXPECT_EQ(at(kHeap + 31), "chunk");
    EXPECT_EQ(at(kHeap + 32), "first");
    EXPECT_EQ(at(kHeap + 56), "chunk");
    EXPECT_EQ(at(kHeap + 87), "second");
    EXPECT_EQ(at(kHeap + 999), "chunk");
    blocks_.free(kHeap + 32);
    EXPECT_EQ(at(kHeap + 32), "chunk");
    blocks_.free(kHeap);
    EXPECT_EQ(at(kHeap + 64), "");
    EXPECT_EQ(groups_[group("second")].live_bytes, 0u);
}

TEST_F(HeapBlocksTest, BothMayReachIntoTheNextPage) {
    add(0x5f00, 0x200, "chunk");
    add(0x5ff0, 32, "inner", true);
    EXPECT_EQ(at(0x6000), "inner");
    EXPECT_EQ(at(0x6010), "chunk");
}

// Lines that leave the cache late are still its.
TEST_F(HeapBlocksTest, PartsAreAlsoOfWhatIsFree) {
    add(kHeap + 16, 24, "a");
    add(kHeap + 48, 100, "b");
    EXPECT_EQ(parts(kHeap, kHeap + 64), "a@0+24 b@0+16 ");
    blocks_.free(kHeap + 16);
    EXPECT_EQ(parts(kHeap, kHeap + 64), "a@0+24 b@0+16 ");
    EXPECT_EQ(parts(kHeap + 64, kHeap + 128), "b@16+64 ");
    add(kHeap + 16, 8, "c");
    EXPECT_EQ(parts(kHeap, kHeap + 64), "c@0+8 b@0+16 ");
}

TEST_F(HeapBlocksTest, PartsReachUpToTheEndOfAPage) {
    add(0x5fb0, 32, "a");
    add(0x5fd0, 16, "b");
    add(0x5ff0, 64, "c");
    EXPECT_EQ(parts(0x5fc0, 0x6000), "a@16+16 b@0+16 c@0+16 ");
}

// In steps of 16 bytes it is known where blocks begin.
TEST_F(HeapBlocksTest, PartsBeginAndEndAtAnyByte) {
    add(kHeap + 8, 4, "a");
    add(kHeap + 0x44, 40, "b");
    EXPECT_EQ(parts(kHeap, kHeap + 64), "a@0+4 ");
    EXPECT_EQ(parts(kHeap + 9, kHeap + 11), "a@1+2 ");
    EXPECT_EQ(parts(kHeap + 12, kHeap + 16), "");
    EXPECT_EQ(parts(kHeap + 0x40, kHeap + 0x80), "b@0+40 ");
}

TEST_F(HeapBlocksTest, PartsOfAPoolAreItsElements) {
    add(kHeap, 1000, "chunk");
    add(kHeap + 16, 16, "first", true);
    add(kHeap + 32, 16, "second", true);
    EXPECT_EQ(parts(kHeap, kHeap + 64), "chunk@0+16 first@0+16 second@0+16 chunk@48+16 ");
}

TEST_F(HeapBlocksTest, NoBytesAreABlockToo) {
    add(kHeap, 0, "a");
    EXPECT_EQ(at(kHeap), "");
    blocks_.free(kHeap);
    EXPECT_EQ(groups_[group("a")].blocks_freed, 1u);
}

// Against a plain map, as an allocator may do it.
TEST_F(HeapBlocksTest, RandomBlocksAreFound) {
    std::mt19937 random(1);
    std::map<Address, std::pair<std::uint64_t, std::string>> expected;
    const auto owner = [&](Address address) -> std::string {
        const auto above = expected.upper_bound(address);
        if (above == expected.begin()) return "";
        const auto& [base, block] = *std::prev(above);
        return address - base < block.first ? block.second : "";
    };
    const char* const names[]{"a", "b", "c"};
    for (int step = 0; step < 20'000; ++step) {
        if (random() % 2 == 0 && !expected.empty()) {
            const auto block = std::next(expected.begin(), static_cast<long>(random() % expected.size()));
            blocks_.free(block->first);
            expected.erase(block);
        } else {
            const std::uint64_t size = random() % 50 == 0   ? 70'000
                                       : random() % 10 == 0 ? random() % 9000
                                                            : random() % 200;
            // Anywhere, but in 16 bytes that nothing else has.
            const Address base = 0x10000 + random() % 0x80000;
            const auto next = expected.lower_bound((base + std::max<std::uint64_t>(size, 1) + 15) / 16 * 16);
            const auto end = [](const auto& block) {
                return (block.first + std::max<std::uint64_t>(block.second.first, 1) + 15) / 16 * 16;
            };
            if (next != expected.begin() && end(*std::prev(next)) > base / 16 * 16) continue;
            const char* const name = names[random() % 3];
            add(base, size, name);
            expected[base] = {size, name};
        }
        for (int look = 0; look < 4; ++look) {
            const Address address = 0x10000 + random() % 0x80000;
            ASSERT_EQ(at(address), owner(address)) << "step " << step;
        }
    }
    std::map<std::string, std::uint64_t> alive;
    for (const auto& [base, block] : expected) alive[block.second] += block.first;
    for (const char* name : names) EXPECT_EQ(groups_[group(name)].live_bytes, alive[name]);
}

// Blocks of two pools in turns, which are given away as a whole now and then, against lists that are searched.
TEST_F(HeapBlocksTest, RandomPoolsAreFound) {
    struct Pool {
        Address base;
        std::uint64_t size;
        std::string name;
        std::map<Address, std::uint64_t> elements;
    };
    std::mt19937 random(2);
    std::map<Address, Pool> pools;
    const auto owner = [&](Address address) -> std::string {
        for (const auto& [base, pool] : pools) {
            if (address - base >= pool.size) continue;
            for (const auto& [element, size] : pool.elements) {
                if (address - element < size) return "element";
            }
            return pool.name;
        }
        return "";
    };
    for (int step = 0; step < 6000; ++step) {
        // Each has two pages and a half of its own, the last of them a large block.
        const Address room = 0x10000 + random() % 8 * 0x2800;
        const auto known = pools.find(room + 24);
        if (known == pools.end()) {
            const std::uint64_t size = room == 0x10000 + 7 * 0x2800 ? 0x18000 : 1000 + random() % 9000;
            add(room + 24, size, "pool");
            pools[room + 24] = {room + 24, size, "pool", {}};
        } else if (random() % 40 == 0) {
            blocks_.free(known->first);
            pools.erase(known);
        } else if (auto& [base, size, name, elements] = known->second; random() % 3 == 0 && !elements.empty()) {
            const auto element = std::next(elements.begin(), static_cast<long>(random() % elements.size()));
            blocks_.free(element->first);
            elements.erase(element);
        } else {
            const Address element = base + 16 + random() % (size - 200);
            const std::uint64_t bytes = 1 + random() % 100;
            // No two begin in the same 16 bytes.
            const auto next = elements.lower_bound(std::max(element + bytes, (element + 16) / 16 * 16));
            if (next != elements.begin()) {
                const auto& [before, its_bytes] = *std::prev(next);
                if (std::max(before + its_bytes, (before + 16) / 16 * 16) > element) continue;
            }
            add(element, bytes, "element", true);
            elements[element] = bytes;
        }
        for (int look = 0; look < 8; ++look) {
            const Address address = room + random() % 0x2800;
            ASSERT_EQ(at(address), owner(address)) << "step " << step;
        }
    }
    std::uint64_t alive = 0;
    for (const auto& [base, pool] : pools) {
        for (const auto& [element, size] : pool.elements) alive += size;
    }
    EXPECT_EQ(groups_[group("element")].live_bytes, alive);
}

// In steps of 16 bytes. What begins in a page is kept in words of 64 of these.
TEST_F(HeapBlocksTest, ABlockForgetsWhatBeginsInItAndNothingElse) {
    EXPECT_TRUE(forgets(0x5000, 17, 0x5010));
    EXPECT_FALSE(forgets(0x5000, 16, 0x5010));
    EXPECT_TRUE(forgets(0x63f0, 32, 0x6400));
    EXPECT_FALSE(forgets(0x6810, 16, 0x6800));
    EXPECT_TRUE(forgets(0x5ff0, 64, 0x6000));
    EXPECT_FALSE(forgets(0x5ff0, 16, 0x6000));
    // One that begins behind the last byte stays, also in the same 16 bytes, unless its slot is needed.
    EXPECT_FALSE(forgets(0x5000, 24, 0x5018));
    EXPECT_TRUE(forgets(0x5000, 25, 0x5018));
    EXPECT_TRUE(forgets(0x5010, 4, 0x5018));
    EXPECT_FALSE(forgets(0x5ff0, 24, 0x6008));
    EXPECT_TRUE(forgets(0x5ff0, 25, 0x6008));
    EXPECT_FALSE(forgets(0x100000, 0x20008, 0x120008));
    EXPECT_TRUE(forgets(0x100000, 0x20009, 0x120008));
    // Without bytes, too, it is somewhere.
    EXPECT_TRUE(forgets(0x5010, 0, 0x5010));
    EXPECT_FALSE(forgets(0x500f, 0, 0x5010));
    // A large one of more pages than are known.
    EXPECT_TRUE(forgets(0x100000, 0x20000, 0x11fff0));
    EXPECT_FALSE(forgets(0x100000, 0x20000, 0x120000));
    EXPECT_FALSE(forgets(0x100000, 0x20000, 0x300000));
}

// Where it begins: what else of it has been loaded tells nothing.
TEST_F(HeapBlocksTest, ABlockIsNewUntilItsFirstLineIsLoaded) {
    const auto is_new = [this](Address address) { return blocks_.find(address).is_new; };
    add(kHeap + 32, 64, "a");
    add(kHeap + 96, 16, "b");
    add(0x6ff0, 32, "c");
    EXPECT_TRUE(is_new(kHeap + 32));
    EXPECT_EQ(blocks_.load(kHeap + 64), group("a"));
    EXPECT_TRUE(is_new(kHeap + 32));
    EXPECT_FALSE(is_new(kHeap + 96));
    EXPECT_EQ(blocks_.load(kHeap), kUnknownGroup);  // nothing is there, but the line is loaded
    EXPECT_FALSE(is_new(kHeap + 32));
    EXPECT_TRUE(is_new(0x6ff0));
    blocks_.load(0x7000);
    EXPECT_TRUE(is_new(0x6ff0));
    blocks_.load(0x6fff);
    EXPECT_FALSE(is_new(0x6ff0));
    blocks_.free(kHeap + 32);
    add(kHeap + 32, 64, "a");
    EXPECT_TRUE(is_new(kHeap + 32));
}

TEST_F(HeapBlocksTest, BlocksOfOneSizeAndGroupAreStillApart) {
    for (Address base = kHeap; base < kHeap + 0x3000; base += 32) add(base, 24, base % 64 == 0 ? "a" : "b");
    blocks_.free(kHeap + 64);
    EXPECT_EQ(at(kHeap + 64), "");
    EXPECT_EQ(at(kHeap + 128), "a");
    EXPECT_EQ(at(kHeap + 96), "b");
    EXPECT_EQ(at(kHeap + 32 + 24), "");
    EXPECT_EQ(groups_[group("a")].live_bytes, 24u * (0x3000 / 64 - 1));
}

TEST_F(HeapBlocksTest, ABlockMayBeginFarBeforeTheByte) {
    add(0x6000, 0x400, "a");
    EXPECT_EQ(at(0x63ff), "a");
}

// In the same 16 bytes, behind the byte that is looked for.
TEST_F(HeapBlocksTest, ABlockMayEndWhereAnotherBegins) {
    add(kHeap + 16, 20, "a");
    add(kHeap + 40, 8, "b");
    EXPECT_EQ(at(kHeap + 33), "a");
    EXPECT_EQ(at(kHeap + 40), "b");
}

TEST_F(HeapBlocksTest, ABlockMayEndInTheNextPageWhereAnotherBegins) {
    add(0x5ff0, 20, "a");
    add(0x6008, 8, "b");
    EXPECT_EQ(at(0x6003), "a");
    EXPECT_EQ(at(0x6004), "");
    EXPECT_EQ(at(0x6008), "b");
}

TEST_F(HeapBlocksTest, APoolsFirstElementMayBeginRightBehindThePool) {
    add(kHeap, 1000, "chunk");
    add(kHeap + 16, 8, "element", true);
    EXPECT_EQ(at(kHeap + 23), "element");
    EXPECT_EQ(at(kHeap + 24), "chunk");
}

TEST_F(HeapBlocksTest, WhatReachedIntoAPageIsForgottenThereToo) {
    add(0x5ff0, 0x2020, "a");
    add(0x5fe0, 32, "b");
    EXPECT_EQ(at(0x6000), "");
    EXPECT_EQ(at(0x7000), "");
}

TEST_F(HeapBlocksTest, ThatAPoolIsFreedChangesNothingBehindIt) {
    add(kHeap, 0x400, "chunk");
    add(kHeap + 16, 8, "element", true);
    add(kHeap + 0x400, 16, "behind");
    blocks_.free(kHeap);
    EXPECT_EQ(groups_[group("element")].live_bytes, 0u);
    EXPECT_EQ(at(kHeap + 0x400), "behind");
}

TEST_F(HeapBlocksTest, AnElementHas64KiBAtMost) {
    add(0x100000, 1 << 20, "pool");
    add(0x110000, 1 << 16, "element", true);
    add(0x140000, (1 << 16) + 1, "too large", true);
    EXPECT_EQ(at(0x11ffff), "element");
    EXPECT_EQ(at(0x140000), "pool");
}

TEST_F(HeapBlocksTest, PartsOfABlockThatReachesIntoAPage) {
    add(0x2ffff8, 16, "a");
    EXPECT_EQ(parts(0x300000, 0x300040), "a@8+8 ");
    EXPECT_EQ(parts(0x300040, 0x300080), "");
}

TEST_F(HeapBlocksTest, AFreeBlockThatReachesIntoAPageHasPartsThere) {
    add(0x5ff0, 0x30, "a");
    blocks_.free(0x5ff0);
    add(0x6030, 16, "b");
    EXPECT_EQ(parts(0x6000, 0x6040), "a@16+32 b@0+16 ");
}

TEST_F(HeapBlocksTest, PartsOfWhatIsFree) {
    add(0x100000, 0x20000, "large");
    add(0x108010, 8, "a");
    blocks_.free(0x108010);
    EXPECT_EQ(parts(0x108000, 0x108040), "large@32768+16 a@0+8 large@32792+40 ");
    EXPECT_EQ(parts(0x108010, 0x108040), "a@0+8 large@32792+40 ");
    blocks_.free(0x100000);
    EXPECT_EQ(parts(0x108010, 0x108040), "a@0+8 large@32792+40 ");
    EXPECT_EQ(parts(0x100000, 0x100040), "large@0+64 ");
}

// Without pools, nothing is looked for behind a block but in it.
TEST_F(HeapBlocksTest, ABlockInAnotherTakesWhatIsBehindItAway) {
    add(kHeap, 100, "a");
    add(kHeap + 32, 16, "b");
    EXPECT_EQ(at(kHeap + 31), "a");
    EXPECT_EQ(at(kHeap + 48), "");
    add(0x7ff0, 0x100, "a");
    add(0x8000, 16, "b");  // the first of another page
    EXPECT_EQ(at(0x7fff), "a");
    EXPECT_EQ(at(0x8010), "");
}

TEST_F(HeapBlocksTest, PartsEndWhereAnElementBegins) {
    add(kHeap + 16, 0x800, "chunk");
    add(kHeap + 32, 16, "first", true);
    add(kHeap + 0x400, 16, "second", true);
    EXPECT_EQ(parts(kHeap + 16, kHeap + 33), "chunk@0+16 first@0+1 ");
    EXPECT_EQ(parts(kHeap + 0x3c0, kHeap + 0x400), "chunk@944+64 ");
    EXPECT_EQ(parts(kHeap + 0x400, kHeap + 0x440), "second@0+16 chunk@1024+48 ");
}

TEST_F(HeapBlocksTest, WhatBeginsInARangeIsForgotten) {
    add(0x4ff0, 16, "before");
    add(0x5000, 16, "a");
    add(0x6ff0, 16, "a");
    add(0x6fe0, 16, "free");
    add(0x7000, 16, "behind");
    blocks_.free(0x6fe0);
    blocks_.forget(0x5000, 0x7000);
    EXPECT_EQ(parts(0x4fc0, 0x5000), "before@0+16 ");
    EXPECT_EQ(parts(0x5000, 0x5040), "");
    EXPECT_EQ(parts(0x6fc0, 0x7000), "");
    EXPECT_EQ(parts(0x7000, 0x7040), "behind@0+16 ");
    EXPECT_EQ(groups_[group("a")].live_bytes, 0u);
    EXPECT_EQ(groups_[group("free")].blocks_freed, 1u);
    blocks_.forget(0x7000, 0x7000);
    EXPECT_EQ(at(0x7000), "behind");
}

// One that lies within another, both of which reach in.
TEST_F(HeapBlocksTest, WhatReachesIntoAForgottenRangeIsCut) {
    add(0x4e00, 0x2000, "outer");
    add(0x4f00, 0x400, "inner", true);
    blocks_.forget(0x5000, 0x6000);
    EXPECT_EQ(at(0x4e00), "outer");
    EXPECT_EQ(at(0x4fff), "inner");
    for (const Address address : {0x5000, 0x5300, 0x6000, 0x6dff}) EXPECT_EQ(at(address), "") << address;
    EXPECT_EQ(groups_[group("inner")].live_bytes, 0x100u);
    EXPECT_EQ(groups_[group("outer")].live_bytes, 0x200u);
    blocks_.free(0x4e00);
    EXPECT_EQ(groups_[group("inner")].live_bytes, 0u);
    EXPECT_EQ(groups_[group("outer")].live_bytes, 0u);
}

TEST_F(HeapBlocksTest, WhatIsFreeMayReachIntoAForgottenRange) {
    add(0x4ff0, 32, "a");
    blocks_.free(0x4ff0);
    blocks_.forget(0x5000, 0x6000);
    EXPECT_EQ(parts(0x4fc0, 0x5000), "a@0+16 ");
    EXPECT_EQ(parts(0x5000, 0x5040), "");
    EXPECT_EQ(groups_[group("a")].live_bytes, 0u);
}

TEST_F(HeapBlocksTest, WhatBeginsInARangeIsFreed) {
    add(0x4ff0, 32, "before");
    add(0x5010, 16, "a");
    add(0x6ff8, 16, "a");
    add(0x7008, 16, "behind");
    for (int i = 0; i < 2; ++i) blocks_.free_range(0x5000, 0x7000);
    EXPECT_EQ(at(0x500f), "before");
    EXPECT_EQ(at(0x5010), "");
    EXPECT_EQ(at(0x7007), "");
    EXPECT_EQ(at(0x7008), "behind");
    EXPECT_EQ(parts(0x5000, 0x5040), "before@16+16 a@0+16 ");
    EXPECT_EQ(groups_[group("a")].live_bytes, 0u);
    EXPECT_EQ(groups_[group("a")].blocks_freed, 2u);
}

}  // namespace
}  // namespace bd
