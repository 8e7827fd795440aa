// SPDX-License-Identifier: GPL-2.0-or-later
//
// Why a line missed: its LRU stack distance, that is how many other lines have been touched since it was.

#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/types.h"

namespace bd {

// Why a line misses; the greater one counts for an access that misses several.
enum class Cause : std::uint8_t {
    kNone,      // it does not
    kConflict,  // a fully associative LRU cache of as many lines would have had it
    kCapacity,  // it would not
    kFirst,     // it has not been touched since the cache was empty
};

// Of a line that misses.
struct Reuse {
    static constexpr std::uint32_t kFirstTouch = ~std::uint32_t{0};

    std::uint32_t distance = kFirstTouch;  // other lines that were touched since
    TouchTime last_touch = 0;              // 0 at the first touch

    Cause cause(std::uint32_t cache_lines) const {
        if (distance == kFirstTouch) return Cause::kFirst;
        return distance < cache_lines ? Cause::kConflict : Cause::kCapacity;
    }
};
struct NoReuse {};

struct ReuseRules {
    // Times are counted anew once there are so many; and then again when there are kTimesForLine for each line, if that
    // is more. (64: up to 0.024 of the replay.)
    std::uint64_t fewest_times = std::uint64_t{1} << 21;

    static constexpr std::uint64_t kTimesForLine = 64;
    // Never later than that when a chunk of the trace begins: a chunk has fewer times, and all are below 2^31.
    static constexpr std::uint64_t kMostTimes = std::uint64_t{1} << 30;

    // When that is, where so many lines have a time.
    std::uint64_t last_time(std::uint64_t lines) const {
        return std::min(std::max(lines * kTimesForLine, fewest_times), kMostTimes);
    }
};

}  // namespace bd
