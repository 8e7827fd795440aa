// SPDX-License-Identifier: GPL-2.0-or-later
//
// Dirty lines and prefetches in a hierarchy of caches.

#include "engine/cache/last_level.h"

#include <algorithm>
#include <ostream>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cache_fixture.h"
#include "engine/cache/hierarchy.h"

namespace bd {
namespace {

using test::Accesses;
using test::cache;
using test::kLLDirtyMiss;
using test::kL1Miss;
using test::kHit;
using test::kLLMiss;

// An evicted LL line.
struct EvictedFromLl {
    std::uint32_t target;
    std::uint64_t accesses;
    unsigned used;
    bool operator==(const EvictedFromLl&) const = default;
};
std::ostream& operator<<(std::ostream& out, const EvictedFromLl& line) {
    return out << "{target " << line.target << ", accesses " << line.accesses << ", used " << line.used << "}";
}

struct Sink {
    std::uint32_t target = 0;
    std::vector<EvictedFromLl> evicted;

    ChargeTarget on_load(const LoadEvent&) { return {NodeId{target}, CostId{target}}; }
    bool is_counted() const { return counts; }
    bool counts = true;
    template <class Mask>
    void on_evict_data(const EvictDataEvent<Mask>&) {}
    void on_prefetched(const PrefetchEvent& event) {
        (event.is_used ? used_prefetches : lost_prefetches).push_back(index_of(event.target.node));
    }
    std::vector<std::uint32_t> used_prefetches;  // by target
    std::vector<std::uint32_t> lost_prefetches;
    void on_evict(const EvictEvent& event) {
        if (event.level != Level::kLL) return;
        evicted.push_back({index_of(event.target.node), event.accesses, event.used_bytes});
    }
    void drop_charges(ChargeTarget* whose) { *whose = {}; }
};

// Lines are accessed in their first 8 bytes.
template <CacheTraits kTraits>
struct WritingCaches {
    WritingCaches(const CacheGeometries& caches, NextLevelConfig config)
        : bits(caches.d1.line_bits()), hierarchy(caches, sink, config) {}

    Outcome data(Address address, std::uint32_t size) {
        return accesses.data(AccessKind::kRead, address, size);
    }
    Outcome write(Address address, std::uint32_t size) {
        return accesses.data(AccessKind::kWrite, address, size);
    }
    Outcome read(Address line) { return data(line << bits, 8); }
    Outcome write(Address line) { return write(line << bits, 8); }
    Outcome fetch(Address line) { return accesses.fetch(line << bits, 8); }

