// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the caches are compiled for. Everything that takes part in simulating them has one parameter of this type, so
// that only what is asked for costs time.

#pragma once

#include "engine/base/geometry.h"

namespace bd {

struct CacheTraits {
    bool common_lines;             // all caches have lines of 64 bytes, see has_common_lines
    bool line_use;                 // lines keep track of their use, and the sink is told of evictions
    bool write_back_and_prefetch;  // there may be dirty lines and prefetches
    bool why = false;              // misses know their LRU stack distance
    bool middle_level = false;     // there is an L2 between L1 and LL

    constexpr bool operator==(const CacheTraits&) const = default;
};

// As real machines have it.
inline bool has_common_lines(const CacheGeometries& caches) {
    return caches.i1.line_bytes == 64 && caches.d1.line_bytes == 64 && caches.ll.line_bytes == 64 &&
           (!caches.has_l2() || caches.l2.line_bytes == 64);
}

// What I1 and D1 are compiled for: they do not know what is behind them.
constexpr CacheTraits traits_of_l1(CacheTraits traits) {
    traits.middle_level = false;
    return traits;
}

}  // namespace bd
