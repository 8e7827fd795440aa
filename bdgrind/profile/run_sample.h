// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a profile is to be an estimate from: bursts, and the start of the run.

#pragma once

#include <cstdint>

#include "profile/burst_sums.h"
#include "profile/start_counts.h"

namespace bd {

struct RunSample {
    const BurstSums* sums = nullptr;     // null: all has been counted
    const StartCounts* start = nullptr;  // what counts as it is; null: nothing
    std::uint64_t blocks = 0;            // of the whole run

    // For the whole run, if that much has been counted, and that much of it in the start. What is negative wraps, as
    // all counts do.
    std::uint64_t estimate(std::uint64_t count, std::uint64_t in_start) const {
        if (sums == nullptr) return count;
        const double value = static_cast<double>(static_cast<std::int64_t>(count - in_start)) * sums->scale(blocks);
        return in_start + static_cast<std::uint64_t>(static_cast<std::int64_t>(value < 0 ? value - 0.5 : value + 0.5));
    }
};

}  // namespace bd
