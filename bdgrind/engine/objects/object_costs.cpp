// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/object_costs.h"

#include <algorithm>

#include "engine/base/check.h"

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

void ObjectCosts::forget(CostId instruction) {
    BD_CHECK(is_folded_);
    for (const ObjectCell& cell : cells_) {
        if (cell.instruction == instruction) std::ranges::fill(costs_[cell.costs], 0);
    }
}

}  // namespace bd
