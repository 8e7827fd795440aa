// SPDX-License-Identifier: GPL-2.0-or-later

#include <gtest/gtest.h>

#include "engine/objects/heap_blocks.h"
#include "heap_blocks_fixture.h"

namespace bd {
namespace {

class LargeHeapBlocksTest : public test::HeapBlocksTest {};

// 64 KiB are the most that stand in pages, where the rest of a large block stays what it was.
TEST_F(LargeHeapBlocksTest, ABlockOf64KiBHasItsBytesAndLeavesTheRest) {
    add(0x100000, 1 << 20, "large");
    add(0x100000, 1 << 16, "a");
    EXPECT_EQ(at(0x10ffff), "a");
    EXPECT_EQ(at(0x110000), "large");
    blocks_.free(0x100000);
    EXPECT_EQ(groups_[group("a")].live_bytes, 0u);
}

TEST_F(LargeHeapBlocksTest, LargeBlocksAreFoundToo) {
    add(0x100010, 1 << 20, "large");
    add(0x100000, 16, "before");
    add(0x200010, 16, "behind");
    EXPECT_EQ(at(0x10000f), "before");
    EXPECT_EQ(at(0x100010), "large");
    EXPECT_EQ(at(0x20000f), "large");
    EXPECT_EQ(at(0x200010), "behind");
    blocks_.free(0x100010);
    EXPECT_EQ(at(0x180000), "");
    EXPECT_EQ(groups_[group("large")].live_bytes, 0u);
}

TEST_F(LargeHeapBlocksTest, ALargeBlockTakesThePlaceOfSmallOnesOnlyWhereItLies) {
    add(0x100000, 16, "before");
    add(0x100020, 16, "under");
    add(0x140000, 16, "under");
    add(0x100010, 1 << 20, "large");
    EXPECT_EQ(at(0x100000), "before");
    EXPECT_EQ(at(0x100020), "large");
    EXPECT_EQ(at(0x140000), "large");
    EXPECT_EQ(groups_[group("under")].live_bytes, 0u);
    EXPECT_EQ(groups_[group("before")].live_bytes, 16u);
}

TEST_F(LargeHeapBlocksTest, WithinALargeOne) {
    add(0x100010, 1 << 20, "chunk");
    add(0x150000, 24, "inner", true);
    EXPECT_EQ(at(0x150017), "inner");
    EXPECT_EQ(at(0x150018), "chunk");
    blocks_.free(0x100010);
    EXPECT_EQ(at(0x150000), "");
}

// A byte on either side of each border.
TEST_F(LargeHeapBlocksTest, ALargeBlockForgetsWhatBeginsInItAndNothingElse) {
    add(0x100000, 0x20000, "low");
    add(0x120000, 0x20000, "middle");
    add(0x140000, 0x20000, "high");
    add(0x11ffff, 0x20002, "over");
    EXPECT_EQ(groups_[group("low")].live_bytes, 0u);
    EXPECT_EQ(groups_[group("middle")].live_bytes, 0u);
    EXPECT_EQ(groups_[group("high")].live_bytes, 0u);
    add(0x200000, 0x20000, "low");
    add(0x220000, 0x20000, "middle");
    add(0x240000, 0x20000, "high");
    blocks_.free(0x220000);
    add(0x220000, 0x20000, "over");
    EXPECT_EQ(at(0x21ffff), "low");
    EXPECT_EQ(at(0x220000), "over");
    EXPECT_EQ(at(0x23ffff), "over");
    EXPECT_EQ(at(0x240000), "high");
    EXPECT_EQ(groups_[group("middle")].live_bytes, 0u);
    EXPECT_EQ(groups_[group("high")].live_bytes, 0x20000u);
}

// Many pages are known then, fewer, and all that there are are looked through instead of those of the block.
TEST_F(LargeHeapBlocksTest, ALargeBlockForgetsSmallOnesInEveryPage) {
    for (const Address page : {0x100000, 0x101000, 0x10f000, 0x110000, 0x111000}) add(page + 0xff0, 16, "small");
    add(0x100ff0, 0x10000, "exact");  // as large as a small one may be
    EXPECT_EQ(groups_[group("small")].live_bytes, 2 * 16u);
    add(0x102000, 16, "small");
    add(0x100000, 0x11ff0, "large");
    EXPECT_EQ(groups_[group("small")].live_bytes, 16u);
    EXPECT_EQ(at(0x111fef), "large");
    EXPECT_EQ(at(0x111ff0), "small");
    EXPECT_EQ(groups_[group("exact")].live_bytes, 0u);
}

TEST_F(LargeHeapBlocksTest, ALargeBlockForgetsSmallOnesUpToItsLastPage) {
    for (unsigned page = 0; page < 40; ++page) add(0x400000 + 0x1000 * page, 16, "elsewhere");
    add(0x11fff0, 16, "small");
    add(0x100000, 0x20000, "large");
    EXPECT_EQ(groups_[group("small")].live_bytes, 0u);
    EXPECT_EQ(groups_[group("elsewhere")].live_bytes, 40 * 16u);
}

TEST_F(LargeHeapBlocksTest, ALargeBlockThatWasAskedForLatelyMayChange) {
    add(0x200000, 0x20000, "a");
    add(0x300000, 0x20000, "b");
    for (int i = 0; i < 2; ++i) EXPECT_EQ(at(0x308000), "b");
    EXPECT_EQ(parts(0x308000, 0x308040), "b@32768+64 ");
    add(0x100000, 0x20000, "before");  // the others go up in the list
    for (int i = 0; i < 2; ++i) EXPECT_EQ(at(0x308000), "b");
    EXPECT_EQ(at(0x31ffff), "b");
    EXPECT_EQ(at(0x320000), "");
    blocks_.free(0x300000);
    EXPECT_EQ(at(0x308000), "");
    EXPECT_EQ(parts(0x308000, 0x308040), "b@32768+64 ");
    add(0x308000, 16, "small");
    EXPECT_EQ(at(0x308000), "small");
}

TEST_F(LargeHeapBlocksTest, ASmallBlockInALargeOneHasItsBytes) {
    for (const Address base : {0x108000, 0x11fff8, 0xffff8}) {
        HeapBlocks blocks(groups_, test::kLineBits);
        blocks.add(0x100000, 0x20000, group("large"), false);
        for (int i = 0; i < 2; ++i) ASSERT_NE(blocks.find(0x108000).size, 0u);
        ASSERT_NE(blocks.find(0x11ffff).size, 0u);
        blocks.add(base, 16, group("small"), false);
        const Address within = base < 0x100000 ? 0x100000 : base;
        EXPECT_EQ(blocks.find(within).group, group("small")) << base;
    }
}

TEST_F(LargeHeapBlocksTest, ALargeBlockMayBeginAndEndWithinALine) {
    add(0x100010, 0x20000, "large");  // where nothing else is
    EXPECT_EQ(parts(0x100000, 0x100040), "large@0+48 ");
    EXPECT_EQ(parts(0x120000, 0x120040), "large@131056+16 ");
    add(0x120018, 8, "behind");
    EXPECT_EQ(parts(0x120000, 0x120040), "large@131056+16 behind@0+8 ");
    add(0x200008, 8, "before");
    add(0x200020, 0x20000, "another");
    EXPECT_EQ(parts(0x200000, 0x200040), "before@0+8 another@0+32 ");
    add(0x2ffff8, 16, "reaches in");
    add(0x300010, 0x20000, "a third");
    EXPECT_EQ(parts(0x300000, 0x300040), "reaches in@8+8 a third@0+48 ");
}

TEST_F(LargeHeapBlocksTest, SmallBlocksInALargeOneLeaveItTheRest) {
    add(0x100000, 0x20000, "large");
    add(0x108010, 8, "a");
    add(0x108024, 8, "b");
    EXPECT_EQ(parts(0x108000, 0x108040), "large@32768+16 a@0+8 large@32792+12 b@0+8 large@32812+20 ");
    EXPECT_EQ(parts(0x108040, 0x108080), "large@32832+64 ");
}

// Where that page is not among the latest ones, and the large block is.
TEST_F(LargeHeapBlocksTest, SmallBlocksInALargeOneAreNotForgotten) {
    for (const Address base : {0x108000, 0x11fff8, 0xffff8}) {
        for (const bool large_is_first : {true, false}) {
            HeapBlocks blocks(groups_, test::kLineBits);
            if (large_is_first) blocks.add(0x100000, 0x20000, group("large"), false);
            if (base != 0x108000 || large_is_first) blocks.add(base, 16, group("small"), false);
            if (!large_is_first) blocks.add(0x100000, 0x20000, group("large"), false);
            for (const Address known : {0x104000, 0x114000}) ASSERT_EQ(blocks.find(known).group, group("large"));
            const Address within = base < 0x100000 ? 0x100000 : base;
            const bool is_kept = large_is_first || base < 0x100000;
            blocks.add(within + (Address{2048} << 12), 16, group("another"), false);
            EXPECT_EQ(blocks.find(within).group, group(is_kept ? "small" : "large")) << base;
            blocks.find(within + (Address{2048} << 12));
            GroupId owner{};
            blocks.for_each_part(within & ~Address{63}, (within & ~Address{63}) + 64,
                                 [&](const HeapBlock& block, Address from, Address to) {
                                     if (within - from < to - from) owner = block.group;
                                 });
            EXPECT_EQ(owner, group(is_kept ? "small" : "large")) << base;
        }
    }
}

TEST_F(LargeHeapBlocksTest, ALargeBlockHasNoPartOfTheLineBefore) {
    add(0x100000, 1 << 20, "large");
    EXPECT_EQ(parts(0xfffc0, 0x100000), "");
    EXPECT_EQ(parts(0xfff80, 0xfffc0), "");
}

TEST_F(LargeHeapBlocksTest, ASmallBlockMayBeginWhereALargeOneDoes) {
    add(0x100010, 1 << 20, "large");
    add(0x100010, 16, "a");
    EXPECT_EQ(parts(0x100000, 0x100040), "a@0+16 large@16+32 ");
}

TEST_F(LargeHeapBlocksTest, ALargeBlockMayEndAByteBeforeALine) {
    add(0x100000, 0x2003f, "large");
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(parts(0x11ffc0, 0x120000), "large@131008+64 ");
        EXPECT_EQ(parts(0x120000, 0x120040), "large@131072+63 ");
    }
}

TEST_F(LargeHeapBlocksTest, ASmallBlockThatReachesIntoALargeOneKeepsItsBytes) {
    add(0xffff8, 16, "small");
    add(0x100000, 0x20000, "large");
    EXPECT_EQ(at(0x100010), "large");
    EXPECT_EQ(at(0x100000), "small");
    EXPECT_EQ(at(0x100010), "large");
    EXPECT_EQ(at(0x100000), "small");
}

// Its end belongs to no block then, as nothing begins there that could be freed.
TEST_F(LargeHeapBlocksTest, WhatIsForgottenWithinALargeBlockEndsIt) {
    add(0x100010, 1 << 20, "large");
    blocks_.forget(0x140000, 0x150000);
    EXPECT_EQ(at(0x13ffff), "large");
    EXPECT_EQ(at(0x140000), "");
    EXPECT_EQ(at(0x150000), "");
    EXPECT_EQ(groups_[group("large")].live_bytes, 0x3fff0u);
    EXPECT_EQ(groups_[group("large")].blocks_freed, 0u);
    blocks_.free(0x100010);
    EXPECT_EQ(groups_[group("large")].live_bytes, 0u);
    EXPECT_EQ(groups_[group("large")].blocks_freed, 1u);
}

TEST_F(LargeHeapBlocksTest, LargeBlocksThatBeginInARangeAreForgotten) {
    add(0x100000, 0x20000, "before");
    add(0x120000, 0x20000, "a");
    add(0x140000, 0x20000, "a");
    add(0x160000, 0x20000, "behind");
    blocks_.free(0x120000);
    blocks_.forget(0x120000, 0x160000);
    EXPECT_EQ(parts(0x11ffc0, 0x120000), "before@131008+64 ");
    EXPECT_EQ(parts(0x120000, 0x120040), "");
    EXPECT_EQ(parts(0x15ffc0, 0x160000), "");
    EXPECT_EQ(parts(0x160000, 0x160040), "behind@0+64 ");
    EXPECT_EQ(groups_[group("a")].live_bytes, 0u);
    EXPECT_EQ(groups_[group("a")].blocks_freed, 2u);
    EXPECT_EQ(groups_[group("before")].live_bytes, 0x20000u);
}

TEST_F(LargeHeapBlocksTest, ASmallBlockWithinALargeOneIsCutWithIt) {
    add(0x100000, 1 << 20, "large");
    add(0x100000, 0x8000, "inner", true);
    blocks_.forget(0x104000, 0x105000);
    EXPECT_EQ(at(0x103fff), "inner");
    EXPECT_EQ(at(0x104000), "");
    EXPECT_EQ(groups_[group("inner")].live_bytes, 0x4000u);
    EXPECT_EQ(groups_[group("large")].live_bytes, 0x4000u);
}

TEST_F(LargeHeapBlocksTest, LargeBlocksInARangeAreFreed) {
    add(0x100000, 0x20000, "before");
    add(0x120000, 0x20000, "a");
    add(0x140000, 0x20000, "behind");
    blocks_.free_range(0x110000, 0x140000);
    blocks_.free_range(0x110000, 0x140000);
    EXPECT_EQ(at(0x11ffff), "before");
    EXPECT_EQ(at(0x120000), "");
    EXPECT_EQ(at(0x140000), "behind");
    EXPECT_EQ(parts(0x120000, 0x120040), "a@0+64 ");
    EXPECT_EQ(groups_[group("a")].blocks_freed, 1u);
}

}  // namespace
}  // namespace bd
