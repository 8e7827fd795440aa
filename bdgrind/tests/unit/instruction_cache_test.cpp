// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/instruction_cache.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "cache_fixture.h"
#include "engine/costs/contexts.h"
#include "program.h"

namespace bd {
namespace {

using test::cache;
using test::Program;

// Two blocks of 4-byte instructions on lines 0x40 and 0x41; the first may be left after its first instruction, at the
// end of line 0x40.
class InstructionCacheTest : public testing::Test {
protected:
    using Lines = InstructionCache<test::kCommonUse>;

    // A line that is not there.
    std::uint32_t load(std::uint64_t number) {
        const LineNumber line{number};
        const std::uint32_t slot = lines_.slot_for(line);
        lines_.load(slot, line, [](LineNumber, const auto&) { ADD_FAILURE() << "it has room for all lines"; });
        return slot;
    }
    // Accesses to a line so far.
    std::uint64_t accesses(std::uint32_t slot) { return lines_.use_of(slot).accesses; }
    // The same of a line that leaves, for one of the same set.
    std::uint64_t accesses_when_evicted(std::uint32_t slot) {
        std::uint64_t accesses = 0;
        lines_.load(slot, LineNumber{0x1000}, [&](LineNumber, const auto& use) { accesses = use.accesses; });
        return accesses;
    }

