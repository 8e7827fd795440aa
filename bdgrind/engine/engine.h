// SPDX-License-Identifier: GPL-2.0-or-later
//
// The engine: takes a trace, batch by batch, and knows in the end what everything cost and whose fault it was.
// It is plain C++ that calls nobody: the tool feeds it with what the guest executes, bdreplay and the tests with
// recorded or made-up traces.
//
// Here the parts are wired: the caches (which know no calls), the tree (which knows no caches) and the call stack.

#pragma once

#include <memory>
#include <vector>

#include "engine/arcs.h"
#include "engine/backdating_tree.h"
#include "engine/block.h"
#include "engine/block_cost.h"
#include "engine/call_tracker.h"
#include "engine/contexts.h"
#include "engine/costs.h"
#include "engine/events.h"
#include "engine/execution.h"
#include "engine/geometry.h"
#include "engine/trace.h"

namespace bd {

struct EngineConfig {
    CacheGeometries caches{};  // must be legal, see geometry_error
    bool cache_sim = true;
    bool cache_use = true;  // only of effect with cache_sim
    ContextRules contexts{};

    EventSet events() const;
};

struct EngineStats {
    BackdatingTree::Stats tree;
    double average_nodes;     // live nodes, averaged over the lines loaded, into either level
    std::size_t tree_bytes;
    std::uint32_t arcs;
    std::uint64_t calls;
};

// What the replay loop works on. Not for use outside the engine.
struct EngineState {
    explicit EngineState(const EngineConfig& engine_config);

    // Handles a marker record.
    void mark(Marker marker, const Word* values);

    // Leaves the signal handler that runs on the current thread.
    void leave_handler();

    void finish_thread(std::vector<std::unique_ptr<Execution>>& executions);

    EngineConfig config;
    EventSet events;
    CostPool costs;  // of instructions
    ContextTable contexts;
    BlockCosts blocks;
    ArcTable arcs;
    BackdatingTree tree;
    CallTracker calls;

    // Per guest thread its own flow of control and those of the handlers that run on it, innermost last.
    std::vector<std::vector<std::unique_ptr<Execution>>> threads;
    std::uint32_t thread = 0;
    Execution* current = nullptr;

    bool collecting = true;

    // For the average number of nodes.
    std::uint64_t loads = 0;
    std::uint64_t live_nodes_at_loads = 0;
};

// The replay loop, compiled for each kind of caches.
class Replay {
public:
    virtual ~Replay() = default;

    // Processes whole records.
    virtual void run(Batch batch) = 0;

    // Empties the caches, as if every line were evicted.
    virtual void flush() = 0;

    static std::unique_ptr<Replay> make(EngineState& state);
};

class Engine {
public:
    explicit Engine(const EngineConfig& config);

    // Processes whole records, in program order. Blocks must stay valid as long as the engine.
    void replay(Batch batch) { replay_->run(batch); }

    // The end: evicts all lines and leaves all calls. To be called once; no replay after it.
    void finish();

    const EngineConfig& config() const { return state_.config; }
    const EventSet& events() const { return state_.events; }
    const BlockCosts& blocks() const { return state_.blocks; }
    const CostPool& costs() const { return state_.costs; }
    const ArcTable& arcs() const { return state_.arcs; }
    EngineStats stats() const;

private:
    EngineState state_;
    std::unique_ptr<Replay> replay_;
};

}  // namespace bd
