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
    RunLength length;                    // of the whole run

    // For the whole run, if that much of an event has been counted, and that much of it in the start. What is negative
    // wraps, as all counts do.
    std::uint64_t estimate(std::size_t event, std::uint64_t count, std::uint64_t in_start) const {
        return sums == nullptr ? count : scaled(sums->scale(event, length), count, in_start);
    }
    // The same of calls and jumps.
    std::uint64_t estimate_times(std::uint64_t count, std::uint64_t in_start) const {
        return sums == nullptr ? count : scaled(sums->scale_of_blocks(length), count, in_start);
    }

private:
    static std::uint64_t scaled(double scale, std::uint64_t count, std::uint64_t in_start) {
        const double value = static_cast<double>(static_cast<std::int64_t>(count - in_start)) * scale;
        return in_start + static_cast<std::uint64_t>(static_cast<std::int64_t>(value < 0 ? value - 0.5 : value + 0.5));
    }
};

}  // namespace bd
