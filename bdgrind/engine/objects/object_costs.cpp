// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/object_costs.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/costs/events.h"
#include "engine/costs/level_events.h"

namespace bd {

CostId ObjectCosts::find_or_make(CostId instruction, GroupId group) {
    BD_CHECK(!is_folded_);
    const std::uint32_t index = index_of(instruction);
    CostId& costs = by_key_[std::uint64_t{index} << 32 | static_cast<std::uint32_t>(group)];
    if (costs == kNoCost) {
        costs = costs_.make();
        cells_.push_back({instruction, group, costs});
        if (owner_of_.size() <= index_of(costs)) owner_of_.resize(index_of(costs) + index_of(costs) / 2 + 1);
        owner_of_[index_of(costs)] = {instruction, group};
    }
    recent_[recent_index(instruction, group)] = {instruction, group, costs};
    return costs;
}

void ObjectCosts::fold() {
    if (is_folded_) return;
    is_folded_ = true;
    for (const ObjectCell& cell : cells_) add(costs_[cell.instruction], costs_[cell.costs]);
}

void ObjectCosts::unfold() {
    if (!is_folded_) return;
    is_folded_ = false;
    for (const ObjectCell& cell : cells_) {
        const Costs folded = costs_[cell.instruction];
        const Costs counts = costs_[cell.costs];
        for (std::size_t i = 0; i < folded.size(); ++i) folded[i] -= counts[i];
    }
}

bool ObjectCosts::is_zero(CostId costs) const {
    return std::ranges::all_of(costs_[costs], [](std::uint64_t count) { return count == 0; });
}

CostId ObjectCosts::get_code(CostId instruction, GroupId group) {
    const CostId cell = get(instruction, group);
    std::vector<CostId>& known = code_cells_[instruction];
    if (std::ranges::find(known, cell) == known.end()) known.push_back(cell);
    return cell;
}

void ObjectCosts::get_code_costs(CostId instruction, Costs code) const {
    BD_CHECK(is_folded_);
    const ConstCosts all = costs_[instruction];
    std::ranges::fill(code, 0);
    const auto take = [&](Event event) {
        if (column(event) < all.size()) code[column(event)] = all[column(event)];
    };
    for (const LevelEvents& events : kLevelEvents.of_levels) {
        for (const Event event : {events.misses[0], events.first_touches[0], events.conflicts[0]}) take(event);
        for (std::size_t i = 0; i < kUseColumns; ++i) {
            const std::size_t of_lines = column(events.use_of_lines[i]);
            const std::size_t of_data = column(events.use_of_data[i]);
            if (of_data < all.size()) code[of_lines] = all[of_lines] - all[of_data];
        }
    }
    for (const Event event : {Event::kILdmr, Event::kIT1mr, Event::kIT2mr, Event::kIH1mr, Event::kIH2mr, Event::kIPfUse,
                              Event::kIPfLoss, Event::kIPfUseL2, Event::kIPfLossL2}) {
        take(event);
    }
    const auto others = code_cells_.find(instruction);
    if (others == code_cells_.end()) return;
    for (const CostId cell : others->second) {
        for (std::size_t i = 0; i < all.size(); ++i) code[i] -= costs_[cell][i];
    }
}

void ObjectCosts::forget_zeroed() {
    BD_CHECK(is_folded_);
    for (const ObjectCell& cell : cells_) {
        if (is_zero(cell.instruction)) std::ranges::fill(costs_[cell.costs], 0);
    }
}

}  // namespace bd
