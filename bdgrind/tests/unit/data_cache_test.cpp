// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/data_cache.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "data_cache_fixture.h"
#include "program.h"

namespace bd {
namespace {

using test::Ahead;
using test::AnyLines;
using test::cache;
using test::Dirty;
using test::line;
using test::Plain;
using test::Program;
using test::Trace;

// A miss; its record by number. Of what it evicts: accesses and used bytes.
struct Seen {
    std::size_t record;
    unsigned access;
    Address address;
    std::uint32_t bytes;
    std::uint32_t slot;
    std::uint64_t accesses = 0;
    unsigned used = 0;

    bool operator==(const Seen&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Seen& miss) {
    return out << "{record " << miss.record << ", access " << miss.access << ", address " << std::hex << miss.address
               << std::dec << ", bytes " << miss.bytes << ", slot " << static_cast<std::int32_t>(miss.slot)
               << ", accesses " << miss.accesses << ", used " << miss.used << "}";
}
using Misses = std::vector<Seen>;

constexpr AccessKind kRead = AccessKind::kRead;
constexpr AccessKind kWrite = AccessKind::kWrite;
constexpr std::uint32_t kNoAccess = ~std::uint32_t{0};

class DataCacheTest : public testing::Test {
protected:
    // Blocks must differ.
    test::Code code() { return program_.code(function_, 0x1000 + 0x100 * blocks_++); }
    Block& reads(std::uint32_t size) { return code().op().reads(size).ends(); }

    // A record of the block, which has one access.
    void run(Block& block, Address address) { trace_.run(block, 0, {address}); }

    std::uint32_t start_of(std::size_t record) const {
        return static_cast<std::uint32_t>(trace_.batch(record, record).data() - trace_.all().data());
    }
    std::size_t record_at(std::uint32_t start) const {
        std::size_t record = 0;
        while (start_of(record) < start) ++record;
        EXPECT_EQ(start_of(record), start);
        return record;
    }

    // Those of the whole trace.
    template <class V>
    Misses misses(Ahead<V>& ahead) {
        EXPECT_EQ(ahead.run(trace_.all()).size(), trace_.all().size());
        Misses list;
        for (const auto& miss : ahead.misses()) {
            list.push_back({record_at(miss.at.record), miss.at.access, miss.at.address, miss.bytes, miss.slot,
                            miss.evicted.accesses, miss.evicted.bytes.count()});
        }
        return list;
    }

    Program program_;
    const Function& function_ = program_.function("f");
    Address blocks_ = 0;
    Trace trace_;
};

TEST_F(DataCacheTest, AMissTellsWhereItIsAndWhatWasThere) {
    Ahead<Plain> ahead(cache(2, 2, 64));
    Block& read = reads(8);
    //                   set 0      set 1       (most recently used line first)
    run(read, 0x1000);  // 40
    run(read, 0x1004);  // 40
    run(read, 0x1040);  // 40         41
    run(read, 0x1080);  // 42 40
    run(read, 0x1038);  // 40 42
    run(read, 0x1100);  // 44 40
    run(read, 0x1180);  // 46 44
    EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x1000, 8, 0},
                                     {2, 0, 0x1040, 8, 2},
                                     {3, 0, 0x1080, 8, 1},
                                     {5, 0, 0x1100, 8, 1, 1, 8},
                                     {6, 0, 0x1180, 8, 0, 3, 20}}));
}

TEST_F(DataCacheTest, LinesStayFromChunkToChunk) {
    Ahead<Plain> ahead(cache(1, 1, 64));
    run(reads(8), 0x1000);
    EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x1000, 8, 0}}));
    trace_ = Trace();
    run(reads(4), 0x1020);
    EXPECT_EQ(misses(ahead), Misses{});
    trace_ = Trace();
    run(reads(8), 0x2000);
    EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x2000, 8, 0, 2, 12}}));
}

TEST_F(DataCacheTest, AnAccessAcrossLinesMissesByParts) {
    Ahead<Plain> ahead(cache(4, 1, 64));
    run(reads(8), 0x103c);    // lines 40 and 41
    run(reads(8), 0x103c);    // hits
    run(reads(80), 0x1078);   // lines 41, 42 and 43
    EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x103c, 4, 0},
                                     {0, 0, 0x1040, 4, 1},
                                     {2, 0, 0x1080, 64, 2},
                                     {2, 0, 0x10c0, 8, 3}}));
}

