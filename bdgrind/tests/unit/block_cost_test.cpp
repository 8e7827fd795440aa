// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/block_cost.h"

#include <gtest/gtest.h>

#include "program.h"

namespace bd {
namespace {

class BlockCostsTest : public testing::Test {
protected:
    test::Program program_;
    Function& f_ = program_.function("f");
    const Function& g_ = program_.function("g");
    const Function& h_ = program_.function("h");
    Block& block_ = program_.code(f_, 0x1000).op().may_exit().op().op().may_exit().op().ends();
    Block& other_ = program_.code(f_, 0x2000).op().ends();
    CostPool costs_{3};
    ContextTable contexts_;
    BlockCosts blocks_{costs_};
};

TEST_F(BlockCostsTest, ABlockHasOneSetOfCountsPerContext) {
    const Context& f = contexts_.of(f_);
    const Context& g = contexts_.of(g_);
    const Context& h = contexts_.of(h_);
    EXPECT_EQ(&contexts_.of(f_), &f);
    BlockCost& in_f = blocks_.get(block_, f);
    BlockCost& in_g = blocks_.get(block_, g);
    BlockCost& in_h = blocks_.get(block_, h);
    BlockCost& of_other = blocks_.get(other_, f);
    EXPECT_EQ(blocks_.all().size(), 4u);
    // However often and in whatever order they are asked for.
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(&blocks_.get(block_, f), &in_f);
        EXPECT_EQ(&blocks_.get(other_, f), &of_other);
        EXPECT_EQ(&blocks_.get(block_, h), &in_h);
        EXPECT_EQ(&blocks_.get(block_, g), &in_g);
        EXPECT_EQ(&blocks_.get(block_, h), &in_h);
    }
    EXPECT_EQ(blocks_.all().size(), 4u);
    EXPECT_EQ(in_g.block, &block_);
    EXPECT_EQ(in_g.context, &g);
}

TEST_F(BlockCostsTest, NoneOfManyIsLost) {
    f_.recursion_levels = 40;
    std::vector<const BlockCost*> made;
    for (std::uint32_t level = 1; level <= 40; ++level) {
        made.push_back(&blocks_.get(block_, contexts_.of(f_, level)));
        for (std::uint32_t again = level; again > 0; --again) {
            ASSERT_EQ(&blocks_.get(block_, contexts_.of(f_, again)), made[again - 1]) << again << " of " << level;
        }
    }
    EXPECT_EQ(blocks_.all().size(), 40u);
}

// However few or many there are, and whichever was asked for last.
TEST_F(BlockCostsTest, EachIsFoundFromEachOther) {
    f_.recursion_levels = 8;
    std::vector<const BlockCost*> made;
    for (std::uint32_t level = 1; level <= 8; ++level) {
        made.push_back(&blocks_.get(block_, contexts_.of(f_, level)));
        for (std::uint32_t from = 1; from <= level; ++from) {
            for (std::uint32_t to = 1; to <= level; ++to) {
                blocks_.get(block_, contexts_.of(f_, from));
                ASSERT_EQ(&blocks_.get(block_, contexts_.of(f_, to)), made[to - 1]) << from << ", " << to;
            }
        }
        ASSERT_EQ(blocks_.all().size(), level);
    }
}

TEST_F(BlockCostsTest, CountsStartAtZero) {
    const BlockCost& cost = blocks_.get(block_, contexts_.of(f_));
    for (std::size_t i = 0; i < block_.exit_count; ++i) {
        EXPECT_EQ(cost.exits[i].taken, 0u);
        EXPECT_EQ(cost.exits[i].arc, kNoArc);
    }
    for (std::size_t i = 0; i < block_.instruction_count; ++i) EXPECT_EQ(cost.instructions[i], kNoCost);
}

TEST_F(BlockCostsTest, AnInstructionGetsItsCostVectorWhenItIsFirstNeeded) {
    BlockCost& cost = blocks_.get(block_, contexts_.of(f_));
    const CostId id = blocks_.instruction(cost, 2);
    EXPECT_NE(id, kNoCost);
    EXPECT_EQ(blocks_.instruction(cost, 2), id);
    EXPECT_NE(blocks_.instruction(cost, 3), id);
    EXPECT_EQ(costs_.size(), 2u);
}

TEST_F(BlockCostsTest, TheCallerIsTheLastInstructionBeforeTheExit) {
    BlockCost& cost = blocks_.get(block_, contexts_.of(f_));
    EXPECT_EQ(blocks_.caller({&cost, 0}), blocks_.instruction(cost, 0));
    EXPECT_EQ(blocks_.caller({&cost, 1}), blocks_.instruction(cost, 2));
    EXPECT_EQ(blocks_.caller({&cost, 2}), blocks_.instruction(cost, 3));
}

TEST_F(BlockCostsTest, WhatAnExitHasCountedGoesToTheContextItWasTakenIn) {
    BlockCost& in_f = blocks_.get(block_, contexts_.of(f_));
    BlockCost& in_g = blocks_.get(block_, contexts_.of(g_));
    TracedExit& exit = block_.exits()[1];
    blocks_.note_context(exit, in_f);
    exit.fast_path_context = in_f.context;
    exit.taken += 3;
    blocks_.note_context(exit, in_f);
    EXPECT_EQ(exit.fast_path_context, in_f.context);
    blocks_.note_context(exit, in_g);
    EXPECT_EQ(exit.fast_path_context, nullptr);
    EXPECT_EQ(in_f.exits[1].taken, 3u);
    exit.taken += 4;
    blocks_.settle();
    blocks_.settle();
    EXPECT_EQ(in_f.exits[1].taken, 3u);
    EXPECT_EQ(in_g.exits[1].taken, 4u);
    EXPECT_EQ(in_g.exits[0].taken, 0u);
    exit.taken += 5;
    blocks_.clear_counts();
    blocks_.settle();
    EXPECT_EQ(in_g.exits[1].taken, 0u);
}

TEST_F(BlockCostsTest, ClearingZeroesTheExitsOnly) {
    BlockCost& cost = blocks_.get(block_, contexts_.of(f_));
    const CostId id = blocks_.instruction(cost, 1);
    for (std::size_t i = 0; i < block_.exit_count; ++i) cost.exits[i].taken = 7;
    blocks_.clear_counts();
    for (std::size_t i = 0; i < block_.exit_count; ++i) EXPECT_EQ(cost.exits[i].taken, 0u);
    EXPECT_EQ(cost.instructions[1], id);
}

// The tests replay one program with many engines, one after the other.
TEST_F(BlockCostsTest, BlocksCanBeUsedAgainByTheNextEngine) {
    {
        CostPool costs(3);
        ContextTable contexts;
        BlockCosts blocks(costs);
        TracedExit& exit = block_.exits()[1];
        blocks.note_context(exit, blocks.get(block_, contexts.of(f_)));
        exit.taken = 3;
        EXPECT_DEATH(blocks_.get(block_, contexts_.of(f_)), "exit.cost");
    }
    BlockCost& cost = blocks_.get(block_, contexts_.of(f_));
    blocks_.note_context(block_.exits()[1], cost);
    blocks_.settle();
    EXPECT_EQ(cost.exits[1].taken, 0u);
}

}  // namespace
}  // namespace bd
