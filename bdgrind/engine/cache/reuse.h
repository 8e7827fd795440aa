// SPDX-License-Identifier: GPL-2.0-or-later
//
// Why a line missed, and its LRU stack distance: the number of other lines touched since its last touch.

#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/level.h"
#include "engine/base/types.h"

namespace bd {

// Why an access missed. If it missed several lines, it has the greatest of their causes.
enum class Cause : std::uint8_t {
    kNone,      // it did not miss
    kConflict,  // a fully associative LRU cache of the same size would have hit
    kCapacity,  // such a cache would have missed, too
    kFirst,     // first touch since the cache was empty
};
using Causes = ByLevel<Cause>;

// The reuse of a line that misses.
struct Reuse {
    static constexpr std::uint32_t kFirstTouch = ~std::uint32_t{0};

    std::uint32_t distance = kFirstTouch;  // other lines touched since the last touch
    TouchTime last_touch = 0;              // 0: none, it is the first touch

    Cause cause(std::uint32_t cache_lines) const {
        if (distance == kFirstTouch) return Cause::kFirst;
        return distance < cache_lines ? Cause::kConflict : Cause::kCapacity;
    }
};
struct NoReuse {};

struct ReuseRules {
    // Times are renumbered after this many; later, after kTimesForLine for each line, if that is more. (Renumbering
    // takes up to 2.4 % of the replay.)
    std::uint64_t fewest_times = std::uint64_t{1} << 21;
    // D1 also tells the distances of hits, if they are at least this; 0: of none.
    std::uint32_t least_distance = 0;

    static constexpr std::uint64_t kTimesForLine = 64;
    // No chunk of the trace begins later than this. A chunk has fewer times than that, so all times are below 2^31.
    static constexpr std::uint64_t kMostTimes = std::uint64_t{1} << 30;

    // When times are renumbered if `lines` lines have one.
    std::uint64_t last_time(std::uint64_t lines) const {
        return std::min(std::max(lines * kTimesForLine, fewest_times), kMostTimes);
    }
};

}  // namespace bd
