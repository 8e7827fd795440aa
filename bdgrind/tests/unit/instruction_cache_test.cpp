// SPDX-License-Identifier: GPL-2.0-or-later
//
// I1 alone: by hand, and against a naive simulation that takes instructions one by one, on code and traces made at
// random.

#include "engine/cache/instruction_cache.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "cache_fixture.h"
#include "choice.h"
#include "program.h"
#include "runs.h"

namespace bd {
namespace {

using test::cache;
using test::Choice;
using test::Program;
using test::Trace;
using test::true_misses;

// An I1 and its latest chunk.
template <CacheTraits kTraits>
class FetchesAhead {
public:
    using Cache = InstructionCache<kTraits>;

    explicit FetchesAhead(const CacheGeometry& geometry) : cache_(geometry) {}

    // The whole batch is a chunk. Returns whether its records were counted.
    bool run(Batch batch) {
        const bool counts = cache_.counts();
        cache_.run(batch, &chunk_, [batch](auto records) {
            for (const Word* at = batch.data(); at != batch.data() + batch.size(); at += record_words(*at)) {
                records.run(exit_of(*at), at);
            }
            records.stop();
            return batch;
        });
        return counts;
    }

    Cache& cache() { return cache_; }
    auto misses() const { return true_misses(chunk_); }
    const auto& chunk() const { return chunk_; }

private:
    Cache cache_;
    typename Cache::Chunk chunk_;
};

// The use of a line, byte by byte.
struct NaiveUse {
    std::set<unsigned> bytes;
    std::uint64_t accesses = 0;

    std::pair<std::uint64_t, std::uint64_t> numbers() const { return {bytes.size(), accesses}; }
};
template <class Use>
std::pair<std::uint64_t, std::uint64_t> numbers(const Use& use) {
    return {use.bytes.count(), use.accesses};
}

// A cache whose sets are lists of lines, the latest first.
class NaiveFetches {
public:
    struct Miss {
        FetchPosition at;
        std::uint32_t bytes;
        std::pair<std::uint64_t, std::uint64_t> evicted;  // bytes used, and accesses; zeros if there was no line
        bool operator==(const Miss&) const = default;
    };

    explicit NaiveFetches(const CacheGeometry& geometry)
        : line_bytes_(geometry.line_bytes), ways_(geometry.ways), sets_(geometry.sets()) {}

    // `look(position)` before each part of an instruction.
    template <class Look>
    std::vector<Miss> run(Batch batch, Look look) {
        std::vector<Miss> misses;
        for (std::size_t at = 0; at < batch.size(); at += record_words(batch[at])) {
            const Exit& exit = exit_of(batch[at]);
            for (std::uint32_t i = 0; exit.block != nullptr && i < exit.instructions; ++i) {
                const Address begin = exit.block->instruction_address(i);
                const Address end = begin + exit.block->instructions()[i].size;
                for (Address part = begin; part < end; part = (part / line_bytes_ + 1) * line_bytes_) {
                    const auto bytes =
                        static_cast<unsigned>(std::min<Address>(end, (part / line_bytes_ + 1) * line_bytes_) - part);
                    const FetchPosition position{static_cast<std::uint32_t>(at), i, part};
                    look(position);
                    touch(position, part, bytes, &misses);
                }
            }
        }
        return misses;
    }

    const std::map<Address, NaiveUse>& uses() const { return uses_; }  // by line
    void clear() {
        uses_.clear();
        lists_.clear();
    }

private:
    void touch(const FetchPosition& position, Address part, unsigned bytes, std::vector<Miss>* misses) {
        const Address line = part / line_bytes_;
        std::vector<Address>& list = lists_[line % sets_];
        if (const auto found = std::ranges::find(list, line); found != list.end()) {
            list.erase(found);
        } else {
            Miss miss{position, bytes, {0, 0}};
            if (list.size() == ways_) {
                miss.evicted = uses_.extract(list.back()).mapped().numbers();
                list.pop_back();
            }
            misses->push_back(miss);
        }
        list.insert(list.begin(), line);
        NaiveUse& use = uses_[line];
        ++use.accesses;
        for (unsigned i = 0; i < bytes; ++i) use.bytes.insert(static_cast<unsigned>(part % line_bytes_) + i);
    }