// Three reads at 0, -12 and 8 bytes from the address.
TEST_F(DataCacheTest, AGroupInOneLineMissesOnceWithItsFirstAccess) {
    Ahead<Plain> ahead(cache(2, 1, 64));
    Block& group = code().op().reads(4).joins(8, kRead, -12).op().joins(2, kRead, 8).ends();
    ASSERT_EQ(group.group_count, 1u);
    run(group, 0x1020);
    run(group, 0x1024);
    run(reads(1), 0x2000);
    EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x1020, 4, 0},
                                     {2, 0, 0x2000, 1, 0, 6, 8 + 4 + 4 + 4 + 2 + 2}}));
}

TEST_F(DataCacheTest, AGroupCountsBeforeItsEndAsFarAsItHasCome) {
    Ahead<Plain> ahead(cache(2, 1, 64));
    Block& group = code().op().reads(4).joins(8, kRead, -12).op().joins(2, kRead, 8).ends();
    run(reads(1), 0x1000);
    run(group, 0x1020);
    misses(ahead);
    const auto accesses_before = [&](std::uint16_t access, Address address) {
        return ahead.use_before({start_of(1), access, address}, 0, line(0x40)).accesses;
    };
    EXPECT_EQ(accesses_before(0, 0), 1u);
    EXPECT_EQ(accesses_before(0, 0x1020), 1u);
    EXPECT_EQ(accesses_before(0, 0x1021), 2u);  // behind its beginning
    EXPECT_EQ(accesses_before(1, 0), 2u);
    EXPECT_EQ(accesses_before(2, 0), 3u);
    EXPECT_EQ(accesses_before(3, 0), 4u);
    EXPECT_EQ(ahead.use_before({start_of(1), 2, 0}, 0, line(0x40)).bytes.count(), 1u + 4 + 8);
}

// A group of three accesses, the second of which straddles: bytes 38 to 3b, 3c to 43, and 44 to 45 or 30 to 31. D1 is
// one set of two ways, so that the order in which the lines are used shows.
TEST_F(DataCacheTest, AGroupAcrossTwoLinesThatAreHereHits) {
    for (const bool ends_low : {false, true}) {
        Ahead<Plain> ahead(cache(1, 2, 64));
        Block& group = code().op().reads(4).joins(8, kRead, 4).joins(2, kRead, ends_low ? -8 : 12).ends();
        ASSERT_EQ(group.group_count, 1u);
        Block& read = reads(1);
        trace_ = Trace();
        run(read, 0x1000);
        run(read, 0x1040);
        run(group, 0x1038);
        run(read, 0x2000);
        run(read, 0x2040);
        const Seen low{ends_low ? 4u : 3u, 0, ends_low ? 0x2040u : 0x2000u, 1, 0, ends_low ? 4u : 3u,
                       1u + 4 + 4 + (ends_low ? 2 : 0)};
        const Seen high{ends_low ? 3u : 4u, 0, ends_low ? 0x2000u : 0x2040u, 1, 1, ends_low ? 2u : 3u,
                        ends_low ? 4u : 6u};
        const Misses expected = ends_low ? Misses{high, low} : Misses{low, high};
        EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x1000, 1, 0}, {1, 0, 0x1040, 1, 1}, expected[0], expected[1]}));
    }
}

// Reads at 38, 40 and 3c, one line of which is absent.
TEST_F(DataCacheTest, AGroupAcrossTwoLinesMissesTheOneThatIsAbsent) {
    for (const bool has_low : {false, true}) {
        Ahead<Plain> ahead(cache(2, 1, 64));
        Block& group = code().op().reads(4).joins(8, kRead, 8).joins(4, kRead, 4).ends();
        trace_ = Trace();
        run(reads(1), has_low ? 0x1000 : 0x1040);
        run(group, 0x1038);
        run(reads(1), 0x2000);
        run(reads(1), 0x2040);
        if (has_low) {
            EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x1000, 1, 0},
                                             {1, 1, 0x1040, 8, 1},
                                             {2, 0, 0x2000, 1, 0, 3, 9},
                                             {3, 0, 0x2040, 1, 1, 1, 8}}));
        } else {
            EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x1040, 1, 1},
                                             {1, 0, 0x1038, 4, 0},
                                             {2, 0, 0x2000, 1, 0, 2, 8},
                                             {3, 0, 0x2040, 1, 1, 2, 8}}));
        }
    }
}

