// SPDX-License-Identifier: GPL-2.0-or-later
//
// A chunk of the trace that D1 has simulated, with its results for the replay.

#pragma once

#include <compare>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "engine/base/types.h"
#include "engine/cache/reuse.h"
#include "engine/cache/start_uses.h"
#include "engine/cache/touch_clock.h"
#include "engine/trace/trace.h"

namespace bd {

// A point within a chunk of the trace: before the part of an access that begins at an address.
struct DataPosition {
    std::uint32_t record = 0;  // the index of its first word in the chunk
    std::uint16_t access = 0;  // an index into the accesses of its block
    Address address = 0;

    auto operator<=>(const DataPosition&) const = default;
};

// The part of an access that misses one line; or an access that did not happen. `Use`: the use of a line. `LineReuse`:
// Reuse, or NoReuse without traits that ask why.
template <class Use, class LineReuse>
struct DataMiss : LineReuse {
    static constexpr std::uint32_t kNoAccess = ~std::uint32_t{0};

    DataPosition at;
    std::uint32_t bytes = 0;
    std::uint32_t slot = 0;  // in D1; kNoAccess: its guard was false
    Use evicted;             // the use of the line that was there
};

template <class Use, class LineReuse>
struct DataChunk {
    struct NoTimes {};

    Batch words;
    // The misses, followed by a sentinel that is behind all records.
    std::vector<DataMiss<Use, LineReuse>> misses;
    // Only with Reuse.
    [[no_unique_address]] std::conditional_t<std::is_same_v<LineReuse, NoReuse>, NoTimes, TouchTimes> touches;
    bool empties_caches = false;  // whether it ends with a marker that does so

    StartUses<Use> at_start;
};

}  // namespace bd
