// SPDX-License-Identifier: GPL-2.0-or-later
//
// The features that the caches are compiled for. All classes that simulate them have one parameter of this type, so
// that only the features in use cost time.

#pragma once

#include "engine/base/geometry.h"

namespace bd {

struct CacheTraits {
    bool common_lines;          // whether all caches have lines of 64 bytes, see has_common_lines
    bool line_use;              // whether lines record their use, and evictions are reported to the sink
    bool write_back;            // whether there may be dirty lines
    bool why = false;           // whether misses have their LRU stack distance
    bool middle_level = false;  // whether there is an L2 between L1 and LL

    constexpr bool operator==(const CacheTraits&) const = default;
};

// Whether all caches have lines of 64 bytes, as nearly all real machines do.
inline bool has_common_lines(const CacheGeometries& caches) {
    return caches.i1.line_bytes == 64 && caches.d1.line_bytes == 64 && caches.ll.line_bytes == 64 &&
           (!caches.has_l2() || caches.l2.line_bytes == 64);
}

// The features that I1 and D1 are compiled for, which do not depend on the levels behind them.
constexpr CacheTraits traits_of_l1(CacheTraits traits) {
    traits.middle_level = false;
    return traits;
}

}  // namespace bd