    Address line_bytes_;
    std::uint32_t ways_;
    std::uint64_t sets_;
    std::map<std::uint64_t, std::vector<Address>> lists_;  // by set
    std::map<Address, NaiveUse> uses_;
};

// Two blocks of 4-byte instructions on lines 0x40 and 0x41; the first may be left after its first instruction, at the
// end of line 0x40.
class InstructionCacheTest : public testing::Test {
protected:
    using Ahead = FetchesAhead<test::kCommonUse>;

    // How often each line was accessed that the cache holds.
    std::map<std::uint64_t, std::uint64_t> accesses(Ahead& ahead) {
        std::map<std::uint64_t, std::uint64_t> accesses;
        std::map<std::uint32_t, LineNumber> lines;
        for (const auto& miss : ahead.misses()) lines[miss.slot] = ahead.cache().line_of(miss.at.address);
        for (const auto& [slot, line] : lines) {
            const auto use = ahead.cache().use_before(ahead.chunk(), kEnd, slot, line);
            accesses[static_cast<std::uint64_t>(line)] = use.accesses;
        }
        return accesses;
    }

    static constexpr FetchPosition kEnd{.record = ~std::uint32_t{0}, .instruction = 0, .address = 0};
    Program program_{6};
    Block& two_lines_ = program_.code(program_.function("f"), 0x103c).op(4).may_exit().op(4).ends();
    Block& one_line_ = program_.code(program_.function("f"), 0x1050).op(4).ends();
    Ahead ahead_{cache(1, 4, 64)};
};

TEST_F(InstructionCacheTest, EachExitCreditsWhatLiesBeforeIt) {
    Trace trace;
    for (int i = 0; i < 10; ++i) trace.run_to(two_lines_, 0, 0, {});
    trace.run(two_lines_, 0);
    ahead_.run(trace.all());
    EXPECT_EQ(accesses(ahead_), (std::map<std::uint64_t, std::uint64_t>{{0x40, 11}, {0x41, 1}}));
}

TEST_F(InstructionCacheTest, AMissTellsWhereItIsAndHowMuchIsAskedFor) {
    Block& straddles = program_.code(program_.function("f"), 0x107d).op(2).op(8).ends();
    const Trace trace = Trace().run(one_line_, 0).run(straddles, 0);
    ahead_.run(trace.all());
    ASSERT_EQ(ahead_.misses().size(), 2u);
    EXPECT_EQ(ahead_.misses()[0].at, (FetchPosition{0, 0, 0x1050}));
    EXPECT_EQ(ahead_.misses()[0].bytes, 4u);
    EXPECT_EQ(ahead_.misses()[1].at, (FetchPosition{2, 1, 0x1080}));
    EXPECT_EQ(ahead_.misses()[1].bytes, 7u) << "of the 8 bytes, those in the second line";
}

// LL may lose a line whose copy is just being executed.
TEST_F(InstructionCacheTest, TheUseIsKnownInTheMidstOfABlock) {
    const Trace trace = Trace().run(two_lines_, 0).run(two_lines_, 0);
    ahead_.run(trace.all());
    const auto accesses_before = [&](std::uint32_t record, std::uint32_t instruction) {
        const auto& first = ahead_.misses()[0];
        return ahead_.cache()
            .use_before(ahead_.chunk(), {record, instruction, 0}, first.slot, LineNumber{0x40})
            .accesses;
    };
    EXPECT_EQ(accesses_before(0, 0), 0u);
    EXPECT_EQ(accesses_before(0, 1), 1u);
    EXPECT_EQ(accesses_before(2, 0), 1u);
    EXPECT_EQ(accesses_before(2, 1), 2u);
}

TEST_F(InstructionCacheTest, RecordsAreCountedWhereNothingMissed) {
    Trace trace;
    for (int i = 0; i < 2000; ++i) trace.run(two_lines_, 0).run(one_line_, 0);
    EXPECT_FALSE(ahead_.run(trace.all()));
    EXPECT_TRUE(ahead_.run(trace.all()));
    std::vector<std::uint64_t> accesses;
    ahead_.cache().flush([&](std::uint32_t, const auto& use) { accesses.push_back(use.accesses); });
    EXPECT_EQ(accesses, (std::vector<std::uint64_t>{4000, 8000}));
    ahead_.run(Trace().run(one_line_, 0).all());
    EXPECT_EQ(ahead_.misses().size(), 1u) << "it was emptied";
}

// Lines that are counted are used in the order of their latest records.
TEST_F(InstructionCacheTest, CountedRecordsAreUsesInTheirOrder) {
    Block& other = program_.code(program_.function("f"), 0x1090).op(4).ends();
    Block& further = program_.code(program_.function("f"), 0x10d0).op(4).ends();
    Block& new_one = program_.code(program_.function("f"), 0x2000).op(4).ends();
    Trace warm;
    for (int i = 0; i < 1000; ++i) warm.run(two_lines_, 0).run(other, 0).run(further, 0);
    ahead_.run(warm.all());
    const Trace trace = Trace().run(further, 0).run(other, 0).run(two_lines_, 0).run(further, 0).run(new_one, 0);
    EXPECT_TRUE(ahead_.run(trace.all()));
    ASSERT_EQ(ahead_.misses().size(), 1u);
    EXPECT_EQ(ahead_.misses()[0].evicted.accesses, 1001u);
    ahead_.run(Trace().run(two_lines_, 0).run(further, 0).run(other, 0).all());
    ASSERT_EQ(ahead_.misses().size(), 1u);
    EXPECT_EQ(ahead_.misses()[0].at.address, 0x1090u) << "it was the one used first";
}

TEST_F(InstructionCacheTest, TheNextEngineFindsNoNotesOfThisOne) {
    Trace trace;
    for (int i = 0; i < 1000; ++i) trace.run(one_line_, 0);
    {
        Ahead others(cache(1, 4, 64));
        others.run(trace.all());
        ASSERT_TRUE(others.run(trace.all()));
    }
    Block& other = program_.code(program_.function("f"), 0x2000).op(4).ends();
    Trace of_other;
    for (int i = 0; i < 1000; ++i) of_other.run(other, 0);
    ahead_.run(of_other.all());
    ASSERT_TRUE(ahead_.run(trace.all()));
    EXPECT_EQ(ahead_.misses().size(), 1u) << "the line is in the cache of the other only";
}

// --- At random

// Code in some pieces: lines of one piece are neighbours, and blocks may be long or have many exits.
std::vector<Block*> random_code(Choice& choice, Program& program, std::size_t blocks) {
    std::vector<Block*> code;
    for (std::size_t i = 0; i < blocks; ++i) {
        const Address address = 0x1000 * choice.between(1, 4) + choice.below(1500);
        test::Code block = program.code(program.function("f"), address);
        const std::uint64_t instructions = choice.chance(10) ? 60 : choice.between(1, 12);
        for (std::uint64_t k = 0; k < instructions; ++k) {
            block.op(static_cast<std::uint32_t>(choice.between(1, 15)));
            if (choice.chance(20)) block.may_exit();
        }
        code.push_back(&block.ends());
    }
    return code;
}

// Rounds of a loop, each over a few blocks.
void add_loop(Choice& choice, const std::vector<Block*>& code, Trace* trace) {
    std::vector<Block*> body;
    for (std::uint64_t i = choice.between(1, 4); i > 0; --i) body.push_back(choice.one_of(code));
    for (std::uint64_t round = choice.chance(30) ? 300 : choice.below(4); round > 0; --round) {
        for (Block* block : body) trace->run_to(*block, choice.chance(90) ? 0 : choice.below(block->exit_count), 0, {});
    }
    if (choice.chance(10)) trace->mark(Marker::kThread, 1);
}

// Returns whether records were counted in some chunk.
template <CacheTraits kTraits>
bool compare(const CacheGeometry& geometry, unsigned seed) {
    SCOPED_TRACE(testing::Message() << geometry.size_bytes << "," << geometry.ways << "," << geometry.line_bytes
                                    << " seed " << seed);
    Choice choice(seed);
    Program program(geometry.line_bits());
    const std::vector<Block*> code = random_code(choice, program, 20);
    FetchesAhead<kTraits> ahead(geometry);
    NaiveFetches naive(geometry);
    std::map<Address, std::uint32_t> slots;  // by line
    bool has_counted = false;
    for (int chunk = 0; chunk < 8 && !testing::Test::HasFailure(); ++chunk) {
        Trace trace;
        for (std::uint64_t loops = choice.between(1, 12); loops > 0; --loops) add_loop(choice, code, &trace);
        if (trace.records() == 0) continue;
        has_counted = ahead.run(trace.all()) || has_counted;

        // The naive cache goes through the chunk once more, and asks now and then.
        auto next = ahead.misses().begin();
        const auto misses = naive.run(trace.all(), [&](const FetchPosition& position) {
            for (; next != ahead.misses().end() && next->at < position; ++next) {
                std::erase_if(slots, [&](const auto& line) { return line.second == next->slot; });
                slots[static_cast<Address>(ahead.cache().line_of(next->at.address))] = next->slot;
            }
            if (!choice.chance(1) || slots.empty()) return;
            const auto& [line, slot] =
                *std::next(slots.begin(), static_cast<std::ptrdiff_t>(choice.below(slots.size())));
            ASSERT_EQ(numbers(ahead.cache().use_before(ahead.chunk(), position, slot, LineNumber{line})),
                      naive.uses().at(line).numbers());
        });
        for (; next != ahead.misses().end(); ++next) {
            std::erase_if(slots, [&](const auto& line) { return line.second == next->slot; });
            slots[static_cast<Address>(ahead.cache().line_of(next->at.address))] = next->slot;
        }
        EXPECT_EQ(ahead.misses().size(), misses.size()) << "chunk " << chunk;
        for (std::size_t i = 0; i < misses.size() && !testing::Test::HasFailure(); ++i) {
            const auto& miss = ahead.misses()[i];
            EXPECT_EQ((NaiveFetches::Miss{miss.at, miss.bytes, numbers(miss.evicted)}), misses[i]) << "miss " << i;
        }
        if (!choice.chance(15)) continue;
        std::multiset<std::pair<std::uint64_t, std::uint64_t>> flushed;
        std::multiset<std::pair<std::uint64_t, std::uint64_t>> expected;
        ahead.cache().flush([&](std::uint32_t, const auto& use) { flushed.insert(numbers(use)); });
        for (const auto& [line, use] : naive.uses()) expected.insert(use.numbers());
        EXPECT_EQ(flushed, expected);
        naive.clear();
        slots.clear();
    }
    return has_counted;
}

#ifdef __SANITIZE_ADDRESS__
constexpr unsigned kFetchRuns = 1;
#else
constexpr unsigned kFetchRuns = 6;
#endif

TEST(InstructionCacheOracle, CachesOfAllShapesEqualTheNaiveOne) {
    bool has_counted = false;
    for (unsigned seed = 0; seed < test::runs(kFetchRuns) && !testing::Test::HasFailure(); ++seed) {
        for (const auto& [sets, ways] : {std::tuple(1, 1), std::tuple(2, 2), std::tuple(5, 3), std::tuple(16, 8)}) {
            const auto lines = [&](std::uint32_t bytes) {
                return cache(static_cast<std::uint64_t>(sets), static_cast<std::uint32_t>(ways), bytes);
            };
            has_counted = compare<test::kCommonUse>(lines(64), seed) || has_counted;
            compare<test::kAnyUse>(lines(16), seed);
            compare<test::kAnyUse>(lines(64), seed);
            compare<test::kAnyUse>(lines(256), seed);
        }
    }
    EXPECT_TRUE(has_counted);
}

// So large that uses are saved one by one.
TEST(InstructionCacheOracle, LargeCachesEqualTheNaiveOne) {
    for (unsigned seed = 0; seed < test::runs(3) && !testing::Test::HasFailure(); ++seed) {
        compare<test::kCommonUse>(cache(8192, 1, 64), seed);
        compare<test::kAnyUse>(cache(2048, 4, 16), seed);
    }
}

}  // namespace
}  // namespace bd
