// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/data_cache.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "cache_fixture.h"
#include "program.h"

namespace bd {

static std::ostream& operator<<(std::ostream& out, const DataPosition& at) {
    return out << "record at " << at.record << ", access " << at.access << ", address " << std::hex << at.address
               << std::dec;
}

namespace {

using test::cache;
using test::Program;
using test::Trace;
using test::true_misses;

constexpr LineNumber line(std::uint64_t number) {
    return LineNumber{number};
}

constexpr std::size_t kAll = 100'000;  // words of a chunk

template <bool kCommonLines, bool kUses, bool kDirt, bool kNotes = false>
struct Variant {
    static constexpr bool kCommon = kCommonLines;
    static constexpr bool kUse = kUses;
    static constexpr bool kDirty = kDirt;
    static constexpr bool kNotesWrites = kNotes;
};
using Plain = Variant<true, true, false>;
using AnyLines = Variant<false, true, false>;
using Dirty = Variant<true, true, true, true>;

// A D1 and the latest chunk.
template <class V>
class Ahead {
public:
    using Cache = DataCache<V::kCommon, V::kUse, V::kDirty>;
    using Miss = typename Cache::Miss;
    using Use = typename Cache::Use;

    explicit Ahead(const CacheGeometry& geometry, std::size_t chunk_words = kAll)
        : cache_(geometry, chunk_words, V::kNotesWrites) {}

    Cache& cache() { return cache_; }

    // Returns what of the batch belongs to the chunk.
    Batch run(Batch batch) {
        cache_.run(batch, &chunk_);
        EXPECT_EQ(chunk_.words.data(), batch.data());
        EXPECT_EQ(chunk_.misses.back().at.record, ~std::uint32_t{0}) << "the last one is behind all records";
        return chunk_.words;
    }
    std::span<const Miss> misses() const { return true_misses(chunk_); }
    Use use_before(const DataPosition& position, std::uint32_t place, LineNumber number) {
        return cache_.use_before(chunk_, position, place, number);
    }

private:
    Cache cache_;
    typename Cache::Chunk chunk_;
};

// --- Drawn by hand --------------------------------------------------------------------------------------------------

// A miss; its record by number. Of what it evicts: accesses and used bytes.
struct Seen {
    std::size_t record;
    unsigned access;
    Address address;
    std::uint32_t bytes;
    std::uint32_t place;
    std::uint64_t accesses = 0;
    unsigned used = 0;

    bool operator==(const Seen&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Seen& miss) {
    return out << "{record " << miss.record << ", access " << miss.access << ", address " << std::hex << miss.address
               << std::dec << ", bytes " << miss.bytes << ", place " << static_cast<std::int32_t>(miss.place)
               << ", accesses " << miss.accesses << ", used " << miss.used << "}";
}
using List = std::vector<Seen>;

constexpr AccessKind kRead = AccessKind::kRead;
constexpr AccessKind kWrite = AccessKind::kWrite;
constexpr std::uint32_t kNoAccess = ~std::uint32_t{0};

class DataCacheTest : public testing::Test {
protected:
    // Blocks must differ.
    test::Code code() { return program_.code(function_, 0x1000 + 0x100 * blocks_++); }
    const Block& reads(std::uint32_t size) { return code().op().reads(size).ends(); }

