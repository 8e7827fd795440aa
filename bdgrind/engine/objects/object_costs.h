// SPDX-License-Identifier: GPL-2.0-or-later
//
// The matrix of costs by loading instruction and object group. A cell is a cost vector of its own: what a line of data
// costs is charged there instead of to the instruction, so nothing else has to be done at a miss or an eviction. Before
// anybody reads what instructions cost, their cells are added to them (fold), and taken off again before the replay
// goes on. What is charged to an instruction for its own object file's code has no cell: the events tell it apart.

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

    // The same, of another object file's code than the instruction's.
    CostId get_code(CostId instruction, GroupId group);

    // Whose costs those of a cell are.
    struct Owner {
        CostId instruction = kNoCost;
        GroupId group{};
    };
    const Owner& owner_of(CostId cell) const { return owner_of_[index_of(cell)]; }

    // In the order in which they were made.
    std::span<const ObjectCell> cells() const { return cells_; }

    void fold();
    void unfold();
    // All counts, cells included, have been zeroed.
    void cleared() { is_folded_ = false; }
    // Of an instruction or a cell.
    bool is_zero(CostId costs) const;
    // What an instruction costs because of its own object file's code. They must be folded. `code` is as long as all
    // cost vectors, which have the events of use, and is overwritten.
    void get_code_costs(CostId instruction, Costs code) const;
    // Zeroes the cells of all instructions whose counts have been zeroed. They must be folded.
    void forget_zeroed();

private:
    std::size_t recent_index(CostId instruction, GroupId group) const {
        return (index_of(instruction) + static_cast<std::uint32_t>(group) * std::size_t{61}) % recent_.size();
    }

    CostId find_or_make(CostId instruction, GroupId group);

    CostPool& costs_;
    std::vector<ObjectCell> cells_;
    std::array<ObjectCell, 4096> recent_{};  // before by_key_; dispatch: 0.97 of the replay
    std::vector<Owner> owner_of_;            // by cell
    boost::unordered_flat_map<std::uint64_t, CostId> by_key_;
    boost::unordered_flat_map<CostId, std::vector<CostId>> code_cells_;  // by instruction
    bool is_folded_ = false;
};

}  // namespace bd
