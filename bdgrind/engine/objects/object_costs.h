// SPDX-License-Identifier: GPL-2.0-or-later
//
// The matrix of costs by loading instruction and object group. A cell is a cost vector of its own: the costs of a line
// of data are charged there instead of to the instruction, so a miss or an eviction needs no other work. Before the
// costs of instructions are read, their cells are added to them (fold); before the replay goes on, the cells are
// subtracted again (unfold). Costs of an instruction for code of its own object file need no cell, as code has events
// of its own.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/costs/costs.h"
#include "engine/objects/object_groups.h"

namespace bd {

struct ObjectCell {
    CostId instruction = kNoCost;
    GroupId group{};
    CostId costs = kNoCost;
};

class ObjectCosts {
public:
    explicit ObjectCosts(CostPool& costs) : costs_(costs) {}

    // The cell, made when first asked for.
    CostId get(CostId instruction, GroupId group) {
        const ObjectCell& recent = recent_[recent_index(instruction, group)];
        if (recent.instruction == instruction && recent.group == group) return recent.costs;
        return find_or_make(instruction, group);
    }

    // The same for code of another object file than the instruction's.
    CostId get_code(CostId instruction, GroupId group);

    // The instruction and the group that a cell belongs to.
    struct Owner {
        CostId instruction = kNoCost;
        GroupId group{};
    };
    const Owner& owner_of(CostId cell) const { return owner_of_[index_of(cell)]; }

    // In the order in which they were made.
    std::span<const ObjectCell> cells() const { return cells_; }

    void fold();
    void unfold();
    // To be called when all counts, cells included, have been zeroed.
    void cleared() { is_folded_ = false; }
    // Whether all counts of an instruction or a cell are 0.
    bool is_zero(CostId costs) const;
    // Sets `code` to the costs of an instruction for code of its own object file. `code` has the width of all cost
    // vectors. Requires folded costs, and the events of use.
    void get_code_costs(CostId instruction, Costs code) const;
    // Zeroes the cells of all instructions whose counts have been zeroed. Requires folded costs.
    void forget_zeroed();

private:
    std::size_t recent_index(CostId instruction, GroupId group) const {
        return (index_of(instruction) + static_cast<std::uint32_t>(group) * std::size_t{61}) % recent_.size();
    }

    CostId find_or_make(CostId instruction, GroupId group);

    CostPool& costs_;
    std::vector<ObjectCell> cells_;
    std::array<ObjectCell, 4096> recent_{};  // looked at before by_key_; dispatch: 3 % less replay
    std::vector<Owner> owner_of_;            // by cell
    boost::unordered_flat_map<std::uint64_t, CostId> by_key_;
    boost::unordered_flat_map<CostId, std::vector<CostId>> code_cells_;  // by instruction
    bool is_folded_ = false;
};

}  // namespace bd
