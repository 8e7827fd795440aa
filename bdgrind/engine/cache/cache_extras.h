// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a Hierarchy keeps for --simulate-wb and --simulate-hwpref, besides its caches: which lines differ from memory,
// and the streams to be prefetched. Hierarchies without either have none.

#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/geometry.h"
#include "engine/cache/stream_prefetcher.h"
#include "engine/base/zeroed_array.h"

namespace bd {

struct CacheExtrasConfig {
    bool write_back = false;
    bool prefetch = false;
};

struct CacheExtras {
    CacheExtras(const CacheGeometries& caches, CacheExtrasConfig config)
        : write_back(config.write_back),
          prefetch(config.prefetch),
          last_dirty(write_back ? caches.ll.lines() : 0),
          streams(caches.ll.line_bits()) {}

    void clear() {
        std::fill(last_dirty.begin(), last_dirty.end(), false);
        streams.clear();
    }

    const bool write_back;
    const bool prefetch;
    // Of the lines in LL, by their index: whether they were written to, which memory does not know yet.
    ZeroedArray<bool> last_dirty;
    StreamPrefetcher streams;

    bool drove_out_dirty = false;  // the line that came into LL last
};

struct NoCacheExtras {
    NoCacheExtras(const CacheGeometries&, CacheExtrasConfig) {}
};

}  // namespace bd
