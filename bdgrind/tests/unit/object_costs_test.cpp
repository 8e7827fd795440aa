// SPDX-License-Identifier: GPL-2.0-or-later
//
// The cells of instructions and object groups, by hand.

#include "engine/objects/object_costs.h"

#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/costs/events.h"

namespace bd {
namespace {

// Those of lately are kept by a hash, which some of these have in common.
TEST(ObjectCostsTest, EachInstructionHasACellForEachGroup) {
    CostPool pool(2);
    ObjectCosts costs(pool);
    std::map<CostId, std::pair<CostId, GroupId>> owners;
    for (int round = 0; round < 2; ++round) {
        for (const std::uint32_t instruction : {1u, 2u, 62u, 4097u}) {
            for (const std::uint32_t group : {1u, 2u, 4097u, 8194u}) {
                const std::pair<CostId, GroupId> owner{CostId{instruction}, GroupId{group}};
                const CostId cell = costs.get(owner.first, owner.second);
                EXPECT_EQ(owners.try_emplace(cell, owner).first->second, owner);
                EXPECT_EQ(costs.get(owner.first, owner.second), cell);
                EXPECT_EQ(costs.owner_of(cell).instruction, owner.first);
                EXPECT_EQ(costs.owner_of(cell).group, owner.second);
            }
        }
    }
    EXPECT_EQ(owners.size(), 16u);
}

// An instruction that is charged for a function of another file, which is not shown, and for data.
TEST(ObjectCostsTest, WhatIsLeftOfTheEventsOfCodeIsItsOwnFiles) {
    EventSet events;
    for (const EventGroup group : {EventGroup::kMisses, EventGroup::kMissesLast, EventGroup::kUse1, EventGroup::kUse2,
                                   EventGroup::kBranches}) {
        events.enable(group);
    }
    CostPool pool(events.width());
    ObjectCosts costs(pool);
    const CostId instruction = pool.make();
    const auto set = [&](CostId id, Event event, std::uint64_t count) { pool[id][column(event)] = count; };
    set(instruction, Event::kI1mr, 3);
    set(instruction, Event::kSpLoss1, 100);
    set(instruction, Event::kAccess2, 7);
    set(instruction, Event::kBcm, 5);
    const CostId others = costs.get_code(instruction, GroupId{2});
    EXPECT_EQ(costs.get_code(instruction, GroupId{2}), others);
    set(others, Event::kI1mr, 40);
    set(others, Event::kSpLoss1, 1000);
    const CostId data = costs.get(instruction, GroupId{3});
    set(data, Event::kD1mr, 600);
    set(data, Event::kSpLoss1, 20000);
    set(data, Event::kSpLossD1, 20000);
    costs.fold();
    EXPECT_EQ(pool[instruction][column(Event::kSpLoss1)], 21100u);
    std::vector<std::uint64_t> code(events.width(), 99);
    costs.get_code_costs(instruction, code);
    std::vector<std::uint64_t> expected(events.width());
    expected[column(Event::kI1mr)] = 3;
    expected[column(Event::kSpLoss1)] = 100;
    expected[column(Event::kAccess2)] = 7;
    EXPECT_EQ(code, expected);
}

}  // namespace
}  // namespace bd
