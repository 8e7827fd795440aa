// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a Hierarchy keeps for --simulate-wb and --simulate-hwpref, besides its caches: which lines differ from memory,
// and the streams to be prefetched. Hierarchies without either have none.

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

    // LL has been emptied. What comes there next is clean, whatever it replaces.
    void clear() { streams.clear(); }

    const bool write_back;
    const bool prefetch;
    // Of the lines in LL, by their index: whether they were written to, which memory does not know yet.
    ZeroedArray<bool> ll_dirty;
    StreamPrefetcher streams;

    bool evicted_dirty = false;  // the line that came into LL last
};

struct NoWriteBackAndPrefetch {
    NoWriteBackAndPrefetch(const CacheGeometries&, WriteBackAndPrefetchConfig) {}
};

}  // namespace bd
