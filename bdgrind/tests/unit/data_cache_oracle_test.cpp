// SPDX-License-Identifier: GPL-2.0-or-later
//
// D1 against a naive simulation, on blocks and traces made at random.

#include "engine/cache/data_cache.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "data_cache_fixture.h"
#include "program.h"
#include "runs.h"

namespace bd {
namespace {

using test::Ahead;
using test::AnyLines;
using test::cache;
using test::Dirty;
using test::kAllWords;
using test::Plain;
using test::Program;
using test::Trace;
using test::Variant;
using test::Writes;

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
            Block& block = *blocks_[below(blocks_.size())];
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

    Block& block(Address address) {
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
    std::vector<Block*> blocks_;
    Trace trace_;
};

// Follows a trace part by part of each access, and compares what D1 has found ahead of it: the list of misses and, at
// each point, the use of each line that is there. Where it is asked why, also how many other lines were touched since a
// line that misses was, and which records had begun then.
template <class V>
class NaiveCache {
public:
    // `least_distance`: see ReuseRules.
    NaiveCache(const CacheGeometry& geometry, Ahead<V>& ahead, std::uint32_t least_distance = 0)
        : geometry_(geometry), ahead_(ahead), least_distance_(least_distance) {}

    std::size_t uses_compared() const { return uses_compared_; }
    std::size_t hits_told() const { return hits_told_; }

    // To be called with what has just been run.
    void follow(Batch chunk) {
        misses_ = ahead_.misses();
        bool stops = false;
        if constexpr (V::kTraits.why) {
            const auto& renumbering = ahead_.touches().renumbering;
            for (TouchTime& time : record_times_) {
                if (renumbering != nullptr) time = renumbering->renumbered(time);
            }
            renumberings_ += renumbering != nullptr;
            clock_.start_chunk(ahead_.touches(), chunk.data());
        }
        for (std::size_t at = 0; at < chunk.size() && !testing::Test::HasFailure(); at += record_words(chunk[at])) {
            ASSERT_FALSE(stops) << "a chunk ends behind a stop";
            const Exit& exit = exit_of(chunk[at]);
            if constexpr (V::kTraits.why) record_times_.push_back(clock_.before(&chunk[at]));
            if (exit.block != nullptr) {
                follow_record(static_cast<std::uint32_t>(at), exit, chunk.data() + at + kHeaderWords);
            } else {
                stops = chunk[at] == marker_word(Marker::kStop);
            }
        }
        ASSERT_TRUE(misses_.empty()) << misses_.front().at;
        if (stops) flush();
    }

    void flush() {
        ahead_.cache().flush([this](std::uint32_t slot, const auto& use) {
            const auto line = lines_.find(slot);
            ASSERT_NE(line, lines_.end());
            EXPECT_TRUE(is_equal(use, line->second));
            lines_.erase(line);
        });
        EXPECT_TRUE(lines_.empty());
        touched_.clear();
    }

    std::size_t renumberings() const { return renumberings_; }

private:
    using Mask = ByteMask<V::kTraits.common_lines ? 1 : kMaxLineBytes / 64>;
    struct Line {
        LineNumber number{};
        std::uint64_t time = 0;
        Mask bytes{};
        std::uint64_t accesses = 0;
        bool dirty = false;
    };
    struct Touched {
        LineNumber number;
        std::size_t record;  // of all
    };

