// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is gathered to tell why lines are loaded: docs/why.md. All of it is by instruction, and so belongs to the thread
// whose costs those are.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/costs/costs.h"
#include "engine/why/distances.h"
#include "engine/why/line_history.h"
#include "engine/why/path_distances.h"
#include "engine/why/reuse_sums.h"
#include "engine/why/stay_sample.h"

namespace bd {

struct Why {
    // `tree`: the calling context tree, or null.
    // `whole_reuses`: see LineHistory.
    Why(std::size_t d1_lines, std::uint64_t whole_reuses, const ContextTree* tree)
        : history(d1_lines, whole_reuses), paths(tree) {}

    Distances distances;  // by instruction; where there are data objects, by what it costs for each group of these
    LineHistory history;
    ReuseSums reuses;
    StaySample stays;
    PathDistances paths;

    // Forgets what has been gathered; or that of instructions whose costs have all been zeroed.
    void clear() {
        distances.clear();
        reuses.clear();
        stays.clear_counts();
        paths.clear();
    }
    // instruction_of(costs): whose they are. `thread`: theirs.
    template <class InstructionOf>
    void drop_zeroed(const CostPool& costs, std::uint32_t thread, InstructionOf instruction_of) {
        const auto is_zeroed = [&costs](CostId instruction) {
            return std::ranges::all_of(costs[instruction], [](std::uint64_t count) { return count == 0; });
        };
        distances.drop_if([&](CostId id) { return is_zeroed(instruction_of(id)); });
        paths.drop(thread);
        reuses.drop_if(is_zeroed);
        stays.drop_if(is_zeroed);
    }
};

}  // namespace bd
