// SPDX-License-Identifier: GPL-2.0-or-later
//
// All that is collected to say why lines are loaded (docs/why.md). It is kept by instruction, and therefore by thread
// where costs are.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/costs/costs.h"
#include "engine/why/distances.h"
#include "engine/why/line_history.h"
#include "engine/why/path_distances.h"
#include "engine/why/reuse_sums.h"
#include "engine/why/stay_sample.h"

namespace bd {

// Hits of D1 by LRU stack distance, from the least distance that was asked for.
struct HitDistances {
    explicit HitDistances(const ContextTree* tree) : paths(tree) {}

    Distances distances;
    PathDistances paths;
};

struct Why {
    // `tree`: the calling context tree, or null.
    // `whole_reuses`: see LineHistory. `tells_hits`: whether D1 tells the distances of hits.
    Why(std::size_t d1_lines, std::uint64_t whole_reuses, const ContextTree* tree, bool tells_hits)
        : history(d1_lines, whole_reuses), paths(tree) {
        if (tells_hits) hits.emplace(tree);
    }

    Distances distances;  // by instruction; with data objects, by instruction and group
    LineHistory history;
    ReuseSums reuses;
    StaySample stays;
    PathDistances paths;
    std::optional<HitDistances> hits;  // like `distances` and `paths`

    // Adds what has been noted of calling contexts to the sums.
    void sum_up() {
        paths.sum_up();
        if (hits) hits->paths.sum_up();
    }
    // Drops all counts.
    void clear() {
        distances.clear();
        reuses.clear();
        stays.clear_counts();
        paths.clear();
        if (!hits) return;
        hits->distances.clear();
        hits->paths.clear();
    }
    // Drops the counts of instructions whose costs are all zero, and the inclusive ones of `thread`.
    // instruction_of(id): the costs of the instruction that `id` belongs to.
    template <class InstructionOf>
    void drop_zeroed(const CostPool& costs, std::uint32_t thread, InstructionOf instruction_of) {
        const auto is_zeroed = [&costs](CostId instruction) {
            return std::ranges::all_of(costs[instruction], [](std::uint64_t count) { return count == 0; });
        };
        const auto is_dropped = [&](CostId id) { return is_zeroed(instruction_of(id)); };
        distances.drop_if(is_dropped);
        paths.drop(thread);
        if (hits) {
            hits->distances.drop_if(is_dropped);
            hits->paths.drop(thread);
        }
        reuses.drop_if(is_zeroed);
        stays.drop_if(is_zeroed);
    }
};

}  // namespace bd
