// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the caches tell about their lines, and to whom. The caches do not know calls or events: their sink decides who
// is charged for a line. It returns an opaque ChargeTarget when a line is loaded, and gets it back when that leaves.

#pragma once

#include <concepts>
#include <cstdint>

#include "engine/base/level.h"
#include "engine/base/types.h"

namespace bd {

// A level loads a line because of this address in it. A line that several levels load is told by each of them.
struct LoadEvent {
    Reference reference;
    Address address;
    ChargeTarget replaced{};  // if known, that of the line that is evicted next: its costs can be prefetched
};

// A line has left a level.
struct EvictEvent {
    Level level;
    std::uint32_t core;  // whose it was; of LL, which cores share, any
    const ChargeTarget& target;
    std::uint64_t accesses;  // to the line, while it was there
    unsigned used_bytes;
    unsigned line_bytes;
};

// A line has left D1. That is told before its EvictEvent.
template <class Mask>
struct EvictDataEvent {
    const ChargeTarget& target;
    Address address;   // the line's first byte
    const Mask& used;  // a bit for each byte
    unsigned line_bytes;
};

// A line that was prefetched into a level is looked for there for the first time, or leaves without that.
struct PrefetchEvent {
    Level level;
    std::uint32_t core;  // as of EvictEvent
    const ChargeTarget& target;
    bool is_used;
};

// `Mask`: that of a line in D1.
template <class Sink, class Mask>
concept CacheSink = requires(Sink& sink, const LoadEvent& load, const EvictEvent& evict,
                             const EvictDataEvent<Mask>& evict_data, const PrefetchEvent& prefetch,
                             ChargeTarget* target) {
    { sink.on_load(load) } -> std::same_as<ChargeTarget>;
    sink.on_evict(evict);
    sink.on_evict_data(evict_data);
    sink.on_prefetched(prefetch);
    sink.drop_charges(target);  // the line stays, and is no longer charged
    // Whether what is loaded is counted, as costs are collected; asked only if cores share LL.
    { sink.is_counted() } -> std::same_as<bool>;
};

}  // namespace bd
