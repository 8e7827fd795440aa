// SPDX-License-Identifier: GPL-2.0-or-later
//
// The data of a Hierarchy for --simulate-wb and --simulate-hwpref, besides its caches: the dirty lines, and the streams
// to be prefetched. Hierarchies without either option do not have it.

#pragma once

#include <cstdint>

#include "engine/base/geometry.h"
#include "engine/base/zeroed_array.h"
#include "engine/cache/stream_prefetcher.h"

namespace bd {

struct WriteBackAndPrefetchConfig {
    bool write_back = false;
    bool prefetch = false;
};

struct WriteBackAndPrefetch {
    WriteBackAndPrefetch(const CacheGeometries& caches, WriteBackAndPrefetchConfig config)
        : write_back(config.write_back),
          prefetch(config.prefetch),
          ll_dirty(write_back ? static_cast<std::size_t>(caches.ll.lines()) : 0),
          streams(caches.ll.line_bits()) {}

    // Notes that LL was emptied. Lines that are loaded next are clean, whatever they replace.
    void clear() { streams.clear(); }

    const bool write_back;
    const bool prefetch;
    // By the index of a line in LL: whether it was written to, and not written back to memory yet.
    ZeroedArray<bool> ll_dirty;
    StreamPrefetcher streams;

    bool evicted_dirty = false;  // whether the line that was loaded into LL last evicted a dirty one
};

struct NoWriteBackAndPrefetch {
    NoWriteBackAndPrefetch(const CacheGeometries&, WriteBackAndPrefetchConfig) {}
};

}  // namespace bd
