// SPDX-License-Identifier: GPL-2.0-or-later
//
// The levels of caches, and which of them an access misses.

#pragma once

#include <cstdint>

namespace bd {

enum class Level : std::uint8_t { kL1, kL2, kLL };

// The outermost level that an access missed.
enum class Outcome : std::uint8_t {
    kHit,
    kL1Miss,
    kL2Miss,  // only with an L2
    kLLMiss,
    kLLDirtyMiss,  // an LL miss that evicted a line which had to be written to memory first
};

constexpr bool misses(Outcome outcome, Level level) {
    return static_cast<std::uint8_t>(outcome) > static_cast<std::uint8_t>(level);
}

}  // namespace bd
