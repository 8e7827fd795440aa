// SPDX-License-Identifier: GPL-2.0-or-later
//
// The data of a Hierarchy for --simulate-wb, --simulate-hwpref and --prefetch, besides its caches: the dirty lines,
// what is to be prefetched, and which lines were. Hierarchies without any of these options do not have it.

#pragma once

#include <cstdint>

#include "engine/base/geometry.h"
#include "engine/base/zeroed_array.h"
#include "engine/cache/prefetchers.h"
#include "engine/cache/stream_prefetcher.h"

namespace bd {

struct WriteBackAndPrefetchConfig {
    bool write_back = false;
    bool prefetch = false;
    PrefetchRules prefetchers{};  // others
};

struct WriteBackAndPrefetch {
    WriteBackAndPrefetch(const CacheGeometries& caches, WriteBackAndPrefetchConfig config)
        : write_back(config.write_back),
          prefetch(config.prefetch),
          ll_dirty(write_back ? static_cast<std::size_t>(caches.ll.lines()) : 0),
          streams(caches.ll.line_bits()),
          prefetchers(config.prefetchers, caches.ll.line_bits()),
          ll_prefetched(config.prefetchers.any() ? static_cast<std::size_t>(caches.ll.lines()) : 0) {}

    // Notes that LL was emptied. Lines that are loaded next are clean, whatever they replace.
    void clear() {
        streams.clear();
        prefetchers.clear();
    }

    const bool write_back;
    const bool prefetch;
    // By the index of a line in LL: whether it was written to, and not written back to memory yet.
    ZeroedArray<bool> ll_dirty;
    StreamPrefetcher streams;
    Prefetchers prefetchers;
    // By the index of a line in LL: whether it was prefetched, and not looked for since. Only with `prefetchers`.
    ZeroedArray<bool> ll_prefetched;

    bool evicted_dirty = false;  // whether the line that was loaded into LL last evicted a dirty one
};

struct NoWriteBackAndPrefetch {
    NoWriteBackAndPrefetch(const CacheGeometries&, WriteBackAndPrefetchConfig) {}
};

}  // namespace bd