    Program program_{6};
    Block& two_lines_ = program_.code(program_.function("f"), 0x103c).op(4).may_exit().op(4).ends();
    Block& one_line_ = program_.code(program_.function("f"), 0x1050).op(4).ends();
    ContextTable contexts_;
    const Context& context_ = contexts_.of(program_.function("f"));
    Lines lines_{cache(1, 4, 64)};
    const std::uint32_t first_ = load(0x40);
    const std::uint32_t second_ = load(0x41);
};

TEST_F(InstructionCacheTest, EachExitCreditsWhatLiesBeforeIt) {
    ASSERT_TRUE(lines_.list_present(two_lines_.exits()[1]));
    two_lines_.exits()[0].uncredited = 10;
    two_lines_.exits()[1].uncredited = 1;
    EXPECT_EQ(accesses(second_), 1u);
    EXPECT_EQ(accesses(first_), 11u);
    EXPECT_EQ(accesses(first_), 11u) << "no credit is given twice";
    EXPECT_EQ(lines_.use_of(first_).bytes.count(), 4u);
}

TEST_F(InstructionCacheTest, AskingForALineCreditsTheBlocksOnItOnly) {
    ASSERT_TRUE(lines_.list_present(two_lines_.exits()[1]));
    ASSERT_TRUE(lines_.list_present(one_line_.exits()[0]));
    two_lines_.exits()[1].uncredited = 2;
    one_line_.exits()[0].uncredited = 4;
    EXPECT_EQ(accesses(first_), 2u);
    EXPECT_EQ(one_line_.exits()[0].uncredited, 4u);
    EXPECT_EQ(accesses(second_), 6u);
}

// Most of the times are counted for BlockCosts already, which may take them at any moment.
TEST_F(InstructionCacheTest, WhatIsCountedElsewhereIsCreditedOnce) {
    TracedExit& exit = one_line_.exits()[0];
    ASSERT_TRUE(lines_.list_present(exit));
    exit.taken = 10;
    EXPECT_EQ(accesses(second_), 10u);
    exit.taken += 3;
    EXPECT_EQ(exit.take_taken(), 13u);
    EXPECT_EQ(exit.taken, 0u);
    exit.taken = 1;
    exit.uncredited += 2;  // times that are charged to no block
    EXPECT_EQ(accesses(second_), 16u);
    // One of those that are counted is under way, and gets its credit in another way.
    --exit.uncredited;
    ++exit.taken;
    EXPECT_EQ(accesses_when_evicted(second_), 16u);
}

TEST_F(InstructionCacheTest, FetchesOfAnEvictedLineHaveNoSlot) {
    ASSERT_TRUE(lines_.list_present(two_lines_.exits()[1]));
    two_lines_.exits()[1].fast_path_context = &context_;
    two_lines_.exits()[1].uncredited = 2;
    EXPECT_EQ(accesses_when_evicted(first_), 2u);
    EXPECT_EQ(two_lines_.fetches()[0].i1_slot, CachedFetch::kNoSlot);
    EXPECT_EQ(two_lines_.fetches()[1].i1_slot, second_);
    EXPECT_EQ(two_lines_.exits()[1].fast_path_context, nullptr);
    EXPECT_EQ(accesses(second_), 2u);
    EXPECT_FALSE(lines_.list_present(two_lines_.exits()[1])) << "its first line is absent";
}

TEST_F(InstructionCacheTest, ABlockIsCreditedWhenItHasRun) {
    TracedExit& exit = two_lines_.exits()[1];
    ASSERT_TRUE(lines_.list_present(exit));
    ++exit.taken;
    lines_.start_block(exit);
    EXPECT_EQ(accesses(first_), 0u);
    lines_.finish_block();
    EXPECT_EQ(accesses(first_), 1u);
    EXPECT_EQ(accesses(second_), 1u);
}

// LL may lose a line whose copy is just being executed.
TEST_F(InstructionCacheTest, ABlockThatRunsIsCreditedAsFarAsItHasComeIfSomebodyAsks) {
    TracedExit& exit = two_lines_.exits()[1];
    ASSERT_TRUE(lines_.list_present(exit));
    ++exit.taken;
    lines_.start_block(exit);
    lines_.set_fetched(1);
    EXPECT_EQ(accesses(first_), 1u);
    EXPECT_EQ(accesses(second_), 0u);
    lines_.finish_block();
    EXPECT_EQ(accesses(first_), 1u) << "not once more";
    EXPECT_EQ(accesses(second_), 1u);
}

TEST_F(InstructionCacheTest, SingleFetchesAreCreditedAtOnceAndOnce) {
    TracedExit& exit = one_line_.exits()[0];
    ASSERT_TRUE(lines_.list_present(exit));
    ++exit.taken;
    lines_.start_block(exit);
    lines_.set_single_fetches(true);
    lines_.set_fetched(1);
    lines_.hit_line(second_);
    lines_.credit(second_, 0x10, 4, 1);
    EXPECT_EQ(accesses(second_), 1u);
    lines_.set_single_fetches(false);
    EXPECT_EQ(accesses_when_evicted(second_), 1u);
}

// Whichever way blocks are replayed, the same line goes next.
TEST_F(InstructionCacheTest, HitsAreUsesInTheirOrder) {
    ASSERT_TRUE(lines_.list_present(two_lines_.exits()[1]));
    lines_.note_slots(two_lines_.exits()[1]);
    load(0x42);
    load(0x43);
    auto now = lines_.time();
    lines_.hit(two_lines_.exits()[1], &now);
    lines_.set_time(now);
    EXPECT_EQ(lines_[lines_.slot_for(LineNumber{0x50})], LineNumber{0x42});
    lines_.hit_line(lines_.find(LineNumber{0x42}));
    lines_.hit_line(lines_.find(LineNumber{0x43}));
    EXPECT_EQ(lines_[lines_.slot_for(LineNumber{0x50})], LineNumber{0x40}) << "the block's first line";
}

TEST_F(InstructionCacheTest, ABlockOfManyLinesUsesEachOfThem) {
    Block& long_block = program_.code(program_.function("f"), 0x1000).op(200).ends();
    ASSERT_TRUE(long_block.exits()[0].has_more_lines);
    load(0x42);
    load(0x43);
    ASSERT_TRUE(lines_.list_present(long_block.exits()[0]));
    auto now = lines_.time();
    lines_.hit(long_block.exits()[0], &now);
    EXPECT_EQ(now, lines_.time() + 4);
    EXPECT_EQ(lines_[lines_.slot_for(LineNumber{0x50})], LineNumber{0x40});
}

TEST_F(InstructionCacheTest, FlushingGivesEveryLineWithItsUse) {
    ASSERT_TRUE(lines_.list_present(two_lines_.exits()[1]));
    two_lines_.exits()[1].uncredited = 3;
    std::vector<std::uint64_t> accesses;
    lines_.flush([&](std::uint32_t, LineNumber, const auto& use) { accesses.push_back(use.accesses); });
    EXPECT_EQ(accesses, (std::vector<std::uint64_t>{3, 3}));
    EXPECT_EQ(lines_.find(LineNumber{0x40}), lines_.kAbsent);
    EXPECT_EQ(two_lines_.fetches()[0].i1_slot, CachedFetch::kNoSlot);
}

TEST_F(InstructionCacheTest, TheNextEngineFindsNoNotesOfThisOne) {
    {
        Lines others(cache(1, 4, 64));
        const LineNumber line{0x41};
        others.load(others.slot_for(line), line, [](LineNumber, const auto&) {});
        ASSERT_TRUE(others.list_present(one_line_.exits()[0]));
        one_line_.exits()[0].fast_path_context = &context_;
        one_line_.exits()[0].uncredited = 7;
        one_line_.exits()[0].taken = 5;
    }
    EXPECT_EQ(one_line_.fetches()[0].i1_slot, CachedFetch::kNoSlot);
    EXPECT_EQ(one_line_.exits()[0].fast_path_context, nullptr);
    ASSERT_TRUE(lines_.list_present(one_line_.exits()[0]));
    EXPECT_EQ(accesses(second_), 0u);
}

}  // namespace
}  // namespace bd
