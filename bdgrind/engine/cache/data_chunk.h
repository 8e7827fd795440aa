// SPDX-License-Identifier: GPL-2.0-or-later
//
// A chunk of the trace after D1 has been simulated on it: what D1 leaves for the replay.

#pragma once

#include <compare>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "engine/base/types.h"
#include "engine/cache/reuse.h"
#include "engine/cache/touch_clock.h"
#include "engine/trace/trace.h"

namespace bd {

// A point within a chunk of the trace: before the part of an access that begins at an address.
struct DataPosition {
    std::uint32_t record = 0;  // where it begins, in words of the chunk
    std::uint16_t access = 0;  // of its block, by index
    Address address = 0;

    auto operator<=>(const DataPosition&) const = default;
};

// Of an access that misses, the part that lies in one line; or an access that did not happen. `Use` is how a line was
// used; `LineReuse` is Reuse or, where that is not asked for, NoReuse.
template <class Use, class LineReuse>
struct DataMiss : LineReuse {
    static constexpr std::uint32_t kNoAccess = ~std::uint32_t{0};

    DataPosition at;
    std::uint32_t bytes = 0;
    std::uint32_t slot = 0;  // in D1; kNoAccess: its guard was false
    Use evicted;             // of the line that was there
};

template <class Use, class LineReuse>
struct DataChunk {
    struct NoTimes {};
    struct SavedUse {
        std::uint32_t slot;
        Use use;
    };

    Batch words;
    // One more than there are: the last one is behind all records.
    std::vector<DataMiss<Use, LineReuse>> misses;
    // Only where reuse is asked for.
    [[no_unique_address]] std::conditional_t<std::is_same_v<LineReuse, NoReuse>, NoTimes, TouchTimes> touches;
    bool empties_caches = false;  // it ends with a marker for that

    // How lines had been used when the chunk began, for DataCache::use_before(): all of them by slot, or those that the
    // chunk has used, in that order. Which one depends on the size of the cache.
    std::vector<Use> copies;
    std::vector<SavedUse> saved;
};

}  // namespace bd
