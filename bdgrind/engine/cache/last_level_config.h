// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a LastLevel does besides keeping lines, and what it needs for prefetches.

#pragma once

#include <cstddef>
#include <utility>

#include "engine/base/geometry.h"
#include "engine/base/zeroed_array.h"
#include "engine/cache/callgrind_prefetcher.h"
#include "engine/cache/last_level_shares.h"
#include "engine/cache/prefetchers.h"

namespace bd {

struct LastLevelConfig {
    bool write_back = false;            // whether lines may be dirty
    bool callgrind_prefetcher = false;  // --simulate-hwpref
    PrefetchRules prefetchers{};        // --prefetch
    LastLevelShares* shares = nullptr;  // where cores share it, which of its lines are whose; must live as long

    bool prefetches() const { return callgrind_prefetcher || prefetchers.any(); }
};

struct Prefetching {
    Prefetching(const CacheGeometry& ll, const LastLevelConfig& config)
        : has_callgrind(config.callgrind_prefetcher),
          callgrind(ll.line_bits()),
          prefetchers(config.prefetchers, ll.line_bits()),
          is_unused(config.prefetchers.any() ? static_cast<std::size_t>(ll.lines()) : 0) {}

    // Notes that LL was emptied.
    void clear() {
        callgrind.clear();
        prefetchers.clear();
    }

    const bool has_callgrind;
    CallgrindPrefetcher callgrind;
    Prefetchers prefetchers;
    // By the index of a line in LL: whether it was prefetched, and not looked for since. Only with `prefetchers`.
    ZeroedArray<bool> is_unused;
};

}  // namespace bd