    Sink sink;
    unsigned bits;
    Hierarchy<kTraits, Sink> hierarchy;
    Accesses<decltype(hierarchy)> accesses{hierarchy};
};

// I1 has one line, D1 two sets of one way, the LL three sets of two ways: line n is in set n % 2 and n % 3.
template <class CachesType>
class DirtyLinesTest : public testing::Test {
protected:
    CachesType caches_{{cache(1, 1, 64), cache(2, 1, 64), cache(3, 2, 64)}, {.write_back = true}};
};
using WritingVariants =
    testing::Types<WritingCaches<test::kCommonAll>, WritingCaches<test::kAnyAll>, WritingCaches<test::kCommonDirty>>;
TYPED_TEST_SUITE(DirtyLinesTest, WritingVariants);

TYPED_TEST(DirtyLinesTest, AWrittenLineIsWrittenBackWhenItLeavesLl) {
    auto& caches = this->caches_;
    //                                           D1 set 0, 1 | LL set 0        (* dirty)
    EXPECT_EQ(caches.write(0), kLLMiss);    // 0*, -       | 0
    EXPECT_EQ(caches.read(6), kLLMiss);     // 6, -        | 6 0*
    EXPECT_EQ(caches.read(3), kLLDirtyMiss);    // 6, 3        | 3 6
    EXPECT_EQ(caches.read(9), kLLMiss);     // 6, 9        | 9 3
}

TYPED_TEST(DirtyLinesTest, ADirtyCopyInD1MakesTheLlLineDirty) {
    auto& caches = this->caches_;
    EXPECT_EQ(caches.write(0), kLLMiss);    // 0*, -       | 0
    EXPECT_EQ(caches.read(3), kLLMiss);     // 0*, 3       | 3 0
    EXPECT_EQ(caches.read(9), kLLDirtyMiss);    // 0*, 9       | 9 3
}

TYPED_TEST(DirtyLinesTest, AWriteThatHitsMakesALineDirty) {
    auto& caches = this->caches_;
    EXPECT_EQ(caches.read(0), kLLMiss);     // 0, -        | 0
    EXPECT_EQ(caches.write(0), kHit);         // 0*, -       | 0
    EXPECT_EQ(caches.read(6), kLLMiss);     // 6, -        | 6 0*
    EXPECT_EQ(caches.read(3), kLLDirtyMiss);    // 6, 3        | 3 6
}

TYPED_TEST(DirtyLinesTest, WhatWasOnlyReadIsNotWrittenBack) {
    auto& caches = this->caches_;
    for (const Address line : {0, 6, 3, 9, 0, 6}) EXPECT_EQ(caches.read(line), kLLMiss);
}

TYPED_TEST(DirtyLinesTest, ALineIsWrittenBackOnce) {
    auto& caches = this->caches_;
    caches.write(0);                          // 0*, -       | 0
    caches.read(6);                           // 6, -        | 6 0*
    EXPECT_EQ(caches.read(3), kLLDirtyMiss);    // 6, 3        | 3 6
    EXPECT_EQ(caches.read(0), kLLMiss);     // 0, 3        | 0 3
    EXPECT_EQ(caches.read(6), kLLMiss);     // 6, 3        | 6 0
    EXPECT_EQ(caches.read(9), kLLMiss);     // 6, 9        | 9 6
}

TYPED_TEST(DirtyLinesTest, AnInstructionFetchMayDriveOutADirtyLine) {
    auto& caches = this->caches_;
    caches.write(0);
    caches.read(6);
    EXPECT_EQ(caches.fetch(12), kLLDirtyMiss);
}

// Lines 0 and 1 miss; only the slot for the first was dirty.
TYPED_TEST(DirtyLinesTest, AnAccessOfSeveralLinesIsOneMissWithAWriteBackIfAnyHasOne) {
    auto& caches = this->caches_;
    caches.write(6);                          // 6*, -       | 6
    caches.read(12);                          // 12, -       | 12 6*
    EXPECT_EQ(caches.data(0x3c, 8), kLLDirtyMiss);
}

TYPED_TEST(DirtyLinesTest, AWriteAcrossLinesMakesAllOfThemDirty) {
    auto& caches = this->caches_;
    caches.write(0x3c, 8);          // 0*, 1*      | 0 in set 0, 1 in set 1
    caches.read(6);                           // 6, 1*       | 6 0*
    caches.read(7);                           // 6, 7        |               7 1*
    EXPECT_EQ(caches.read(3), kLLDirtyMiss);    // 6, 3        | 3 6
    EXPECT_EQ(caches.read(4), kLLDirtyMiss);    // 4, 3        |               4 7
}

TYPED_TEST(DirtyLinesTest, EmptiedCachesAreClean) {
    auto& caches = this->caches_;
    caches.write(0);
    caches.hierarchy.flush();
    for (const Address line : {6, 12, 3}) EXPECT_EQ(caches.read(line), kLLMiss);
}

// D1 has lines of 128 bytes: written back, they make both LL lines dirty. LL is one set of two ways.
TEST(DirtyLines, ALongLineIsWrittenBackAsAWhole) {
    WritingCaches<test::kAnyAll> caches({cache(1, 1, 128), cache(1, 1, 128), cache(1, 2, 64)}, {.write_back = true});
    EXPECT_EQ(caches.write(0, 128), kLLMiss);      // 0*             | 1 0     (D1 | LL)
    EXPECT_EQ(caches.data(0x80, 4), kLLDirtyMiss);     // 1              | 2 1*
    EXPECT_EQ(caches.data(0x100, 4), kLLDirtyMiss);    // 2              | 4 2
    EXPECT_EQ(caches.data(0x180, 4), kLLMiss);
}

// LL is one set of three ways.
TEST(DirtyLines, TheLineBehindIsNotWrittenBackWithIt) {
    WritingCaches<test::kAnyAll> caches({cache(1, 1, 64), cache(1, 1, 64), cache(1, 3, 64)}, {.write_back = true});
    EXPECT_EQ(caches.read(1), kLLMiss);       // 1     | 1          (D1 | LL)
    EXPECT_EQ(caches.write(0), kLLMiss);      // 0*    | 0 1
    EXPECT_EQ(caches.read(2), kLLMiss);       // 2     | 2 0* 1
    EXPECT_EQ(caches.read(3), kLLMiss);       // 3     | 3 2 0*
    EXPECT_EQ(caches.read(4), kLLDirtyMiss);  // 4     | 4 3 2
}

// D1: one line, L2: two, LL: three.
TEST(DirtyLines, AWrittenLineGoesFromLevelToLevel) {
    WritingCaches<test::with_l2(test::kCommonAll)> caches(
        {cache(1, 1, 64), cache(1, 1, 64), cache(1, 3, 64), cache(1, 2, 64)}, {.write_back = true});
    EXPECT_EQ(caches.write(1), kLLMiss);      // 1* | 1      | 1          (D1 | L2 | LL)
    EXPECT_EQ(caches.read(2), kLLMiss);       // 2  | 2 1*   | 2 1
    EXPECT_EQ(caches.read(3), kLLMiss);       // 3  | 3 2    | 3 2 1*
    EXPECT_EQ(caches.read(4), kLLDirtyMiss);  // 4  | 4 3    | 4 3 2
    EXPECT_EQ(caches.write(3), kL1Miss);      // 3* | 3 4
    EXPECT_EQ(caches.read(5), kLLMiss);       // 5  | 5 3*   | 5 4 3
    EXPECT_EQ(caches.read(6), kLLDirtyMiss) << "3 is dirty in L2 when it leaves LL, as it has left L2 before";
}

// LL has room for all: sixteen sets of two ways.
template <class CachesType>
class PrefetchTest : public testing::Test {
protected:
    CachesType caches_{{cache(1, 1, 64), cache(2, 1, 64), cache(16, 2, 64)}, {.callgrind_prefetcher = true}};
};
TYPED_TEST_SUITE(PrefetchTest, WritingVariants);

TYPED_TEST(PrefetchTest, AStreamFindsItsLinesInLl) {
    auto& caches = this->caches_;
    for (Address line = 100; line < 107; ++line) EXPECT_EQ(caches.read(line), kLLMiss) << line;
    for (Address line = 107; line < 120; ++line) EXPECT_EQ(caches.read(line), kL1Miss) << line;
}

TYPED_TEST(PrefetchTest, InstructionsMakeStreamsToo) {
    auto& caches = this->caches_;
    for (Address line = 106; line > 99; --line) EXPECT_EQ(caches.fetch(line), kLLMiss) << line;
    EXPECT_EQ(caches.read(99), kL1Miss);
}

TYPED_TEST(PrefetchTest, L1HitsMakeNoStream) {
    auto& caches = this->caches_;
    caches.read(100);
    caches.read(101);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(caches.read(100 + i % 2), kHit);
    EXPECT_EQ(caches.read(102), kLLMiss) << "still the third line of the stream";
    EXPECT_EQ(caches.read(107), kL1Miss);
}

// No option asks which lines are written to, not even where D1 looks at each access for another reason.
TYPED_TEST(PrefetchTest, WithoutWriteBacksNoLineIsDirty) {
    auto& caches = this->caches_;
    EXPECT_EQ(caches.write(0x103c, 8), kLLMiss);  // lines 0x40 and 0x41, one in each set of D1
    EXPECT_EQ(caches.read(0x42), kLLMiss);
    EXPECT_EQ(caches.read(0x43), kLLMiss);
    EXPECT_EQ(caches.read(0x40), kL1Miss);
    EXPECT_EQ(caches.read(0x41), kL1Miss);
}

// Lines 107 to 109 belong to who read 102 to 104. Of those, 107 is used in the end, by another.
TEST(Prefetch, APrefetchedLineIsChargedToTheAccessThatTriggeredIt) {
    WritingCaches<test::kCommonAll> caches({cache(1, 1, 64), cache(2, 1, 64), cache(16, 2, 64)},
                                           {.callgrind_prefetcher = true});
    for (std::uint32_t line = 100; line < 105; ++line) {
        caches.sink.target = line;
        caches.read(line);
    }
    caches.sink.target = 1;
    EXPECT_EQ(caches.read(107), kL1Miss);
    caches.hierarchy.flush();
    std::vector<EvictedFromLl>& evicted = caches.sink.evicted;
    std::ranges::sort(evicted, {}, [](const EvictedFromLl& line) { return std::pair(line.target, line.accesses); });
    EXPECT_EQ(evicted, (std::vector<EvictedFromLl>{{100, 1, 8}, {101, 1, 8}, {102, 1, 8}, {102, 1, 8},
                                             {103, 0, 0}, {103, 1, 8}, {104, 0, 0}, {104, 1, 8}}));
}

TEST(Prefetch, WhatIsInLlIsNotPrefetched) {
    WritingCaches<test::kCommonAll> caches({cache(1, 1, 64), cache(2, 1, 64), cache(16, 2, 64)},
                                           {.callgrind_prefetcher = true});
    for (const Address line : {107, 100, 101, 102}) EXPECT_EQ(caches.read(line), kLLMiss);
    caches.hierarchy.flush();
    EXPECT_EQ(caches.sink.evicted, (std::vector<EvictedFromLl>{{0, 1, 8}, {0, 1, 8}, {0, 1, 8}, {0, 1, 8}}));
}

// A prefetch is no miss: that it evicted a dirty line shows nowhere.
TEST(Prefetch, AWriteBackCausedByAPrefetchIsNoMiss) {
    // LL: eight sets of one way. 102 fetches 107, in the slot of 75, which is dirty.
    WritingCaches<test::kCommonAll> caches({cache(1, 1, 64), cache(2, 1, 64), cache(8, 1, 64)},
                              {.write_back = true, .callgrind_prefetcher = true});
    EXPECT_EQ(caches.write(75), kLLMiss);
    for (const Address line : {100, 101, 102}) EXPECT_EQ(caches.read(line), kLLMiss);
    EXPECT_EQ(caches.read(107), kL1Miss);
    EXPECT_EQ(caches.read(75), kLLMiss);
}

// By hand. All lines are in one page, which has lines 0x40 to 0x7f.
struct PrefetchedLines {
    Prefetchers prefetchers;
    std::vector<std::uint64_t> take(std::uint64_t number, bool missed = true) {
        std::vector<std::uint64_t> wanted;
        prefetchers.after(test::line(number), missed,
                          [&](LineNumber each) { wanted.push_back(static_cast<std::uint64_t>(each)); });
        return wanted;
    }
    std::vector<std::uint64_t> take_of(Address instruction, Address address) {
        std::vector<std::uint64_t> wanted;
        prefetchers.after_instruction(
            instruction, address, [&](LineNumber each) { wanted.push_back(static_cast<std::uint64_t>(each)); });
        return wanted;
    }
};
using Wanted = std::vector<std::uint64_t>;

TEST(Prefetchers, TheOtherLineOfAPairThatMisses) {
    PrefetchedLines lines{Prefetchers({.adjacent = true}, 6)};
    EXPECT_EQ(lines.take(0x46), Wanted{0x47});
    EXPECT_EQ(lines.take(0x47, false), Wanted{});
    EXPECT_EQ(lines.take(0x4b), Wanted{0x4a});
}

TEST(Prefetchers, TheLineBehindOneThatMisses) {
    PrefetchedLines lines{Prefetchers({.next = true}, 6)};
    EXPECT_EQ(lines.take(0x46), Wanted{0x47});
    EXPECT_EQ(lines.take(0x47, false), Wanted{});
    EXPECT_EQ(lines.take(0x47), Wanted{0x48});
    EXPECT_EQ(lines.take(0x7f), Wanted{});  // the next one is in another page
}

TEST(Prefetchers, StreamsGoUpOrDownAPage) {
    PrefetchedLines lines{Prefetchers({.stream = true}, 6)};
    EXPECT_EQ(lines.take(0x50), Wanted{});
    EXPECT_EQ(lines.take(0x51), Wanted{});
    EXPECT_EQ(lines.take(0x51), Wanted{});
    EXPECT_EQ(lines.take(0x55), (Wanted{0x56, 0x57}));
    EXPECT_EQ(lines.take(0x95), Wanted{});  // another page
    EXPECT_EQ(lines.take(0x7e), Wanted{0x7f});
    EXPECT_EQ(lines.take(0x44), Wanted{});
    EXPECT_EQ(lines.take(0x41), Wanted{0x40});
    EXPECT_EQ(lines.take(0x40), Wanted{});
    lines.prefetchers.clear();
    EXPECT_EQ(lines.take(0x3f), Wanted{});
}

TEST(Prefetchers, SixteenPagesAreFollowed) {
    for (const std::uint64_t others : {15, 16}) {
        PrefetchedLines lines{Prefetchers({.stream = true}, 6)};
        lines.take(0x50);
        lines.take(0x51);
        for (std::uint64_t page = 0; page < others; ++page) lines.take(0x1000 + page * 0x40);
        EXPECT_EQ(lines.take(0x52), others == 15 ? (Wanted{0x53, 0x54}) : Wanted{}) << others;
    }
}

TEST(Prefetchers, StridesOfInstructions) {
    PrefetchedLines lines{Prefetchers({.stride = true}, 6)};
    EXPECT_EQ(lines.take_of(0x10, 0x1000), Wanted{});
    EXPECT_EQ(lines.take_of(0x11, 0x1800), Wanted{});
    EXPECT_EQ(lines.take_of(0x10, 0x1300), Wanted{});
    EXPECT_EQ(lines.take_of(0x10, 0x1600), Wanted{0x1900 / 64});
    EXPECT_EQ(lines.take_of(0x10, 0x1900), Wanted{0x1c00 / 64});
    EXPECT_EQ(lines.take_of(0x10, 0x1c00), Wanted{0x1f00 / 64});
    EXPECT_EQ(lines.take_of(0x10, 0x1f00), Wanted{});  // the next one is in another page
    EXPECT_EQ(lines.take_of(0x10, 0x1000), Wanted{});
    // 2 KiB, and more.
    for (const Address address : {0x4000, 0x3800}) EXPECT_EQ(lines.take_of(0x20, address), Wanted{}) << address;
    EXPECT_EQ(lines.take_of(0x20, 0x3000), Wanted{});  // to 0x2800, in another page
    for (const Address address : {0x7ff8, 0x77f8}) EXPECT_EQ(lines.take_of(0x21, address), Wanted{}) << address;
    for (const Address address : {0x9010, 0x9010, 0x9010}) EXPECT_EQ(lines.take_of(0x22, address), Wanted{});
    // Another instruction with the same low bits takes the place.
    EXPECT_EQ(lines.take_of(0x30, 0xa000), Wanted{});
    EXPECT_EQ(lines.take_of(0x30, 0xa100), Wanted{});
    EXPECT_EQ(lines.take_of(0x130, 0xa200), Wanted{});
    EXPECT_EQ(lines.take_of(0x30, 0xa200), Wanted{});
    EXPECT_EQ(lines.take_of(0x30, 0xa300), Wanted{});
    EXPECT_EQ(lines.take_of(0x30, 0xa400), Wanted{0xa500 / 64});
}

// By hand: LL has what L2 evicts, and gives back what it has. D1 has one line, L2 two, LL two.
TEST(ExclusiveLastLevel, LinesMoveUpAndDown) {
    CacheGeometries caches{
        .i1 = cache(1, 1, 64), .d1 = cache(1, 1, 64), .ll = cache(1, 2, 64), .l2 = cache(1, 2, 64)};
    caches.ll_inclusion = Inclusion::kExclusive;
    WritingCaches<test::with_l2(test::kCommonAll)> lines(caches, {.write_back = true});
    const auto read = [&](std::uint32_t target, Address line) {
        lines.sink.target = target;
        return lines.read(line);
    };
    using Evicted = std::vector<EvictedFromLl>;
    EXPECT_EQ(read(1, 1), kLLMiss);          // D1  L2     LL
    EXPECT_EQ(read(2, 2), kLLMiss);          // 2   2 1
    EXPECT_EQ(read(3, 3), kLLMiss);          // 3   3 2    1
    EXPECT_EQ(read(4, 1), Outcome::kL2Miss); // 1   1 3    2
    EXPECT_EQ(lines.write(4), kLLMiss);      // 4*  4 1    3 2
    EXPECT_EQ(lines.sink.evicted, Evicted{});
    EXPECT_EQ(read(5, 5), kLLMiss);          // 5   5 4*   1 3    without 2
    EXPECT_EQ(lines.sink.evicted, (Evicted{{2, 1, 8}}));
    EXPECT_EQ(read(6, 6), kLLMiss);          // 6   6 5    4* 1   without 3
    EXPECT_EQ(read(7, 7), kLLMiss);          // 7   7 6    5 4*   without 1, which was loaded by 1, and used twice
    EXPECT_EQ(lines.sink.evicted, (Evicted{{2, 1, 8}, {3, 1, 8}, {1, 2, 8}}));
    EXPECT_EQ(read(8, 8), kLLDirtyMiss);     // 8   8 7    6 5
    EXPECT_EQ(read(9, 5), Outcome::kL2Miss); // 5   5 8    7 6
    EXPECT_EQ(lines.sink.evicted.size(), 4u);
    lines.hierarchy.flush();
    EXPECT_EQ(lines.sink.evicted.size(), 8u);
}

// By hand: a prefetched line belongs to the access that it followed, and is used by the first that looks for it in LL.
TEST(Prefetchers, LinesAreUsedOrLost) {
    const CacheGeometries caches{.i1 = cache(1, 1, 64), .d1 = cache(1, 1, 64), .ll = cache(1, 4, 64)};
    Sink sink;
    Hierarchy<test::kCommonAll, Sink> hierarchy(caches, sink, {.prefetchers = {.adjacent = true}});
    Accesses<decltype(hierarchy)> accesses(hierarchy);
    const auto read = [&](std::uint32_t target, Address address) {
        sink.target = target;
        return accesses.data(AccessKind::kRead, address, 8);
    };
    using Targets = std::vector<std::uint32_t>;
    EXPECT_EQ(read(1, 0x1000), kLLMiss);  // LL: 40, and 41
    EXPECT_EQ(read(2, 0x1100), kLLMiss);  // 40 41 44 45
    EXPECT_EQ(sink.used_prefetches, Targets{});
    EXPECT_EQ(read(3, 0x1040), kL1Miss);  // 40 44 45 41
    EXPECT_EQ(sink.used_prefetches, Targets{1});
    EXPECT_EQ(read(4, 0x1040), kHit);
    EXPECT_EQ(read(5, 0x1200), kLLMiss);  // 45 41 48 49
    EXPECT_EQ(read(6, 0x1300), kLLMiss);  // 48 49 4c 4d
    EXPECT_EQ(sink.used_prefetches, Targets{1});
    EXPECT_EQ(sink.lost_prefetches, Targets{2});
    hierarchy.flush();
    EXPECT_EQ(sink.used_prefetches, Targets{1});
    EXPECT_EQ(sink.lost_prefetches, (Targets{2, 5, 6}));
}

// By hand: the same in an L2 of four lines, which prefetches from memory and from LL.
TEST(Prefetchers, LinesOfL2AreUsedOrLost) {
    const CacheGeometries caches{
        .i1 = cache(1, 1, 64), .d1 = cache(1, 1, 64), .ll = cache(1, 7, 64), .l2 = cache(1, 4, 64)};
    Sink sink;
    Hierarchy<test::with_l2(test::kCommonAll), Sink> hierarchy(caches, sink, {.l2_prefetchers = {.adjacent = true}});
    Accesses<decltype(hierarchy)> accesses(hierarchy);
    const auto read = [&](std::uint32_t target, Address address) {
        sink.target = target;
        return accesses.data(AccessKind::kRead, address, 8);
    };
    using Targets = std::vector<std::uint32_t>;
    EXPECT_EQ(read(1, 0x1000), kLLMiss);           // L2: 40 41        LL: 40 41
    EXPECT_EQ(read(2, 0x1100), kLLMiss);           // 40 41 44 45      40 41 44 45
    EXPECT_EQ(read(3, 0x1040), kL1Miss);           // 40 44 45 41
    EXPECT_EQ(sink.used_prefetches, Targets{1});
    EXPECT_EQ(read(4, 0x1200), kLLMiss);           // 45 41 48 49      40 41 44 45 48 49
    EXPECT_EQ(read(5, 0x1140), kL1Miss);           // 41 48 49 45
    EXPECT_EQ(read(6, 0x1100), Outcome::kL2Miss);  // 48 49 45 44      40 41 45 48 49 44
    EXPECT_EQ(sink.used_prefetches, (Targets{1, 2}));
    EXPECT_EQ(read(7, 0x1000), Outcome::kL2Miss);  // 45 44 40 41      45 48 49 44 40 41
    EXPECT_EQ(sink.lost_prefetches, Targets{4});
    EXPECT_EQ(read(8, 0x1300), kLLMiss);           // 40 41 4c 4d      48 49 44 40 41 4c 4d
    EXPECT_EQ(read(9, 0x1340), kL1Miss);           // 40 41 4c 4d
    EXPECT_EQ(sink.used_prefetches, (Targets{1, 2, 8}));
    EXPECT_EQ(sink.lost_prefetches, Targets{4});
    EXPECT_EQ(sink.evicted.size(), 1u);            // 45, which was used by 5
    hierarchy.flush();
    EXPECT_EQ(sink.lost_prefetches, (Targets{4, 7}));
    EXPECT_EQ(sink.evicted.size(), 8u);
}

}  // namespace
}  // namespace bd
