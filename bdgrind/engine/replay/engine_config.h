// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the engine simulates and counts.

#pragma once

#include <cstdint>

#include "engine/base/geometry.h"
#include "engine/cache/next_level_config.h"
#include "engine/cache/prefetchers.h"
#include "engine/cache/reuse.h"
#include "engine/calls/call_tracker.h"
#include "engine/costs/context_tree.h"
#include "engine/costs/events.h"
#include "engine/costs/flow_paths.h"
#include "engine/objects/objects.h"
#include "engine/order/order_sampler.h"
#include "engine/sharing/coherence_marks.h"

namespace bd {

struct EngineConfig {
    CacheGeometries caches{};  // must be legal, see geometry_error()
    bool cache_sim = true;
    bool cache_use = true;  // ignored without cache_sim
    ContextRules contexts{};
    bool collect_at_start = true;   // whether threads and signal handlers collect costs from their start
    bool separate_threads = false;  // separates costs by guest thread
    std::uint64_t dump_every = 0;   // blocks between requests to dump; 0: no requests
    bool write_back = false;        // counts LL misses that first write a line to memory; ignored without cache_sim
    // Prefetchers of LL: Callgrind's, and others, whose lines are counted with cache_use, as those of L2 are. Ignored
    // without cache_sim, or without such a level.
    bool callgrind_prefetcher = false;
    PrefetchRules prefetchers{};
    PrefetchRules l2_prefetchers{};
    bool branch_sim = false;       // predicts branches
    bool collect_jumps = false;    // counts jumps within functions
    bool bus_events = false;       // counts atomic instructions
    bool system_calls = false;     // counts system calls and their time
    bool system_cpu_time = false;  // and their processor time
    bool context_tree = false;     // also separates costs by the whole call path
    ContextTreeRules context_tree_rules{};
    bool flow_paths = false;  // also separates costs by paths within functions
    FlowRules flow_rules{};
    bool objects = false;  // also separates costs by data objects; needs cache_sim and cache_use
    ObjectRules object_rules{};
    bool orders = false;  // samples the order of addresses; needs cache_sim
    OrderSampling order_sampling{};
    bool why = false;    // records why lines are loaded; needs cache_sim
    bool reuses = true;  // also records which scopes bring lines back; ignored without why
    // Lines that D1 loads before only one in eight is recorded for `reuses`.
    std::uint64_t whole_reuses = std::uint64_t{1} << 17;
    ReuseRules reuse_rules{};
    TlbGeometries tlbs{};                                    // must be legal; needs cache_sim
    std::uint32_t cores = 0;                                 // 0: not simulated; needs cache_sim
    CoherenceProtocol coherence = CoherenceProtocol::kMesi;  // by which the trace's marks of cores have been made
    // In how many placements of pages the levels behind L1 are simulated side by side, see Placements; 0: in one. Needs
    // cache_sim, pages at random, and neither cores nor separate_threads.
    std::uint32_t placements = 0;

    // How many cores have caches of their own, in front of LL. Why lines are loaded is known only where all share one
    // set of caches.
    std::uint32_t private_caches() const { return cores != 0 && !why ? cores : 1; }

    // `shares`: null if cores do not share LL.
    NextLevelConfig next_level(LastLevelShares* shares = nullptr) const {
        return {.write_back = write_back,
                .callgrind_prefetcher = callgrind_prefetcher,
                .prefetchers = prefetchers,
                .l2_prefetchers = l2_prefetchers,
                .shares = shares};
    }

    EventSet events() const;
};

}  // namespace bd