// The line of the first access evicts that of the last one: there is but one.
TEST_F(DataCacheTest, AGroupMayDriveOutItsOwnLines) {
    Ahead<Plain> ahead(cache(1, 1, 64));
    Block& group = code().op().reads(4).joins(4, kRead, 8).joins(4, kRead, 4).ends();
    run(group, 0x1038);
    run(group, 0x1038);
    EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x1038, 4, 0},
                                     {0, 1, 0x1040, 4, 0, 1, 4},
                                     {0, 2, 0x103c, 4, 0, 1, 4},
                                     {1, 1, 0x1040, 4, 0, 2, 8},
                                     {1, 2, 0x103c, 4, 0, 1, 4}}));
}

// Accesses at e, 10 and 24: lines of 16 bytes.
TEST_F(DataCacheTest, AGroupMayCoverThreeShortLines) {
    Ahead<AnyLines> ahead(cache(4, 1, 16));
    Block& group = code().op().reads(2).joins(8, kRead, 2).joins(2, kRead, 22).ends();
    ASSERT_EQ(group.group_count, 1u);
    run(group, 0x100e);
    run(group, 0x100e);
    run(reads(48), 0x2000);
    EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x100e, 2, 0},
                                     {0, 1, 0x1010, 8, 1},
                                     {0, 2, 0x1024, 2, 2},
                                     {2, 0, 0x2000, 16, 0, 2, 2},
                                     {2, 0, 0x2010, 16, 1, 2, 8},
                                     {2, 0, 0x2020, 16, 2, 2, 2}}));
}

TEST_F(DataCacheTest, AnAccessThatDidNotHappenIsListedAmongTheMisses) {
    Ahead<Plain> ahead(cache(2, 1, 64));
    Block& block = code().op().reads(4).op().may_write(8).op().may_read(8).ends();
    trace_.run(block, 0, {0x1000, 0, 0x1008});
    trace_.run(block, 0, {0x1000, 0x1010, 0});
    run(reads(1), 0x2000);
    EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x1000, 4, 0},
                                     {0, 1, 0, 0, kNoAccess},
                                     {1, 2, 0, 0, kNoAccess},
                                     {2, 0, 0x2000, 1, 0, 4, 20}}));
    EXPECT_EQ(Ahead<Plain>::Miss::kNoAccess, kNoAccess);
}

// Nor does it touch the line that a true access to such an address would.
TEST_F(DataCacheTest, AnAccessThatDidNotHappenUsesNoLine) {
    for (const std::uint64_t sets : {1, 2, 3}) {
        Ahead<Plain> ahead(cache(sets, 1, 64));
        Block& guarded = code().op().may_read(8).ends();
        trace_ = Trace();
        run(reads(4), 0x20);
        run(guarded, 0);
        run(guarded, 0x8);
        run(reads(4), 0x1800);
        EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x20, 4, 0}, {1, 0, 0, 0, kNoAccess}, {3, 0, 0x1800, 4, 0, 2, 12}}));
        EXPECT_EQ(ahead.use_before({start_of(1), 1, 0}, 0, line(0)).accesses, 1u);
        EXPECT_EQ(ahead.use_before({start_of(2), 1, 0}, 0, line(0)).accesses, 2u);
    }
}

// Line 0 is looked for in another way than others, and then in that way alone: line 1 behind it is not used.
TEST_F(DataCacheTest, AnAccessToLineZeroUsesNoOther) {
    Ahead<Plain> ahead(cache(1, 3, 64));
    Block& read = reads(8);
    //                  most recently used line first
    run(read, 0x10);  // 0
    run(read, 0x40);  // 1 0
    run(read, 0x80);  // 2 1 0
    run(read, 0x20);  // 0 2 1
    run(read, 0xc0);  // 3 0 2
    EXPECT_EQ(misses(ahead),
              (Misses{{0, 0, 0x10, 8, 0}, {1, 0, 0x40, 8, 1}, {2, 0, 0x80, 8, 2}, {4, 0, 0xc0, 8, 1, 1, 8}}));
}

