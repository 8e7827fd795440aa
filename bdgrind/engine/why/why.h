// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is gathered to tell why lines are loaded: docs/why.md. All of it is by instruction, and so belongs to the thread
// whose costs those are.

#pragma once

#include <algorithm>

#include "engine/costs/costs.h"
#include "engine/why/distances.h"

namespace bd {

struct Why {
    Distances distances;

    // Forgets what has been gathered; or, if that is given, for instructions whose costs have all been zeroed.
    void clear() { distances.clear(); }
    void drop_zeroed(const CostPool& costs) {
        distances.drop_if([&costs](CostId instruction) {
            return std::ranges::all_of(costs[instruction], [](std::uint64_t count) { return count == 0; });
        });
    }
};

}  // namespace bd
