// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/ledger.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "program.h"

namespace bd {
namespace {

// One function calls another; what is loaded there is charged to both.
class LedgerTest : public testing::Test {
protected:
    static constexpr std::size_t kWidth = kRunningEvents + 2;
    static constexpr std::size_t kEvent = kRunningEvents;

    void SetUp() override {
        Function& f = program_.function("f");
        Function& g = program_.function("g");
        caller_ = &blocks_.get(program_.entry(f, 0x1000).op().op().ends(JumpKind::kCall), contexts_.of(f));
        callee_ = &blocks_.get(program_.entry(g, 0x2000).op().op().ends(JumpKind::kReturn), contexts_.of(g));
        arc_ = arcs_.get({caller_, 0}, *callee_);
        root_ = tree_.make_root();
        node_ = tree_.acquire_child(root_, arc_);
    }

    void charge(const ChargeTarget& target, std::uint64_t count) {
        ledger_.charge(target, [count](Costs costs, std::uint64_t times) { costs[kEvent] += times * count; });
    }
    // The calls return and no line is left.
    void end() {
        tree_.release(node_);
        tree_.release(root_);
    }

    test::Program program_;
    CostPool costs_{kWidth};
    ContextTable contexts_;
    BlockCosts blocks_{costs_};
    ArcTable arcs_{kWidth};
    BackdatingTree tree_{arcs_, kWidth};
    Ledger ledger_{costs_, blocks_, tree_};
    BlockCost* caller_ = nullptr;
    BlockCost* callee_ = nullptr;
    ArcId arc_ = kNoArc;
    NodeId root_ = kNoNode;
    NodeId node_ = kNoNode;
};

TEST_F(LedgerTest, TheInstructionAndTheOpenCallsAreChargedTheSame) {
    const CostId instruction = ledger_.instruction({}, *callee_, 1);
    EXPECT_EQ(instruction, callee_->instructions[1]);
    charge({node_, instruction}, 7);
    ledger_.settle();
    EXPECT_EQ(costs_[instruction][kEvent], 7u);
    EXPECT_EQ(arcs_.costs(arc_)[kEvent], 7u);
    EXPECT_EQ(tree_.root_costs()[kEvent], 7u);
    end();
    ledger_.check_balance();
}

TEST_F(LedgerTest, InSkippedCodeTheCallIsCharged) {
    EXPECT_EQ(ledger_.instruction({caller_, 0}, *callee_, 1), caller_->instructions[1]);
    EXPECT_EQ(callee_->instructions[1], kNoCost);
    end();
}

TEST_F(LedgerTest, WhatIsHeldCanBeChargedAfterTheCallHasReturned) {
    const ChargeTarget target{node_, ledger_.instruction({}, *callee_, 0)};
    ledger_.hold(target);
    end();
    EXPECT_FALSE(tree_.empty());
    charge(target, 3);
    ledger_.release(target);
    EXPECT_TRUE(tree_.empty());
    EXPECT_EQ(arcs_.costs(arc_)[kEvent], 3u);
    ledger_.check_balance();
}

TEST_F(LedgerTest, ATargetOfNothingMayBeHeld) {
    ledger_.hold({});
    ledger_.release({});
    end();
    EXPECT_TRUE(tree_.empty());
}

TEST_F(LedgerTest, WhatIsForgottenIsMissingOnBothSides) {
    const CostId first = ledger_.instruction({}, *callee_, 0);
    const CostId second = ledger_.instruction({}, *callee_, 1);
    charge({node_, first}, 5);
    charge({node_, second}, 8);
    ledger_.settle();
    ledger_.forget(first);
    EXPECT_EQ(costs_[first][kEvent], 0u);
    EXPECT_EQ(tree_.root_costs()[kEvent], 8u);
    end();
    ledger_.check_balance();
}

TEST_F(LedgerTest, ClearingLeavesNothingCharged) {
    const CostId instruction = ledger_.instruction({}, *callee_, 0);
    charge({node_, instruction}, 5);
    ledger_.settle();
    ledger_.clear_counts();
    EXPECT_EQ(costs_[instruction][kEvent], 0u);
    EXPECT_EQ(tree_.root_costs()[kEvent], 0u);
    end();
    ledger_.check_balance();
}

TEST_F(LedgerTest, AnEventThatWasCountedWithItsBlockIsTakenBack) {
    const CostId instruction = ledger_.instruction({}, *callee_, 0);
    ledger_.take_back(instruction, Event::kIr);
    EXPECT_EQ(costs_[instruction][column(Event::kIr)], ~std::uint64_t{0});
    end();
}

using LedgerDeathTest = LedgerTest;

TEST_F(LedgerDeathTest, WhatIsChargedWithoutTheTreeIsNoticed) {
    charge({node_, ledger_.instruction({}, *callee_, 0)}, 2);
    costs_[callee_->instructions[0]][kEvent] += 1;
    end();
    EXPECT_DEATH(ledger_.check_balance(), "charged");
}

}  // namespace
}  // namespace bd
