// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the engine is to simulate and to count.

#pragma once

#include <cstdint>

#include "engine/base/geometry.h"
#include "engine/cache/reuse.h"
#include "engine/calls/call_tracker.h"
#include "engine/costs/context_tree.h"
#include "engine/costs/events.h"
#include "engine/costs/flow_paths.h"
#include "engine/objects/objects.h"
#include "engine/order/order_sampler.h"

namespace bd {

struct EngineConfig {
    CacheGeometries caches{};  // must be legal, see geometry_error
    bool cache_sim = true;
    bool cache_use = true;  // only of effect with cache_sim
    ContextRules contexts{};
    bool collect_at_start = true;   // whether threads and signal handlers begin with collecting costs
    bool separate_threads = false;  // whether costs are kept apart by guest thread
    std::uint64_t dump_every = 0;   // a request after each so many blocks; 0: never
    bool write_back = false;        // tells misses apart that have to write a line to memory first
    bool prefetch = false;          // into LL; both only of effect with cache_sim
    bool branch_sim = false;        // predicts branches
    bool collect_jumps = false;     // counts jumps within functions
    bool bus_events = false;        // counts atomic instructions
    bool system_calls = false;      // counts them and the time they take
    bool system_cpu_time = false;   // and their processor time
    bool context_tree = false;      // keeps costs apart by whole paths of calls, too
    ContextTreeRules context_tree_rules{};
    bool flow_paths = false;  // and by paths within functions
    FlowRules flow_rules{};
    bool objects = false;  // keeps costs apart by data objects, too; needs cache_sim and cache_use
    ObjectRules object_rules{};
    bool orders = false;  // looks at the order of addresses in pieces of the trace; needs cache_sim
    OrderSampling order_sampling{};
    bool why = false;    // tells why lines are loaded; needs cache_sim
    bool reuses = true;  // and who brings them back; only of effect with why
    // That is noted of all lines until D1 has loaded so many, then of one in eight.
    std::uint64_t whole_reuses = std::uint64_t{1} << 17;
    ReuseRules reuse_rules{};
    std::uint32_t cores = 0;  // that have caches of their own; 0: nothing is told of these; needs cache_sim

    EventSet events() const;
};

}  // namespace bd