// A group has a bit for each of up to 64 bytes.
TEST_F(DataCacheTest, AnAccessOf65BytesUsesAllOfThem) {
    Ahead<Plain> ahead(cache(2, 1, 64));
    run(reads(1), 0x1000);
    run(reads(1), 0x1040);
    run(reads(65), 0x1010);  // 48 bytes of line 40, 17 of line 41
    run(reads(1), 0x2000);
    run(reads(1), 0x2040);
    EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x1000, 1, 0},
                                     {1, 0, 0x1040, 1, 1},
                                     {3, 0, 0x2000, 1, 0, 2, 49},
                                     {4, 0, 0x2040, 1, 1, 2, 17}}));
}

TEST_F(DataCacheTest, AnAccessThatDidNotHappenUsesNeitherOfTwoLines) {
    Ahead<AnyLines> ahead(cache(2, 1, 16));
    run(reads(20), 0);
    run(code().op().may_read(20).ends(), 0);
    run(reads(32), 0x1000);
    EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0, 16, 0},
                                     {0, 0, 0x10, 4, 1},
                                     {1, 0, 0, 0, kNoAccess},
                                     {2, 0, 0x1000, 16, 0, 1, 16},
                                     {2, 0, 0x1010, 16, 1, 1, 4}}));
}

TEST_F(DataCacheTest, OnlyAccessesBeforeTheExitHappen) {
    Ahead<Plain> ahead(cache(4, 1, 64));
    Block& block = code().op().reads(4).may_exit().op().reads(4).joins(4, kRead, 8).ends();
    trace_.run_to(block, 0, 0, {0x1000});
    trace_.run_to(block, 1, 0, {0x1000, 0x1040});
    EXPECT_EQ(misses(ahead), (Misses{{0, 0, 0x1000, 4, 0}, {1, 1, 0x1040, 4, 1}}));
    EXPECT_EQ(ahead.use_before({start_of(0), 1, 0}, 0, line(0x40)).accesses, 1u);
    EXPECT_EQ(ahead.use_before({start_of(1), 3, 0}, 0, line(0x40)).accesses, 2u);
    EXPECT_EQ(ahead.use_before({start_of(1), 3, 0}, 1, line(0x41)).accesses, 2u);
}

// Flushing comes in between, which is the replay's part.
TEST_F(DataCacheTest, AChunkEndsBehindAMarkerThatEmptiesTheCaches) {
    Ahead<Plain> ahead(cache(2, 1, 64));
    Block& read = reads(8);
    run(read, 0x1000);
    run(read, 0x1000);
    trace_.mark(Marker::kStop);
    run(read, 0x1000);
    trace_.mark(Marker::kStop);
    trace_.mark(Marker::kStop);
    const Batch all = trace_.all();
    EXPECT_EQ(ahead.run(all).size(), start_of(3));
    EXPECT_TRUE(ahead.empties_caches());
    EXPECT_EQ(ahead.misses().size(), 1u);
    using Flushed = std::map<std::uint32_t, std::uint64_t>;  // accesses, by slot
    const auto flush = [&] {
        Flushed flushed;
        ahead.cache().flush([&](std::uint32_t slot, const auto& use) { flushed[slot] = use.accesses; });
        return flushed;
    };
    EXPECT_EQ(flush(), (Flushed{{0, 2}}));
    EXPECT_EQ(flush(), Flushed{});
    EXPECT_EQ(ahead.run(all.subspan(start_of(3))).size(), start_of(5) - start_of(3));
    ASSERT_EQ(ahead.misses().size(), 1u);
    EXPECT_EQ(ahead.misses()[0].at, (DataPosition{0, 0, 0x1000}));
    EXPECT_EQ(flush(), (Flushed{{0, 1}}));
    EXPECT_EQ(ahead.run(all.subspan(start_of(5))).size(), kMarkerWords);
    EXPECT_EQ(ahead.misses().size(), 0u);
}

TEST_F(DataCacheTest, OtherMarkersDoNotEndAChunk) {
    Ahead<Plain> ahead(cache(1, 1, 64));
    Block& read = reads(8);
    for (unsigned i = 0; i < static_cast<unsigned>(Marker::kCount); ++i) {
        if (static_cast<Marker>(i) == Marker::kStop) continue;
        // Values that would be addresses in a block's record.
        trace_.mark(static_cast<Marker>(i), 0x5000, 0x6000, 0x7000);
        run(read, 0x1000 + 2 * i);
    }
    EXPECT_EQ(misses(ahead), (Misses{{1, 0, 0x1000, 8, 0}}));
    EXPECT_FALSE(ahead.empties_caches());
    const std::size_t last = trace_.records() - 1;
    EXPECT_EQ(ahead.use_before({start_of(last), 0, 0}, 0, line(0x40)).accesses, last / 2) << "all but the last";
}

