// SPDX-License-Identifier: GPL-2.0-or-later
//
// What happened on each core that has caches of its own: instructions, accesses, misses, and the use of the lines in
// these caches. What the last level does with a line belongs to no core.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/costs/costs.h"
#include "engine/costs/events.h"

namespace bd {

class CoreCosts {
public:
    // `cores`: how many there are, from 2; fewer: nothing is counted. `width`: of cost vectors.
    CoreCosts(std::uint32_t cores, std::size_t width)
        : cores_(cores > 1 ? cores : 0), width_(width), counts_(cores_ * width) {}

    bool counts() const { return cores_ != 0; }
    std::uint32_t cores() const { return cores_; }
    // The counts of a core, by event.
    Costs of(std::uint32_t core) { return Costs(counts_).subspan(core * width_, width_); }
    ConstCosts of(std::uint32_t core) const { return ConstCosts(counts_).subspan(core * width_, width_); }

    // Adds what was executed since `counted`, and makes that `running`.
    void add_running(std::uint32_t core, const std::array<std::uint64_t, kRunningEvents>& running,
                     std::array<std::uint64_t, kRunningEvents>* counted) {
        if (!counts()) return;
        for (std::size_t i = 0; i < kRunningEvents; ++i) of(core)[i] += running[i] - (*counted)[i];
        *counted = running;
    }

    void clear_counts() { counts_.assign(counts_.size(), 0); }

private:
    std::uint32_t cores_;
    std::size_t width_;
    std::vector<std::uint64_t> counts_;
};

}  // namespace bd
