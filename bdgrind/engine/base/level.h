// SPDX-License-Identifier: GPL-2.0-or-later
//
// The levels of caches, and which of them an access misses.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bd {

enum class Level : std::uint8_t { kL1, kL2, kLL };
inline constexpr std::size_t kLevels = 3;

// Something of each level.
template <class T>
struct ByLevel {
    constexpr T& operator[](Level level) { return of_levels[static_cast<std::size_t>(level)]; }
    constexpr const T& operator[](Level level) const { return of_levels[static_cast<std::size_t>(level)]; }

    std::array<T, kLevels> of_levels{};
};

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