    // A record of the block, which has one access.
    void run(const Block& block, Address address) { trace_.run(block, 0, {address}); }

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
    List misses(Ahead<V>& ahead) {
        EXPECT_EQ(ahead.run(trace_.all()).size(), trace_.all().size());
        List list;
        for (const auto& miss : ahead.misses()) {
            list.push_back({record_at(miss.at.record), miss.at.access, miss.at.address, miss.bytes, miss.place,
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
    const Block& read = reads(8);
    //                   set 0      set 1       (most recently used line first)
    run(read, 0x1000);  // 40
    run(read, 0x1004);  // 40
    run(read, 0x1040);  // 40         41
    run(read, 0x1080);  // 42 40
    run(read, 0x1038);  // 40 42
    run(read, 0x1100);  // 44 40
    run(read, 0x1180);  // 46 44
    EXPECT_EQ(misses(ahead), (List{{0, 0, 0x1000, 8, 0},
                                   {2, 0, 0x1040, 8, 2},
                                   {3, 0, 0x1080, 8, 1},
                                   {5, 0, 0x1100, 8, 1, 1, 8},
                                   {6, 0, 0x1180, 8, 0, 3, 20}}));
}

TEST_F(DataCacheTest, LinesStayFromChunkToChunk) {
    Ahead<Plain> ahead(cache(1, 1, 64));
    run(reads(8), 0x1000);
    EXPECT_EQ(misses(ahead), (List{{0, 0, 0x1000, 8, 0}}));
    trace_ = Trace();
    run(reads(4), 0x1020);
    EXPECT_EQ(misses(ahead), List{});
    trace_ = Trace();
    run(reads(8), 0x2000);
    EXPECT_EQ(misses(ahead), (List{{0, 0, 0x2000, 8, 0, 2, 12}}));
}

TEST_F(DataCacheTest, AnAccessAcrossLinesMissesByParts) {
    Ahead<Plain> ahead(cache(4, 1, 64));
    run(reads(8), 0x103c);    // lines 40 and 41
    run(reads(8), 0x103c);    // hits
    run(reads(80), 0x1078);   // lines 41, 42 and 43
    EXPECT_EQ(misses(ahead), (List{{0, 0, 0x103c, 4, 0},
                                   {0, 0, 0x1040, 4, 1},
                                   {2, 0, 0x1080, 64, 2},
                                   {2, 0, 0x10c0, 8, 3}}));
}

// Three reads at 0, -16 and 8 bytes from the address.
TEST_F(DataCacheTest, AGroupInOneLineMissesOnceWithItsFirstAccess) {
    Ahead<Plain> ahead(cache(2, 1, 64));
    const Block& group = code().op().reads(4).joins(8, kRead, -16).op().joins(2, kRead, 8).ends();
    ASSERT_EQ(group.group_count, 1u);
    run(group, 0x1020);
    run(group, 0x1024);
    run(reads(1), 0x2000);
    EXPECT_EQ(misses(ahead), (List{{0, 0, 0x1020, 4, 0},
                                   {2, 0, 0x2000, 1, 0, 6, 8 + 4 + 4 + 4 + 2 + 2}}));
}

TEST_F(DataCacheTest, AGroupCountsBeforeItsEndAsFarAsItHasCome) {
    Ahead<Plain> ahead(cache(2, 1, 64));
    const Block& group = code().op().reads(4).joins(8, kRead, -16).op().joins(2, kRead, 8).ends();
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
        const Block& group = code().op().reads(4).joins(8, kRead, 4).joins(2, kRead, ends_low ? -8 : 12).ends();
        ASSERT_EQ(group.group_count, 1u);
        const Block& read = reads(1);
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
        const List expected = ends_low ? List{high, low} : List{low, high};
        EXPECT_EQ(misses(ahead), (List{{0, 0, 0x1000, 1, 0}, {1, 0, 0x1040, 1, 1}, expected[0], expected[1]}));
    }
}

// Reads at 38, 40 and 3c, one line of which is absent.
TEST_F(DataCacheTest, AGroupAcrossTwoLinesMissesTheOneThatIsAbsent) {
    for (const bool has_low : {false, true}) {
        Ahead<Plain> ahead(cache(2, 1, 64));
        const Block& group = code().op().reads(4).joins(8, kRead, 8).joins(4, kRead, 4).ends();
        trace_ = Trace();
        run(reads(1), has_low ? 0x1000 : 0x1040);
        run(group, 0x1038);
        run(reads(1), 0x2000);
        run(reads(1), 0x2040);
        if (has_low) {
            EXPECT_EQ(misses(ahead), (List{{0, 0, 0x1000, 1, 0},
                                           {1, 1, 0x1040, 8, 1},
                                           {2, 0, 0x2000, 1, 0, 3, 9},
                                           {3, 0, 0x2040, 1, 1, 1, 8}}));
        } else {
            EXPECT_EQ(misses(ahead), (List{{0, 0, 0x1040, 1, 1},
                                           {1, 0, 0x1038, 4, 0},
                                           {2, 0, 0x2000, 1, 0, 2, 8},
                                           {3, 0, 0x2040, 1, 1, 2, 8}}));
        }
    }
}

// The line of the first access drives out that of the last one: there is but one.
TEST_F(DataCacheTest, AGroupMayDriveOutItsOwnLines) {
    Ahead<Plain> ahead(cache(1, 1, 64));
    const Block& group = code().op().reads(4).joins(4, kRead, 8).joins(4, kRead, 4).ends();
    run(group, 0x1038);
    run(group, 0x1038);
    EXPECT_EQ(misses(ahead), (List{{0, 0, 0x1038, 4, 0},
                                   {0, 1, 0x1040, 4, 0, 1, 4},
                                   {0, 2, 0x103c, 4, 0, 1, 4},
                                   {1, 1, 0x1040, 4, 0, 2, 8},
                                   {1, 2, 0x103c, 4, 0, 1, 4}}));
}

// Accesses at e, 10 and 26: lines of 16 bytes.
TEST_F(DataCacheTest, AGroupMayCoverThreeShortLines) {
    Ahead<AnyLines> ahead(cache(4, 1, 16));
    const Block& group = code().op().reads(2).joins(8, kRead, 2).joins(2, kRead, 24).ends();
    ASSERT_EQ(group.group_count, 1u);
    run(group, 0x100e);
    run(group, 0x100e);
    run(reads(48), 0x2000);
    EXPECT_EQ(misses(ahead), (List{{0, 0, 0x100e, 2, 0},
                                   {0, 1, 0x1010, 8, 1},
                                   {0, 2, 0x1026, 2, 2},
                                   {2, 0, 0x2000, 16, 0, 2, 2},
                                   {2, 0, 0x2010, 16, 1, 2, 8},
                                   {2, 0, 0x2020, 16, 2, 2, 2}}));
}

TEST_F(DataCacheTest, AnAccessThatDidNotHappenIsInTheListToo) {
    Ahead<Plain> ahead(cache(2, 1, 64));
    const Block& block = code().op().reads(4).op().may_write(8).op().may_read(8).ends();
    trace_.run(block, 0, {0x1000, 0, 0x1008});
    trace_.run(block, 0, {0x1000, 0x1010, 0});
    run(reads(1), 0x2000);
    EXPECT_EQ(misses(ahead), (List{{0, 0, 0x1000, 4, 0},
                                   {0, 1, 0, 0, kNoAccess},
                                   {1, 2, 0, 0, kNoAccess},
                                   {2, 0, 0x2000, 1, 0, 4, 20}}));
    EXPECT_EQ(Ahead<Plain>::Miss::kNoAccess, kNoAccess);
}

// Nor does it touch the line that a true access to such an address would.
TEST_F(DataCacheTest, AnAccessThatDidNotHappenUsesNoLine) {
    Ahead<Plain> ahead(cache(2, 1, 64));
    const Block& guarded = code().op().may_read(8).ends();
    run(reads(4), 0x20);
    run(guarded, 0);
    run(guarded, 0x8);
    run(reads(4), 0x1000);
    EXPECT_EQ(misses(ahead), (List{{0, 0, 0x20, 4, 0}, {1, 0, 0, 0, kNoAccess}, {3, 0, 0x1000, 4, 0, 2, 12}}));
    EXPECT_EQ(ahead.use_before({start_of(1), 1, 0}, 0, line(0)).accesses, 1u);
    EXPECT_EQ(ahead.use_before({start_of(2), 1, 0}, 0, line(0)).accesses, 2u);
}

TEST_F(DataCacheTest, OnlyAccessesBeforeTheExitHappen) {
    Ahead<Plain> ahead(cache(4, 1, 64));
    const Block& block = code().op().reads(4).may_exit().op().reads(4).joins(4, kRead, 8).ends();
    trace_.run_to(block, 0, 0, {0x1000});
    trace_.run_to(block, 1, 0, {0x1000, 0x1040});
    EXPECT_EQ(misses(ahead), (List{{0, 0, 0x1000, 4, 0}, {1, 1, 0x1040, 4, 1}}));
    EXPECT_EQ(ahead.use_before({start_of(0), 1, 0}, 0, line(0x40)).accesses, 1u);
    EXPECT_EQ(ahead.use_before({start_of(1), 3, 0}, 0, line(0x40)).accesses, 2u);
    EXPECT_EQ(ahead.use_before({start_of(1), 3, 0}, 1, line(0x41)).accesses, 2u);
}

// Flushing comes in between, which is the replay's part.
TEST_F(DataCacheTest, AChunkEndsBehindAMarkerThatEmptiesTheCaches) {
    Ahead<Plain> ahead(cache(2, 1, 64));
    const Block& read = reads(8);
    run(read, 0x1000);
    run(read, 0x1000);
    trace_.mark(Marker::kStop);
    run(read, 0x1000);
    trace_.mark(Marker::kStop);
    trace_.mark(Marker::kStop);
    const Batch all = trace_.all();
    EXPECT_EQ(ahead.run(all).size(), start_of(3));
    EXPECT_EQ(ahead.misses().size(), 1u);
    using Flushed = std::map<std::uint32_t, std::uint64_t>;  // accesses, by place
    const auto flush = [&] {
        Flushed flushed;
        ahead.cache().flush([&](std::uint32_t place, const auto& use) { flushed[place] = use.accesses; });
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

TEST_F(DataCacheTest, OtherMarkersAreOfNoConcern) {
    Ahead<Plain> ahead(cache(1, 1, 64));
    const Block& read = reads(8);
    for (unsigned i = 0; i < static_cast<unsigned>(Marker::kCount); ++i) {
        if (static_cast<Marker>(i) == Marker::kStop) continue;
        // Values that would be addresses in a block's record.
        trace_.mark(static_cast<Marker>(i), 0x5000, 0x6000, 0x7000);
        run(read, 0x1000 + 4 * i);
    }
    EXPECT_EQ(misses(ahead), (List{{1, 0, 0x1000, 8, 0}}));
    const std::size_t last = trace_.records() - 1;
    EXPECT_EQ(ahead.use_before({start_of(last), 0, 0}, 0, line(0x40)).accesses, last / 2) << "all but the last";
}

TEST_F(DataCacheTest, AChunkHasTheRecordsThatBeginInIt) {
    const Block& read = reads(8);
    for (unsigned i = 0; i < 5; ++i) run(read, 0x1000 + 64 * i);
    constexpr std::size_t kRecord = kHeaderWords + 1;
    for (const auto& [chunk_words, records] : std::map<std::size_t, std::size_t>{
             {1, 1}, {kRecord, 1}, {kRecord + 1, 2}, {2 * kRecord, 2}, {5 * kRecord - 1, 5}, {1000, 5}}) {
        Ahead<Plain> ahead(cache(1, 1, 64), chunk_words);
        EXPECT_EQ(ahead.run(trace_.all()).size(), records * kRecord) << chunk_words;
        EXPECT_EQ(ahead.misses().size(), records) << chunk_words;
    }
}

TEST_F(DataCacheTest, OneMayAskForLinesThatHaveGoneInTheChunk) {
    Ahead<Plain> ahead(cache(1, 1, 64));
    const Block& read = reads(8);
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
}

TEST_F(DataCacheTest, ALineIsDirtyFromItsFirstWriteOn) {
    Ahead<Dirty> ahead(cache(2, 1, 64));
    const Block& block = code().op().reads(4).joins(4, kWrite, 4).joins(4, kRead, 8).ends();
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

// --- Against a naive simulation -------------------------------------------------------------------------------------

// Blocks with accesses of all kinds, alone and in groups, and a trace of running them.
class RandomTrace {
public:
    // choose_address(): where a group is.
    template <class ChooseAddress>
    RandomTrace(std::mt19937& random, std::size_t records, unsigned stops, ChooseAddress choose_address)
        : random_(random) {
        for (unsigned i = 0; i < 12; ++i) blocks_.push_back(&block(0x1000 + 0x100 * i));
        while (trace_.records() < records) {
            if (below(20) == 0) trace_.mark(Marker::kThread, 1);
            if (below(1000) < stops) trace_.mark(Marker::kStop);
            const Block& block = *blocks_[below(blocks_.size())];
            const std::size_t exit = below(block.exit_count);
            std::vector<Word> addresses;
            for (const AccessGroup& group : block.groups().first(block.exits()[exit].groups)) {
                const bool skips = block.accesses()[group.first].guarded && below(2) == 0;
                addresses.push_back(skips ? 0 : choose_address());
            }
            trace_.run_to(block, exit, 0, addresses);
        }
    }

    const Trace& trace() const { return trace_; }

private:
    std::size_t below(std::size_t limit) { return random_() % limit; }

    const Block& block(Address address) {
        BlockBuilder builder;
        builder.start(address, function_, 0, 0, false);
        for (std::size_t i = 0, count = 1 + below(4); i < count; ++i) {
            builder.add_instruction(address + 4 * i, 4, *function_.file, 1);
            while (below(3) != 0) {
                const auto size = static_cast<std::uint32_t>(below(12) == 0 ? 1 + below(300) : 1u << below(5));
                const AccessKind kind = below(3) == 0   ? AccessKind::kModify
                                        : below(2) == 0 ? AccessKind::kWrite
                                                        : AccessKind::kRead;
                const std::int64_t distance = static_cast<std::int64_t>(below(49)) - 24;
                if (below(3) != 0 && builder.join_access(size, kind, distance)) continue;
                builder.add_access(size, kind, below(6) == 0);
            }
            if (below(4) == 0) builder.add_exit(JumpKind::kJump);
        }
        builder.add_exit(JumpKind::kJump);
        return program_.blocks.add(builder);
    }

    std::mt19937& random_;
    Program program_;
    const Function& function_ = program_.function("f");
    std::vector<const Block*> blocks_;
    Trace trace_;
};

// Follows a trace part by part of each access, and compares what D1 has found ahead of it: the list of misses and, at
// each point, the use of each line that is there.
template <class V>
class NaiveCache {
public:
    NaiveCache(const CacheGeometry& geometry, Ahead<V>& ahead) : geometry_(geometry), ahead_(ahead) {}

    std::size_t uses_compared() const { return uses_compared_; }

    // To be called with what has just been run.
    void follow(Batch chunk) {
        misses_ = ahead_.misses();
        bool stops = false;
        for (std::size_t at = 0; at < chunk.size() && !testing::Test::HasFailure(); at += record_words(chunk[at])) {
            ASSERT_FALSE(stops) << "a chunk ends behind a stop";
            const Exit& exit = exit_of(chunk[at]);
            if (exit.block != nullptr) {
                follow_record(static_cast<std::uint32_t>(at), exit, &chunk[at + kHeaderWords]);
            } else {
                stops = chunk[at] == marker_word(Marker::kStop);
            }
        }
        ASSERT_TRUE(misses_.empty()) << misses_.front().at;
        if (stops) flush();
    }

    void flush() {
        ahead_.cache().flush([this](std::uint32_t place, const auto& use) {
            const auto line = lines_.find(place);
            ASSERT_NE(line, lines_.end());
            EXPECT_TRUE(is_equal(use, line->second));
            lines_.erase(line);
        });
        EXPECT_TRUE(lines_.empty());
    }

private:
    using Mask = LineMask<V::kCommon>;
    struct Line {
        LineNumber number{};
        std::uint64_t time = 0;
        Mask bytes{};
        std::uint64_t accesses = 0;
        bool dirty = false;
    };

    template <class Use>
    static bool is_equal(const Use& use, const Line& line) {
        if constexpr (V::kUse) {
            if (use.bytes != line.bytes || use.accesses != line.accesses) return false;
        }
        if constexpr (V::kDirty) {
            if (use.dirty != (V::kNotesWrites && line.dirty)) return false;
        }
        return true;
    }

    void follow_record(std::uint32_t record, const Exit& exit, const Word* addresses) {
        DataPosition at{record, 0, 0};
        for (; at.access < exit.accesses; ++at.access) {
            at.address = 0;
            compare_uses(at);
            const Access& access = exit.block->accesses()[at.access];
            const Address base = addresses[access.group];
            if (base == 0 && access.guarded) {
                ASSERT_FALSE(misses_.empty());
                EXPECT_EQ(misses_.front().at, at);
                EXPECT_EQ(misses_.front().place, kNoAccess);
                misses_ = misses_.subspan(1);
                continue;
            }
            const Address begin = base + static_cast<Address>(std::int64_t{access.distance});
            for (Address byte = begin; byte != begin + access.size;) {
                at.address = byte;
                const Address offset = byte % geometry_.line_bytes;
                const Address bytes = std::min(begin + access.size - byte, geometry_.line_bytes - offset);
                compare_uses(at);
                Line* const line = find_or_load(at, static_cast<std::uint32_t>(bytes));
                if (line == nullptr) return;
                line->time = ++now_;
                line->bytes |= Mask::range(static_cast<unsigned>(offset), static_cast<unsigned>(bytes));
                ++line->accesses;
                line->dirty |= is_write(access.kind);
                byte += bytes;
            }
        }
        at.address = 0;
        compare_uses(at);
    }

    // Null: the test has failed.
    Line* find_or_load(const DataPosition& at, std::uint32_t bytes) {
        const LineNumber number{at.address / geometry_.line_bytes};
        const std::uint64_t set = static_cast<std::uint64_t>(number) % geometry_.sets();
        const auto begin = lines_.lower_bound(static_cast<std::uint32_t>(set * geometry_.ways));
        const auto end = lines_.lower_bound(static_cast<std::uint32_t>((set + 1) * geometry_.ways));
        const auto found = std::find_if(begin, end, [&](const auto& each) { return each.second.number == number; });
        if (found != end) return &found->second;
        if (misses_.empty()) {
            ADD_FAILURE() << "no miss at " << at;
            return nullptr;
        }
        const auto miss = misses_.front();
        misses_ = misses_.subspan(1);
        EXPECT_EQ(miss.at, at);
        EXPECT_EQ(miss.bytes, bytes);
        EXPECT_EQ(miss.place / geometry_.ways, set) << at;
        const auto goes = lines_.find(miss.place);
        if (std::distance(begin, end) != geometry_.ways) {
            EXPECT_EQ(goes, lines_.end()) << "not an empty place at " << at;
        } else {
            EXPECT_EQ(goes, std::min_element(begin, end, [](const auto& a, const auto& b) {
                          return a.second.time < b.second.time;
                      })) << "not the least recently used line at " << at;
            EXPECT_TRUE(is_equal(miss.evicted, goes->second)) << at;
        }
        if (testing::Test::HasFailure()) return nullptr;
        Line& line = lines_[miss.place];
        line = {.number = number};
        return &line;
    }

    void compare_uses(const DataPosition& at) {
        for (const auto& [place, line] : lines_) {
            ++uses_compared_;
            if constexpr (V::kUse || V::kDirty) {
                ASSERT_TRUE(is_equal(ahead_.use_before(at, place, line.number), line))
                    << at << ", place " << place << ", line " << static_cast<std::uint64_t>(line.number);
            }
        }
    }

    CacheGeometry geometry_;
    Ahead<V>& ahead_;
    std::map<std::uint32_t, Line> lines_;  // by place
    std::uint64_t now_ = 0;
    std::span<const typename Ahead<V>::Miss> misses_;  // those to come
    std::size_t uses_compared_ = 0;
};

template <class V>
void expect_equal(const CacheGeometry& geometry, std::size_t chunk_words, const Trace& trace) {
    SCOPED_TRACE(testing::Message() << geometry.sets() << " sets of " << geometry.ways << " ways, lines of "
                                    << geometry.line_bytes << ", chunks of " << chunk_words);
    Ahead<V> ahead(geometry, chunk_words);
    NaiveCache<V> naive(geometry, ahead);
    for (Batch rest = trace.all(); !rest.empty() && !testing::Test::HasFailure();) {
        const Batch chunk = ahead.run(rest);
        ASSERT_FALSE(chunk.empty());
        naive.follow(chunk);
        rest = rest.subspan(chunk.size());
    }
    naive.flush();
    EXPECT_GT(naive.uses_compared(), 0u);
}

#ifdef __SANITIZE_ADDRESS__
constexpr unsigned kRuns = 10;
#else
constexpr unsigned kRuns = 30;
#endif
constexpr std::size_t kRecords = 300;

template <class V>
class DataCacheOracleTest : public testing::Test {
protected:
    static std::uint32_t line_bytes(std::mt19937& random) { return V::kCommon ? 64 : 16u << random() % 5; }
};
using Variants = testing::Types<Plain, AnyLines, Dirty, Variant<false, true, true, true>,  // with write-backs
                                Variant<true, true, true>, Variant<false, true, true>,     // with prefetches only
                                Variant<true, false, false>, Variant<false, false, true, true>>;
TYPED_TEST_SUITE(DataCacheOracleTest, Variants);

// So small that lines come and go within a chunk.
TYPED_TEST(DataCacheOracleTest, TinyCaches) {
    for (unsigned seed = 0; seed < kRuns && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937 random(seed);
        const CacheGeometry geometry =
            cache(1 + random() % 4, 1 + static_cast<std::uint32_t>(random() % 3), this->line_bytes(random));
        const RandomTrace run(random, kRecords, 5, [&] { return 0x100000 + random() % (3 * geometry.size_bytes); });
        for (const std::size_t chunk_words : {std::size_t{1}, std::size_t{100}, kAll}) {
            expect_equal<TypeParam>(geometry, chunk_words, run.trace());
        }
    }
}

// So large that uses are saved one by one. A few sets are used, and more lines in each than there is room for.
TYPED_TEST(DataCacheOracleTest, LargeCaches) {
    for (unsigned seed = 0; seed < kRuns / 4 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937 random(seed);
        const CacheGeometry geometry = cache(seed % 2 == 0 ? 2048 : 2047, 3, this->line_bytes(random));
        ASSERT_GT(geometry.lines(), 4096u);
        const RandomTrace run(random, kRecords / 2, 5, [&] {
            const Address row = 0x4000000 + random() % 5 * geometry.sets() * geometry.line_bytes;
            return row + random() % (3 * geometry.line_bytes);
        });
        for (const std::size_t chunk_words : {std::size_t{100}, kAll}) {
            expect_equal<TypeParam>(geometry, chunk_words, run.trace());
        }
    }
}

// Where chunks end shows nowhere.
TYPED_TEST(DataCacheOracleTest, OtherChunksHaveTheSameMissesAndUses) {
    using Miss = typename Ahead<TypeParam>::Miss;
    for (unsigned seed = 0; seed < kRuns; ++seed) {
        std::mt19937 random(seed);
        const CacheGeometry geometry = cache(4, 2, this->line_bytes(random));
        const RandomTrace run(random, 4 * kRecords, 0, [&] { return 0x100000 + random() % (3 * geometry.size_bytes); });
        const auto is_equal = [](const Miss& a, const Miss& b) {
            if constexpr (TypeParam::kUse) {
                if (a.evicted.bytes != b.evicted.bytes || a.evicted.accesses != b.evicted.accesses) return false;
            }
            if constexpr (TypeParam::kDirty) {
                if (a.evicted.dirty != b.evicted.dirty) return false;
            }
            return a.at == b.at && a.bytes == b.bytes && a.place == b.place;
        };
        // All misses, with positions in the whole trace; and at the end those that a flush would be.
        const auto misses_of = [&](std::size_t chunk_words) {
            Ahead<TypeParam> ahead(geometry, chunk_words);
            std::vector<Miss> misses;
            for (std::size_t done = 0; done < run.trace().all().size();) {
                const Batch chunk = ahead.run(run.trace().all().subspan(done));
                for (Miss miss : ahead.misses()) {
                    miss.at.record += static_cast<std::uint32_t>(done);
                    misses.push_back(miss);
                }
                done += chunk.size();
            }
            ahead.cache().flush(
                [&](std::uint32_t place, const auto& use) { misses.push_back({{}, 0, place, use}); });
            return misses;
        };
        const std::vector<Miss> expected = misses_of(kAll);
        EXPECT_GT(expected.size(), kRecords);
        for (const std::size_t chunk_words : {1u, 2u, 17u, 512u, 4000u}) {
            EXPECT_TRUE(std::ranges::equal(misses_of(chunk_words), expected, is_equal))
                << "seed " << seed << ", chunks of " << chunk_words;
        }
    }
}

}  // namespace
}  // namespace bd