    template <class Use>
    static bool is_equal(const Use& use, const Line& line) {
        if constexpr (V::kTraits.line_use) {
            if (use.bytes != line.bytes || use.accesses != line.accesses) return false;
        }
        if constexpr (V::kTraits.write_back) {
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
                EXPECT_EQ(misses_.front().slot, Ahead<V>::Miss::kNoAccess);
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
                if constexpr (V::kTraits.why) touch(line->number);
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
        if (found != end) {
            if constexpr (V::kTraits.why) compare_hit(at, bytes, number);
            return &found->second;
        }
        if (misses_.empty()) {
            ADD_FAILURE() << "no miss at " << at;
            return nullptr;
        }
        const auto miss = misses_.front();
        misses_ = misses_.subspan(1);
        EXPECT_EQ(miss.at, at);
        EXPECT_EQ(miss.bytes, bytes);
        EXPECT_EQ(miss.slot / geometry_.ways, set) << at;
        const auto goes = lines_.find(miss.slot);
        if (std::distance(begin, end) != geometry_.ways) {
            EXPECT_EQ(goes, lines_.end()) << "not an empty slot at " << at;
        } else {
            EXPECT_EQ(goes, std::min_element(begin, end, [](const auto& a, const auto& b) {
                          return a.second.time < b.second.time;
                      })) << "not the least recently used line at " << at;
            EXPECT_TRUE(is_equal(miss.evicted, goes->second)) << at;
        }
        if constexpr (V::kTraits.why) compare_reuse(miss, number);
        if (testing::Test::HasFailure()) return nullptr;
        Line& line = lines_[miss.slot];
        line = {.number = number};
        return &line;
    }

    void touch(LineNumber number) {
        std::erase_if(touched_, [&](const Touched& each) { return each.number == number; });
        touched_.push_back({number, record_times_.size() - 1});
    }

    // All hits from the least distance on are told; some others may be.
    void compare_hit(const DataPosition& at, std::uint32_t bytes, LineNumber number) {
        const auto last = std::ranges::find(touched_, number, &Touched::number);
        ASSERT_NE(last, touched_.end());
        if (!misses_.empty() && misses_.front().at == at && misses_.front().slot == Ahead<V>::Miss::kHit) {
            EXPECT_NE(least_distance_, 0u) << at;
            EXPECT_EQ(misses_.front().bytes, bytes);
            compare_reuse(misses_.front(), number);
            misses_ = misses_.subspan(1);
            ++hits_told_;
        } else if (least_distance_ != 0) {
            EXPECT_LT(touched_.end() - last - 1, least_distance_) << at;
        }
    }

    template <class Miss>
    void compare_reuse(const Miss& miss, LineNumber number) {
        const auto last = std::ranges::find(touched_, number, &Touched::number);
        if (last == touched_.end()) {
            EXPECT_EQ(miss.distance, Reuse::kFirstTouch) << miss.at;
            EXPECT_EQ(miss.last_touch, 0u) << miss.at;
            return;
        }
        ASSERT_EQ(miss.distance, touched_.end() - last - 1) << miss.at;
        for (std::size_t record = 0; record < record_times_.size(); ++record) {
            ASSERT_EQ(record_times_[record] < miss.last_touch, record <= last->record)
                << miss.at << ": record " << record << ", touched last in record " << last->record;
        }
    }

    void compare_uses(const DataPosition& at) {
        for (const auto& [slot, line] : lines_) {
            ++uses_compared_;
            if constexpr (V::kTraits.line_use || V::kTraits.write_back) {
                ASSERT_TRUE(is_equal(ahead_.use_before(at, slot, line.number), line))
                    << at << ", slot " << slot << ", line " << static_cast<std::uint64_t>(line.number);
            }
        }
    }

    CacheGeometry geometry_;
    Ahead<V>& ahead_;
    std::uint32_t least_distance_;
    std::map<std::uint32_t, Line> lines_;  // by slot
    std::uint64_t now_ = 0;
    std::span<const typename Ahead<V>::Miss> misses_;  // those to come
    std::size_t uses_compared_ = 0;
    // Where it is asked why.
    std::vector<Touched> touched_;         // lines, the latest one last
    TouchClock clock_;
    std::vector<TouchTime> record_times_;  // of all records, when they began
    std::size_t renumberings_ = 0;
    std::size_t hits_told_ = 0;
};

template <class V>
void expect_equal(const CacheGeometry& geometry, std::size_t chunk_words, const Trace& trace,
                  ReuseRules rules = {}, std::size_t* hits_told = nullptr) {
    SCOPED_TRACE(testing::Message() << geometry.sets() << " sets of " << geometry.ways << " ways, lines of "
                                    << geometry.line_bytes << ", chunks of " << chunk_words);
    Ahead<V> ahead(geometry, chunk_words, rules);
    NaiveCache<V> naive(geometry, ahead, rules.least_distance);
    for (Batch rest = trace.all(); !rest.empty() && !testing::Test::HasFailure();) {
        const Batch chunk = ahead.run(rest);
        ASSERT_FALSE(chunk.empty());
        naive.follow(chunk);
        rest = rest.subspan(chunk.size());
    }
    naive.flush();
    EXPECT_GT(naive.uses_compared(), 0u);
    if (hits_told != nullptr) *hits_told += naive.hits_told();
    if (V::kTraits.why && chunk_words < 1000 && rules.fewest_times < 1000) {
        EXPECT_GT(naive.renumberings(), 0u);
    }
}

#ifdef __SANITIZE_ADDRESS__
constexpr unsigned kDataCacheRuns = 4;
#else
constexpr unsigned kDataCacheRuns = 30;
#endif
constexpr std::size_t kRecords = 300;

template <class V>
class DataCacheOracleTest : public testing::Test {
protected:
    static std::uint32_t line_bytes(std::mt19937& random) { return V::kTraits.common_lines ? 64 : 16u << random() % 5; }
};
using DataCacheVariants = testing::Types<Plain, AnyLines, Dirty, Variant<test::kAnyAll, Writes::kNoted>,
                                Variant<test::kCommonAll>, Variant<test::kAnyAll>,  // with prefetches only
                                Variant<test::kCommonNoUse>, Variant<test::kAnyDirty, Writes::kNoted>,
                                Variant<test::kCommonWhy>, Variant<test::kAnyWhy, Writes::kNoted>,
                                Variant<test::kAnyWhy>>;
TYPED_TEST_SUITE(DataCacheOracleTest, DataCacheVariants);

// So small that lines come and go within a chunk.
TYPED_TEST(DataCacheOracleTest, TinyCaches) {
    for (unsigned seed = 0; seed < test::runs(kDataCacheRuns) && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937 random(seed);
        const CacheGeometry geometry =
            cache(1 + random() % 4, 1 + static_cast<std::uint32_t>(random() % 3), this->line_bytes(random));
        const RandomTrace run(random, kRecords, 5, [&] { return 0x100000 + random() % (3 * geometry.size_bytes); });
        for (const std::size_t chunk_words : {std::size_t{1}, std::size_t{100}, kAllWords}) {
            expect_equal<TypeParam>(geometry, chunk_words, run.trace());
            if (!TypeParam::kTraits.why) continue;
            expect_equal<TypeParam>(geometry, chunk_words, run.trace(), {.fewest_times = 1 + random() % 500});
        }
    }
}

TYPED_TEST(DataCacheOracleTest, DistancesOfHits) {
    if (!TypeParam::kTraits.why) return;
    std::size_t hits_told = 0;
    for (unsigned seed = 0; seed < test::runs(kDataCacheRuns) && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937 random(seed);
        const CacheGeometry geometry =
            cache(1 + random() % 8, 1 + static_cast<std::uint32_t>(random() % 8), this->line_bytes(random));
        const RandomTrace run(random, kRecords, 5, [&] {
            const Address room = random() % 2 == 0 ? 2 * geometry.size_bytes : geometry.size_bytes / 2 + 1;
            return 0x100000 + random() % room;
        });
        for (const std::size_t chunk_words : {std::size_t{100}, kAllWords}) {
            const std::uint64_t fewest_times = random() % 2 == 0 ? 1 + random() % 500 : 1u << 22;
            const auto least = static_cast<std::uint32_t>(2 + random() % (2 + geometry.lines()));
            expect_equal<TypeParam>(geometry, chunk_words, run.trace(),
                                    {.fewest_times = fewest_times, .least_distance = least}, &hits_told);
        }
    }
    EXPECT_GT(hits_told, 1000u);
}

// So large that uses are saved one by one. A few sets are used, and more lines in each than there is room for.
TYPED_TEST(DataCacheOracleTest, LargeCaches) {
    for (unsigned seed = 0; seed < test::runs(kDataCacheRuns / 4) && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937 random(seed);
        const CacheGeometry geometry = cache(seed % 2 == 0 ? 2048 : 2047, 3, this->line_bytes(random));
        ASSERT_GT(geometry.lines(), 4096u);
        const RandomTrace run(random, kRecords / 2, 5, [&] {
            const Address row = 0x4000000 + random() % 5 * geometry.sets() * geometry.line_bytes;
            return row + random() % (3 * geometry.line_bytes);
        });
        for (const std::size_t chunk_words : {std::size_t{100}, kAllWords}) {
            expect_equal<TypeParam>(geometry, chunk_words, run.trace());
        }
    }
}

// Where chunks end shows nowhere.
TYPED_TEST(DataCacheOracleTest, OtherChunksHaveTheSameMissesAndUses) {
    using Miss = typename Ahead<TypeParam>::Miss;
    for (unsigned seed = 0; seed < test::runs(kDataCacheRuns); ++seed) {
        std::mt19937 random(seed);
        const CacheGeometry geometry = cache(4, 2, this->line_bytes(random));
        const RandomTrace run(random, 4 * kRecords, 0, [&] { return 0x100000 + random() % (3 * geometry.size_bytes); });
        const auto is_equal = [](const Miss& a, const Miss& b) {
            if constexpr (TypeParam::kTraits.line_use) {
                if (a.evicted.bytes != b.evicted.bytes || a.evicted.accesses != b.evicted.accesses) return false;
            }
            if constexpr (TypeParam::kTraits.write_back) {
                if (a.evicted.dirty != b.evicted.dirty) return false;
            }
            return a.at == b.at && a.bytes == b.bytes && a.slot == b.slot;
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
            ahead.cache().flush([&](std::uint32_t slot, const auto& use) {
                Miss& miss = misses.emplace_back();
                miss.slot = slot;
                miss.evicted = use;
            });
            return misses;
        };
        const std::vector<Miss> expected = misses_of(kAllWords);
        EXPECT_GT(expected.size(), kRecords);
        for (const std::size_t chunk_words : {1u, 2u, 17u, 512u, 4000u}) {
            EXPECT_TRUE(std::ranges::equal(misses_of(chunk_words), expected, is_equal))
                << "seed " << seed << ", chunks of " << chunk_words;
        }
    }
}

}  // namespace
}  // namespace bd
