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

// The part of an access that misses one line; or a note, something else that the replay has to know of an access.
// `Use`: the use of a line. `LineReuse`: Reuse, or NoReuse without traits that ask why.
template <class Use, class LineReuse>
struct DataMiss : LineReuse {
    // Slots of notes.
    static constexpr std::uint32_t kNoAccess = ~std::uint32_t{0};    // its guard was false
    static constexpr std::uint32_t kElsewhere = kNoAccess - 1;       // the D1 of another core has the line that misses
    static constexpr std::uint32_t kHit = kNoAccess - 2;             // it hits; its reuse is told
    static constexpr std::uint32_t kTaken = std::uint32_t{1} << 31;  // plus a slot: the line is taken from a core
    static constexpr std::uint32_t kOnlyFromL2 = kTaken - 4;         // such a slot: only L2 may have it

    // The same of I1, which loses lines because of an inclusive LL only.
    static constexpr std::uint32_t kFetchedTaken = kTaken + (std::uint32_t{1} << 30);
    // Where a block loses lines because of an inclusive LL: behind all its accesses.
    static constexpr std::uint16_t kBehindAccesses = 0xffff;

    bool loads() const { return slot < kTaken; }
    bool is_taken() const { return slot >= kTaken && slot <= kTaken + kOnlyFromL2; }
    bool is_fetched() const { return slot >= kFetchedTaken && slot < kTaken + kOnlyFromL2; }
    // Of a line that is taken from a core: that core, and the slot in its D1 or I1.
    std::uint32_t other_core() const { return bytes; }
    std::uint32_t taken_slot() const { return slot - (is_fetched() ? kFetchedTaken : kTaken); }

    DataPosition at;
    std::uint32_t bytes = 0;
    std::uint32_t slot = 0;  // in D1
    Use evicted;             // the use of the line that was there, or of the one that is taken
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
