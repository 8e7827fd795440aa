// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/arcs.h"

#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "program.h"

namespace bd {
namespace {

class ArcTableTest : public testing::Test {
protected:
    BlockCost& cost(Address address, const Function& function) {
        Block& block = program_.code(function, address).op().may_exit().op().ends(JumpKind::kCall);
        return blocks_.get(block, contexts_.of(function));
    }

    test::Program program_;
    CostPool costs_{3};
    ContextTable contexts_;
    BlockCosts blocks_{costs_};
    ArcTable arcs_{4};
    const Function& f_ = program_.function("f");
    BlockCost& caller_ = cost(0x1000, f_);
    BlockCost& callee_ = cost(0x2000, program_.function("g"));
    BlockCost& other_callee_ = cost(0x3000, program_.function("h"));
};

TEST_F(ArcTableTest, AnArcIsMadeOnceAndStartsAtZero) {
    const ArcId arc = arcs_.get({&caller_, 1}, callee_);
    EXPECT_EQ(arc, ArcId{1});
    EXPECT_EQ(arcs_.get({&caller_, 1}, callee_), arc);
    EXPECT_EQ(arcs_.size(), 1u);
    EXPECT_EQ(arcs_[arc].site, (CallSite{&caller_, 1}));
    EXPECT_EQ(arcs_[arc].callee, &callee_);
    EXPECT_EQ(arcs_[arc].calls, 0u);
    ASSERT_EQ(arcs_.costs(arc).size(), 4u);
    for (const std::uint64_t count : arcs_.costs(arc)) EXPECT_EQ(count, 0u);
}

TEST_F(ArcTableTest, SitesAndCalleesMakeDifferentArcs) {
    const ArcId arc = arcs_.get({&caller_, 1}, callee_);
    EXPECT_NE(arcs_.get({&caller_, 0}, callee_), arc);
    EXPECT_NE(arcs_.get({&other_callee_, 1}, callee_), arc);
    EXPECT_NE(arcs_.get({&caller_, 1}, other_callee_), arc);
    EXPECT_EQ(arcs_.size(), 4u);
}

// An indirect call: the exit remembers its latest arc only.
TEST_F(ArcTableTest, ASiteThatCallsInTurnKeepsItsArcs) {
    const ArcId first = arcs_.get({&caller_, 1}, callee_);
    const ArcId second = arcs_.get({&caller_, 1}, other_callee_);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(arcs_.get({&caller_, 1}, callee_), first);
        EXPECT_EQ(arcs_.get({&caller_, 1}, other_callee_), second);
    }
    EXPECT_EQ(arcs_.size(), 2u);
}

TEST_F(ArcTableTest, ManyArcsStayApart) {
    std::vector<BlockCost*> blocks;
    for (Address address = 0x10000; address < 0x10000 + 16 * 60; address += 16)
        blocks.push_back(&cost(address, f_));
    std::map<std::tuple<BlockCost*, std::uint16_t, BlockCost*>, ArcId> made;
    for (int round = 0; round < 2; ++round) {
        for (BlockCost* from : blocks) {
            for (std::uint16_t exit = 0; exit < 2; ++exit) {
                for (BlockCost* to : blocks) {
                    const ArcId arc = arcs_.get({from, exit}, *to);
                    const auto [entry, is_new] = made.try_emplace({from, exit, to}, arc);
                    ASSERT_EQ(entry->second, arc);
                    ASSERT_EQ(is_new, round == 0);
                    arcs_.costs(arc)[1] += 1;
                }
            }
        }
    }
    EXPECT_EQ(arcs_.size(), 60u * 60 * 2);
    for (std::uint32_t id = 1; id <= arcs_.size(); ++id) ASSERT_EQ(arcs_.costs(ArcId{id})[1], 2u);
}

TEST_F(ArcTableTest, ClearingKeepsTheArcs) {
    const ArcId arc = arcs_.get({&caller_, 1}, callee_);
    arcs_[arc].calls = 5;
    arcs_.costs(arc)[3] = 6;
    arcs_.clear_counts();
    EXPECT_EQ(arcs_[arc].calls, 0u);
    EXPECT_EQ(arcs_.costs(arc)[3], 0u);
    EXPECT_EQ(arcs_.get({&caller_, 1}, callee_), arc);
}

}  // namespace
}  // namespace bd