TEST_F(DataCacheTest, AChunkHasTheRecordsThatBeginInIt) {
    Block& read = reads(8);
    for (unsigned i = 0; i < 5; ++i) run(read, 0x1000 + 64 * i);
    constexpr std::size_t kRecord = kHeaderWords + 1;
    for (const auto& [chunk_words, records] : std::map<std::size_t, std::size_t>{
             {1, 1}, {kRecord, 1}, {kRecord + 1, 2}, {2 * kRecord, 2}, {5 * kRecord - 1, 5}, {1000, 5}}) {
        Ahead<Plain> ahead(cache(1, 1, 64), chunk_words);
        EXPECT_EQ(ahead.run(trace_.all()).size(), records * kRecord) << chunk_words;
        EXPECT_EQ(ahead.misses().size(), records) << chunk_words;
    }
}

TEST_F(DataCacheTest, TheUseOfALineEvictedInTheChunkIsKnown) {
    Ahead<Plain> ahead(cache(1, 1, 64));
    Block& read = reads(8);
    run(read, 0x1000);
    misses(ahead);
    trace_ = Trace();
    run(read, 0x1004);   // 40
    run(read, 0x1008);   // 40
    run(read, 0x2000);   // 80
    run(read, 0x1010);   // 40 again
    run(read, 0x1018);   // 40
    misses(ahead);
    using Use = std::pair<std::uint64_t, unsigned>;  // accesses, bytes
    const auto use = [&](std::size_t record, unsigned number) {
        const auto before = ahead.use_before({start_of(record), 1, 0}, 0, line(number));
        return Use{before.accesses, before.bytes.count()};
    };
    EXPECT_EQ(use(0, 0x40), (Use{2, 12}));
    EXPECT_EQ(use(1, 0x40), (Use{3, 16}));
    EXPECT_EQ(use(2, 0x80), (Use{1, 8}));
    EXPECT_EQ(use(3, 0x40), (Use{1, 8})) << "as it came back";
    EXPECT_EQ(use(4, 0x40), (Use{2, 16}));
    const auto when_evicted = ahead.use_before({start_of(2), 0, 0x2000}, 0, line(0x40));
    EXPECT_EQ(when_evicted.accesses, 3u);
}

// So large that uses are saved one by one.
TEST_F(DataCacheTest, TheUseOfALineAtTheStartOfAChunkIsKnown) {
    Ahead<Plain> ahead(cache(8192, 1, 64));
    run(reads(8), 0x1000);
    misses(ahead);
    trace_ = Trace();
    run(reads(4), 0x1008);
    run(reads(2), 0x100c);
    EXPECT_EQ(misses(ahead), Misses{});
    const auto accesses_before = [&](std::size_t record) {
        return ahead.use_before({start_of(record), 0, 0}, 0x40, line(0x40)).accesses;
    };
    EXPECT_EQ(accesses_before(0), 1u);
    EXPECT_EQ(accesses_before(1), 2u);
}

TEST_F(DataCacheTest, ALineIsDirtyFromItsFirstWriteOn) {
    Ahead<Dirty> ahead(cache(2, 1, 64));
    Block& block = code().op().reads(4).joins(4, kWrite, 4).joins(4, kRead, 8).ends();
    run(block, 0x1000);
    run(block, 0x103c);  // writes at 1040
    run(block, 0x2000);
    EXPECT_EQ(misses(ahead).size(), 3u);
    EXPECT_TRUE(ahead.misses()[2].evicted.dirty);
    const auto is_dirty = [&](std::size_t record, std::uint16_t access, unsigned number) {
        return ahead.use_before({start_of(record), access, 0}, number % 2, line(number)).dirty;
    };
    EXPECT_FALSE(is_dirty(0, 1, 0x40));
    EXPECT_TRUE(is_dirty(0, 2, 0x40));
    EXPECT_FALSE(is_dirty(1, 1, 0x41));
    EXPECT_TRUE(is_dirty(1, 2, 0x41));
    EXPECT_FALSE(is_dirty(2, 1, 0x80));
}

}  // namespace
}  // namespace bd
