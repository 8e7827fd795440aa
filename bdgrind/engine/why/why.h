// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is gathered to tell why lines are loaded: docs/why.md. All of it is by instruction, and so belongs to the thread
// whose costs those are.

#pragma once

#include <algorithm>
#include <cstddef>

#include "engine/costs/costs.h"
#include "engine/why/distances.h"
#include "engine/why/line_history.h"
#include "engine/why/reuse_sums.h"
#include "engine/why/stay_sample.h"

namespace bd {

struct Why {
    explicit Why(std::size_t d1_lines) : history(d1_lines) {}

    Distances distances;
    LineHistory history;
    ReuseSums reuses;
    StaySample stays;

    // Forgets what has been gathered; or, if that is given, for instructions whose costs have all been zeroed.
    void clear() {
        distances.clear();
        reuses.clear();
        stays.clear_counts();
    }
    void drop_zeroed(const CostPool& costs) {
        const auto is_zeroed = [&costs](CostId instruction) {
            return std::ranges::all_of(costs[instruction], [](std::uint64_t count) { return count == 0; });
        };
        distances.drop_if(is_zeroed);
        reuses.drop_if(is_zeroed);
        stays.drop_if(is_zeroed);
    }
};

}  // namespace bd
