// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/hierarchy.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "cache_fixture.h"
#include "hierarchy_fixture.h"

namespace bd {
namespace {

using test::Accesses;
using test::cache;
using test::Caches;
using test::Evicted;
using test::FakeSink;
using test::kHit;
using test::kL1Miss;
using test::kLLMiss;
using test::List;

// What holds for both ways of compiling it. All lines have 64 bytes, and the LL has three sets.
template <class CachesType>
class HierarchyTest : public testing::Test {
protected:
    // I1: one line. D1: two sets of one way. LL: three sets of two ways.
    CachesType caches_{cache(1, 1, 64), cache(2, 1, 64), cache(3, 2, 64)};
};
using HierarchyVariants = testing::Types<Caches<test::kCommonUse>, Caches<test::kAnyUse>>;
TYPED_TEST_SUITE(HierarchyTest, HierarchyVariants);

TYPED_TEST(HierarchyTest, AnAccessMissesBothLevelsThenHits) {
    auto& caches = this->caches_;
    EXPECT_EQ(caches.data(1, 0x1000, 4), kLLMiss);
    EXPECT_EQ(caches.data(1, 0x1000, 4), kHit);
    EXPECT_EQ(caches.data(1, 0x103c, 4), kHit);
    EXPECT_EQ(caches.sink.loads, 2u);  // one for each level
}

TYPED_TEST(HierarchyTest, OneByteUsedOfALine) {
    this->caches_.data(1, 0x1007, 1);
    EXPECT_EQ(this->caches_.flush(), by_level(List{{'1', 1, 1, 1, 64}, {'L', 1, 1, 1, 64}}));
}

TYPED_TEST(HierarchyTest, LinesWhoseChargesAreDroppedStayCachedWithTheirUse) {
    this->caches_.data(1, 0x1000, 4);
    this->caches_.fetch(2, 0x2000, 4);
    this->caches_.hierarchy.drop_charges();
    EXPECT_EQ(this->caches_.data(3, 0x1004, 4), kHit);
    EXPECT_EQ(this->caches_.flush(),
              by_level(List{{'1', 0, 2, 8, 64}, {'L', 0, 2, 8, 64}, {'1', 0, 1, 4, 64}, {'L', 0, 1, 4, 64}}));
}

// LL's first set has room for two lines, and both of them are charged.
TYPED_TEST(HierarchyTest, AllLinesLoseTheirCharges) {
    this->caches_.data(1, 0x0000, 4);
    this->caches_.data(2, 0x00c0, 4);
    this->caches_.hierarchy.drop_charges();
    for (const Evicted& line : this->caches_.flush()) EXPECT_EQ(line.target, 0u) << line;
}

TYPED_TEST(HierarchyTest, BytesTouchedTwiceAreUsedOnceAndAccessesAreCounted) {
    this->caches_.data(1, 0x1000, 8);  //  0 to 7
    this->caches_.data(1, 0x1004, 8);  //  4 to 11
    this->caches_.data(1, 0x103f, 1);  //  63
    EXPECT_EQ(this->caches_.flush(), by_level(List{{'1', 1, 3, 13, 64}, {'L', 1, 3, 13, 64}}));
}

TYPED_TEST(HierarchyTest, AccessesAreCountedBeyondAnyBound) {
    for (int i = 0; i < 100'000; ++i) this->caches_.data(1, 0x1000, 8);
    EXPECT_EQ(this->caches_.flush(), by_level(List{{'1', 1, 100'000, 8, 64}, {'L', 1, 100'000, 8, 64}}));
}

TYPED_TEST(HierarchyTest, ALineIsChargedToWhatLoadedItWhoeverUsesIt) {
    this->caches_.data(1, 0x1000, 8);
    this->caches_.data(2, 0x1008, 8);
    EXPECT_EQ(this->caches_.flush(), by_level(List{{'1', 1, 2, 16, 64}, {'L', 1, 2, 16, 64}}));
}

TYPED_TEST(HierarchyTest, AnEvictedLineAddsItsUseToThatOfTheLlLine) {
    auto& caches = this->caches_;
    //                                                    D1 set 0 | LL set 0
    EXPECT_EQ(caches.data(1, 0x0000, 8), kLLMiss);   // 0        | 0
    EXPECT_EQ(caches.data(2, 0x0300, 4), kLLMiss);   // c        | c 0
    EXPECT_EQ(caches.sink.take(), (List{{'1', 1, 1, 8, 64}}));
    EXPECT_EQ(caches.data(3, 0x0004, 8), kL1Miss);  // 0        | 0 c
    EXPECT_EQ(caches.sink.take(), (List{{'1', 2, 1, 4, 64}}));
    // Of line 0, the LL has seen two accesses to 12 bytes, charged to what loaded it first.
    EXPECT_EQ(caches.flush(), by_level(List{{'1', 3, 1, 8, 64}, {'L', 1, 2, 12, 64}, {'L', 2, 1, 4, 64}}));
}

TYPED_TEST(HierarchyTest, AStraddlingAccessTouchesBothLinesAndMissesOnce) {
    auto& caches = this->caches_;
    EXPECT_EQ(caches.data(1, 0x103d, 8), kLLMiss);
    EXPECT_EQ(caches.sink.loads, 4u);
    EXPECT_EQ(caches.data(1, 0x103d, 8), kHit);
    // Line 0x40 is in set 0 of D1 and set 1 of LL, line 0x41 in set 1 of D1 and set 2 of LL.
    EXPECT_EQ(caches.flush(),
              by_level(List{{'1', 1, 2, 3, 64}, {'1', 1, 2, 5, 64}, {'L', 1, 2, 3, 64}, {'L', 1, 2, 5, 64}}));
}

TYPED_TEST(HierarchyTest, ItIsAMissIfAnyOfItsLinesMisses) {
    auto& caches = this->caches_;
    caches.data(1, 0x1040, 8);
    EXPECT_EQ(caches.data(2, 0x103d, 8), kLLMiss);  // the second line hits
    EXPECT_EQ(
        caches.flush(),
        by_level(List{{'1', 2, 1, 3, 64}, {'1', 1, 2, 8, 64}, {'L', 2, 1, 3, 64}, {'L', 1, 2, 8, 64}}));

    caches.data(1, 0x1000, 8);
    EXPECT_EQ(caches.data(2, 0x103d, 8), kLLMiss);  // the first line hits
}

TYPED_TEST(HierarchyTest, TheWorstOutcomeOfItsLinesCounts) {
    auto& caches = this->caches_;
    //                                                    D1 set 0, 1 | LL set 0, 1, 2
    caches.data(1, 0x0000, 1);                         // 0, -        | 0, -, -
    caches.data(1, 0x0080, 1);                         // 2, -        | 0, -, 2
    EXPECT_EQ(caches.data(1, 0x003f, 2), kLLMiss);   // 0, 1        | 0, 1, 2     0 is in LL, 1 nowhere
    caches.data(1, 0x0080, 1);                         // 2, 1
    EXPECT_EQ(caches.data(1, 0x003f, 2), kL1Miss);  // 0, 1        |             0 is in LL, 1 in D1
    EXPECT_EQ(caches.data(1, 0x003f, 2), kHit);
}

TYPED_TEST(HierarchyTest, AnAccessMayBeLargerThanALine) {
    auto& caches = this->caches_;
    EXPECT_EQ(caches.data(1, 0x1030, 16 + 64 + 7), kLLMiss);
    //         lines 40, 41 and 42; 42 takes the slot of 40 in D1
    EXPECT_EQ(caches.sink.take(), (List{{'1', 1, 1, 16, 64}}));
    EXPECT_EQ(caches.flush(), by_level(List{{'1', 1, 1, 7, 64},
                                            {'1', 1, 1, 64, 64},
                                            {'L', 1, 1, 7, 64},
                                            {'L', 1, 1, 16, 64},
                                            {'L', 1, 1, 64, 64}}));
}

TYPED_TEST(HierarchyTest, AnAccessMayBeLargerThanAPageAndThanTheCaches) {
    auto& caches = this->caches_;
    EXPECT_EQ(caches.data(1, 0x1001, 8192), kLLMiss);
    // 129 lines, the first and the last in part. D1 keeps 2 of them, LL 6.
    List lines = caches.sink.take();
    EXPECT_EQ(lines.size(), (129u - 2) + (129 - 6));
    for (const Evicted& line : caches.flush()) lines.push_back(line);
    for (const char level : {'1', 'L'}) {
        const auto count = [&](const Evicted& wanted) { return std::ranges::count(lines, wanted); };
        EXPECT_EQ(count({level, 1, 1, 63, 64}), 1) << level;
        EXPECT_EQ(count({level, 1, 1, 64, 64}), 127) << level;
        EXPECT_EQ(count({level, 1, 1, 1, 64}), 1) << level;
    }
}

TYPED_TEST(HierarchyTest, AnL1HitDoesNotTouchTheLl) {
    auto& caches = this->caches_;
    //                              D1 set 0, 1 | LL set 0
    caches.data(1, 0x0000, 1);   // 0, -        | 0
    caches.data(2, 0x00c0, 1);   // 0, 3        | 3 0
    caches.data(1, 0x0000, 1);   // 0, 3        | 3 0      had LL seen it, 3 would go next
    caches.sink.take();
    caches.fetch(3, 0x0180, 1);  // 0, 3        | 6 3
    EXPECT_EQ(caches.sink.take(), (List{{'L', 1, 2, 1, 64}}));
}

TYPED_TEST(HierarchyTest, AnLlLineTakesOverWhatItsLiveCopiesHaveGathered) {
    auto& caches = this->caches_;
    //                              I1 | D1 set 0, 1 | LL set 0
    caches.data(1, 0x0000, 4);   // -  | 0, -        | 0
    caches.fetch(2, 0x0008, 2);  // 0  | 0, -        | 0
    caches.data(1, 0x0002, 4);   // 0  | 0, -        | 0
    caches.data(3, 0x00c0, 1);   // 0  | 0, 3        | 3 0
    EXPECT_EQ(caches.sink.take(), List{});
    caches.data(3, 0x0240, 1);   // 0  | 0, 9        | 9 3
    // Bytes 0 to 5 as data in two accesses, 8 and 9 as code in one.
    EXPECT_EQ(caches.sink.take(), (List{{'1', 3, 1, 1, 64}, {'L', 1, 3, 8, 64}}));
    // The copies stay.
    EXPECT_EQ(caches.data(1, 0x0000, 1), kHit);
    EXPECT_EQ(caches.fetch(1, 0x0000, 1), kHit);
}

TYPED_TEST(HierarchyTest, TheUseOfALineThatTheLlHasLostIsDropped) {
    auto& caches = this->caches_;
    //                             I1 | D1 set 0, 1 | LL set 0
    caches.data(1, 0x0000, 4);  // -  | 0, -        | 0
    caches.data(3, 0x00c0, 1);  // -  | 0, 3        | 3 0
    caches.data(3, 0x0240, 1);  // -  | 0, 9        | 9 3      0 has left LL
    caches.sink.take();
    caches.data(1, 0x0020, 8);  // -  | 0, 9        | 9 3
    // No other line may get it: Callgrind adds it to the line in the slot of the lost one.
    EXPECT_EQ(
        caches.flush(),
        by_level(List{{'1', 1, 2, 12, 64}, {'1', 3, 1, 1, 64}, {'L', 3, 1, 1, 64}, {'L', 3, 1, 1, 64}}));
}

TYPED_TEST(HierarchyTest, AnLlLineThatCameBackTakesTheUseOfAnOldCopy) {
    auto& caches = this->caches_;
    //                              I1 | D1 set 0, 1 | LL set 0
    caches.data(1, 0x0000, 4);   // -  | 0, -        | 0
    caches.data(3, 0x00c0, 1);   // -  | 0, 3        | 3 0
    caches.data(3, 0x0240, 1);   // -  | 0, 9        | 9 3
    caches.fetch(2, 0x0008, 2);  // 0  | 0, 9        | 0 9
    // The LL holds the same memory again, loaded by another: "if that LL line still holds the same memory".
    EXPECT_EQ(caches.flush(), by_level(List{{'1', 2, 1, 2, 64},
                                            {'1', 1, 1, 4, 64},
                                            {'1', 3, 1, 1, 64},
                                            {'L', 2, 2, 6, 64},
                                            {'L', 3, 1, 1, 64}}));
}

TYPED_TEST(HierarchyTest, FlushingEmptiesAllCaches) {
    auto& caches = this->caches_;
    caches.fetch(1, 0x2000, 3);
    caches.data(2, 0x1040, 4);
    caches.data(3, 0x1000, 5);
    EXPECT_EQ(caches.flush(), by_level(List{{'1', 1, 1, 3, 64},
                                            {'1', 3, 1, 5, 64},
                                            {'1', 2, 1, 4, 64},
                                            {'L', 3, 1, 5, 64},
                                            {'L', 1, 1, 3, 64},
                                            {'L', 2, 1, 4, 64}}));
    EXPECT_EQ(caches.flush(), List{});
    EXPECT_EQ(caches.data(1, 0x1000, 1), kLLMiss);
    EXPECT_EQ(caches.fetch(1, 0x2000, 1), kLLMiss);
}

TYPED_TEST(HierarchyTest, FarAddressesDoNotAlias) {
    auto& caches = this->caches_;
    EXPECT_EQ(caches.data(1, 0x0000'1000, 1), kLLMiss);
    EXPECT_EQ(caches.data(2, 0x1'0000'1000, 1), kLLMiss);
    EXPECT_EQ(caches.data(3, 0xffff'0000'1000, 1), kLLMiss);
}

TEST(Hierarchy, WithoutUseTheSinkIsNotAsked) {
    Caches<test::kCommonNoUse> common{cache(1, 1, 64), cache(2, 1, 64), cache(3, 2, 64)};
    Caches<test::kAnyNoUse> any{cache(1, 1, 64), cache(2, 1, 64), cache(3, 2, 64)};
    const auto run = [](auto& caches) {
        std::vector<Outcome> outcomes;
        for (const Address address : {0x0000, 0x0300, 0x0000, 0x003f, 0x0600, 0x0900, 0x0000}) {
            outcomes.push_back(caches.data(1, address, 2));
        }
        caches.hierarchy.flush();
        EXPECT_EQ(caches.sink.loads, 0u);
        EXPECT_EQ(caches.sink.take(), List{});
        return outcomes;
    };
    //  D1 set 0 with one way, LL set 0 with two:  0 | c 0 | 0 c | 0 c | 18 0 | 24 18 | 0 24
    const std::vector<Outcome> expected{kLLMiss, kLLMiss, kL1Miss, kLLMiss,
                                        kLLMiss, kLLMiss, kLLMiss};
    EXPECT_EQ(run(common), expected);
    EXPECT_EQ(run(any), expected);
}

TEST(Hierarchy, TheCommonGeometryHas64ByteLinesAndPowersOfTwoInFront) {
    const CacheGeometry eight = cache(8, 2, 64);
    const CacheGeometry six = cache(6, 2, 64);
    const CacheGeometry wide = cache(8, 2, 128);
    EXPECT_TRUE(has_common_lines({eight, eight, eight}));
    EXPECT_TRUE(has_common_lines({eight, eight, six}));
    EXPECT_TRUE(has_common_lines({six, eight, eight}));
    EXPECT_TRUE(has_common_lines({eight, six, eight}));
    EXPECT_FALSE(has_common_lines({wide, eight, eight}));
    EXPECT_FALSE(has_common_lines({eight, wide, eight}));
    EXPECT_FALSE(has_common_lines({eight, eight, wide}));
}

// --- Lines of different sizes

TEST(HierarchyLineSizes, AnLlLineGathersTheUseOfTheShorterLinesInFront) {
    Caches<test::kAnyUse> caches{cache(1, 1, 16), cache(4, 1, 32), cache(2, 1, 128)};
    EXPECT_EQ(caches.data(1, 0x1004, 4), kLLMiss);   // bytes 4 to 7 of LL line 0x20
    EXPECT_EQ(caches.data(2, 0x1024, 8), kL1Miss);  // bytes 0x24 to 0x2b
    EXPECT_EQ(caches.data(2, 0x1024, 8), kHit);
    EXPECT_EQ(caches.fetch(3, 0x107f, 1), kL1Miss);  // byte 0x7f
    EXPECT_EQ(
        caches.flush(),
        by_level(List{{'1', 3, 1, 1, 16}, {'1', 1, 1, 4, 32}, {'1', 2, 2, 8, 32}, {'L', 1, 4, 13, 128}}));
}

TEST(HierarchyLineSizes, AnAccessAcrossShortLinesOfOneLongLine) {
    Caches<test::kAnyUse> caches{cache(1, 1, 16), cache(4, 1, 32), cache(2, 1, 128)};
    EXPECT_EQ(caches.data(1, 0x101e, 4), kLLMiss);
    EXPECT_EQ(caches.sink.loads, 3u);  // two lines in D1, one in LL
    // Each of the two lines has seen an access, and the LL gets both.
    EXPECT_EQ(caches.flush(), by_level(List{{'1', 1, 1, 2, 32}, {'1', 1, 1, 2, 32}, {'L', 1, 2, 4, 128}}));
}

TEST(HierarchyLineSizes, AnLlLineTakesOverFromAllShorterCopies) {
    Caches<test::kAnyUse> caches{cache(1, 1, 16), cache(4, 1, 32), cache(1, 1, 128)};
    caches.data(1, 0x1004, 4);   // D1 set 0
    caches.data(2, 0x1064, 8);   // D1 set 3
    caches.fetch(3, 0x1010, 2);  // I1
    caches.sink.take();
    caches.data(4, 0x2020, 1);  // D1 set 1; LL has one line only
    EXPECT_EQ(caches.sink.take(), (List{{'L', 1, 3, 14, 128}}));
}

TEST(HierarchyLineSizes, ALongLineInFrontAsksTheLlForTheBytesAccessedOnly) {
    Caches<test::kAnyUse> caches{cache(1, 1, 16), cache(1, 1, 128), cache(8, 1, 32)};
    EXPECT_EQ(caches.data(1, 0x1030, 4), kLLMiss);  // LL line 0x81
    EXPECT_EQ(caches.sink.loads, 2u);
    EXPECT_EQ(caches.data(1, 0x1010, 4), kHit);  // LL line 0x80, which was not asked for
    EXPECT_EQ(caches.sink.loads, 2u);
    // What was used of the D1 line goes to the LL line that has it; that of line 0x80 is dropped.
    EXPECT_EQ(caches.flush(), by_level(List{{'1', 1, 2, 8, 128}, {'L', 1, 2, 4, 32}}));
}

TEST(HierarchyLineSizes, ALongLineSharesItsUseAmongTheLlLines) {
    Caches<test::kAnyUse> caches{cache(1, 1, 16), cache(1, 1, 128), cache(8, 1, 32)};
    EXPECT_EQ(caches.data(1, 0x1018, 16), kLLMiss);  // 8 bytes of each of lines 0x80 and 0x81
    EXPECT_EQ(caches.sink.loads, 3u);
    EXPECT_EQ(caches.flush(), by_level(List{{'1', 1, 1, 16, 128}, {'L', 1, 1, 8, 32}, {'L', 1, 1, 8, 32}}));
}

TEST(HierarchyLineSizes, AShorterLlLineTakesOverItsPartOfTheCopy) {
    Caches<test::kAnyUse> caches{cache(1, 1, 16), cache(2, 1, 128), cache(1, 1, 32)};
    caches.data(1, 0x1018, 4);  // D1 line 0x20, LL line 0x80
    caches.data(1, 0x1020, 4);  // the same D1 line, another part
    caches.sink.take();
    caches.data(2, 0x1080, 1);  // D1 line 0x21, LL line 0x84 in the slot of 0x80
    EXPECT_EQ(caches.sink.take(), (List{{'L', 1, 2, 4, 32}}));
}

// An access whose second line drives the first out of the LL again: the access has been one of the first,
// too. With none at all a line would cost 1000 / 0.
TEST(HierarchyLineSizes, AnLlLineHasSeenTheAccessThatLoadedIt) {
    Caches<test::kAnyUse> caches{cache(1, 1, 16), cache(1, 1, 128), cache(1, 1, 32)};
    EXPECT_EQ(caches.data(1, 0x1018, 16), kLLMiss);  // LL lines 0x80 and 0x81, one after the other
    EXPECT_EQ(caches.sink.take(), (List{{'L', 1, 1, 8, 32}}));
    EXPECT_EQ(caches.flush(), by_level(List{{'1', 1, 1, 16, 128}, {'L', 1, 1, 8, 32}}));
}

// --- The variants against each other

// The oracle test does this thoroughly, but knows totals only; here every eviction is compared, in order.
TEST(Hierarchy, TheFastPathEvictsTheSameLinesInTheSameOrder) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const auto up_to = [&random](unsigned limit) {
            return 1 + static_cast<std::uint32_t>(random() % limit);
        };
        const CacheGeometry i1 = cache(1u << random() % 3, up_to(3), 64);
        const CacheGeometry d1 = cache(1u << random() % 3, up_to(3), 64);
        const CacheGeometry ll = cache(up_to(7), up_to(4), 64);
        Caches<test::kCommonUse> common{i1, d1, ll};
        Caches<test::kAnyUse> any{i1, d1, ll};
        FakeSink plain_sink;
        // Never takes the fast path: it asks each access whether it writes.
        Hierarchy<test::kAnyAll, FakeSink> plain({i1, d1, ll}, plain_sink, {.write_back = true});
        Accesses<decltype(plain)> plain_accesses(plain);
        for (std::uint32_t step = 1; step < 400; ++step) {
            const Address address = random() % 2048;
            const std::uint32_t size = up_to(random() % 10 == 0 ? 300 : 8);
            plain_sink.target = step;
            if (random() % 3 == 0) {
                const Outcome outcome = plain_accesses.fetch(address, size);
                ASSERT_EQ(common.fetch(step, address, size), outcome) << "seed " << seed << " step " << step;
                ASSERT_EQ(any.fetch(step, address, size), outcome) << "seed " << seed << " step " << step;
            } else {
                const Outcome outcome = plain_accesses.data(AccessKind::kRead, address, size);
                ASSERT_EQ(common.data(step, address, size), outcome) << "seed " << seed << " step " << step;
                ASSERT_EQ(any.data(step, address, size), outcome) << "seed " << seed << " step " << step;
            }
            const List evicted = plain_sink.take();
            ASSERT_EQ(common.sink.take(), evicted) << "seed " << seed << " step " << step;
            ASSERT_EQ(any.sink.take(), evicted) << "seed " << seed << " step " << step;
        }
        plain.flush();
        const List flushed = by_level(plain_sink.take());
        ASSERT_EQ(common.flush(), flushed) << "seed " << seed;
        ASSERT_EQ(any.flush(), flushed) << "seed " << seed;
    }
}

}  // namespace
}  // namespace bd
