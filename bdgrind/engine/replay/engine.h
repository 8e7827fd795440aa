// SPDX-License-Identifier: GPL-2.0-or-later
//
// The engine: takes a trace, batch by batch, and knows in the end what everything cost and whose fault it was.
// It is plain C++ that calls nobody: the tool feeds it with what the guest executes, bdreplay and the tests with
// recorded or made-up traces.
//
// Here the parts are wired: the caches (which know no calls), the tree (which knows no caches) and the call stack.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/costs/arcs.h"
#include "engine/costs/backdating_tree.h"
#include "engine/program/block.h"
#include "engine/costs/block_cost.h"
#include "engine/calls/call_tracker.h"
#include "engine/costs/contexts.h"
#include "engine/costs/costs.h"
#include "engine/costs/events.h"
#include "engine/calls/execution.h"
#include "engine/base/geometry.h"
#include "engine/costs/jumps.h"
#include "engine/calls/requests.h"
#include "engine/trace/trace.h"

namespace bd {

struct EngineConfig {
    CacheGeometries caches{};  // must be legal, see geometry_error
    bool cache_sim = true;
    bool cache_use = true;  // only of effect with cache_sim
    ContextRules contexts{};
    bool collect_at_start = true;      // whether threads and signal handlers begin with collecting costs
    bool separate_threads = false;     // whether costs are kept apart by guest thread
    std::uint64_t dump_every = 0;      // a request after each so many blocks; 0: never
    bool write_back = false;           // tells misses apart that have to write a line to memory first
    bool prefetch = false;             // into LL; both only of effect with cache_sim
    bool branch_sim = false;           // predicts branches
    bool collect_jumps = false;        // counts jumps within functions
    bool back_date = true;             // no: calls have no costs but those of instructions, to measure the difference
    bool bus_events = false;           // counts atomic instructions
    bool system_calls = false;         // counts them and the time they take
    bool system_cpu_time = false;      // and their processor time

    EventSet events() const;
};

struct EngineStats {
    BackdatingTree::Stats tree;
    double average_nodes;     // live nodes, averaged over the lines loaded, into either level
    std::size_t tree_bytes;
    std::uint32_t arcs;
    std::uint64_t calls;
};

class Replay;

// What the replay loop works on. Not for use outside the engine.
struct EngineState {
    explicit EngineState(const EngineConfig& engine_config);

    // Handles a marker record.
    void mark(Marker marker, const Word* values);

    // Where CallTracker::enter has failed: goes on in what a signal handler had interrupted if that was left. False:
    // there are requests to be served before `block` is entered.
    bool enter_elsewhere(const Block& block, Address stack_pointer);

    // An access without an address: its guard was false but it has been counted with its exit, which is taken back; or
    // it is none. `cost`: of its instruction, or of the call that pays.
    void see_no_access(CostId cost, const Access& access);

    void charge_system_call(Execution& execution, const Word* values);
    void forget_calls();
    void settle();
    void zero(std::uint32_t thread);

    using Executions = std::vector<std::unique_ptr<Execution>>;
    void add_execution(Executions& executions, std::uint32_t id, AddressRange stack);
    void leave_execution(Executions& executions);

    EngineConfig config;
    bool collect_at_start;  // of the executions to come
    EventSet events;
    CostPool costs;  // of instructions
    ContextTable contexts;
    BlockCosts blocks;
    ArcTable arcs;
    JumpTable jumps;
    BackdatingTree tree;
    CallTracker calls;

    // Per guest thread its own flow of control and those of the handlers that run on it, innermost last.
    std::vector<Executions> threads;
    std::uint32_t thread = 0;
    Execution* current = nullptr;
    Replay* replay = nullptr;

    std::uint64_t blocks_run = 0;

    // For the average number of nodes.
    std::uint64_t loads = 0;
    std::uint64_t live_nodes_at_loads = 0;
};

// The replay loop, compiled for each kind of caches.
class Replay {
public:
    virtual ~Replay() = default;

    // Processes whole records, up to the first that makes requests. Returns how many words that were.
    virtual std::size_t run(Batch batch) = 0;

    // See Engine.
    virtual void announce(Batch batch) = 0;
    virtual bool advance() = 0;
    virtual bool is_supplied() const = 0;

    // Empties the caches, as if every line were evicted.
    virtual void flush() = 0;

    // Nobody is charged any more for the lines that are cached.
    virtual void disown() = 0;

    static std::unique_ptr<Replay> make(EngineState& state);
};

class Engine {
public:
    explicit Engine(const EngineConfig& config);

    // Processes whole records, in program order, and returns how many words. It stops where there are requests(),
    // which must be served before the rest is given to it; as a rule there are none and all is processed.
    // Blocks must stay valid as long as the engine.
    std::size_t replay(Batch batch);

    // To replay on another thread: announces what will be given to replay(), whole or in parts. Then advance() may be
    // called meanwhile, also on the thread that announces: it takes some of the work off replay(), or returns false as
    // there is none right now. While replay() is supplied, it will not have to wait for that.
    void announce(Batch batch) { replay_->announce(batch); }
    bool advance() { return replay_->advance(); }
    bool is_supplied() const { return replay_->is_supplied(); }

    // The same for who wants no parts: zeroes where that is asked for, leaves dumps out, and processes everything.
    void replay_whole(Batch batch);

    // In the order in which they are to be served.
    const std::vector<Request>& requests() const { return state_.calls.requests(); }
    void clear_requests() { state_.calls.requests().clear(); }

    // Brings what has been counted so far to where it belongs, so that it can be written. Changes nothing else.
    void settle() { state_.settle(); }

    // Forgets all counts of a guest thread (0: of all); what is open and what is cached stays. Implies settle().
    void zero(std::uint32_t thread) { state_.zero(thread); }

    // This process is a child that has just been forked: only this guest thread is left. What the parent has counted,
    // and what is to be charged for the lines that it has loaded, is its matter.
    void start_in_child(std::uint32_t thread);

    // The end: evicts all lines and leaves all calls. To be called once, when all of the last batch has been processed;
    // no replay after it.
    void finish();

    const EngineConfig& config() const { return state_.config; }
    const EventSet& events() const { return state_.events; }

    // How many blocks have run.
    std::uint64_t blocks_run() const { return state_.blocks_run; }

    // The threads that costs are kept apart by, in ascending order; {0} if they are not.
    std::vector<std::uint32_t> threads() const;

    // The counts of such a thread since they were last zeroed, summed up.
    std::vector<std::uint64_t> totals(std::uint32_t thread) const;

    // A thread's call stacks, for a look in mid-run: what runs on it, the latest signal handler last.
    struct Stack {
        std::uint32_t thread;  // the guest's number
        const Execution* execution;
    };
    std::vector<Stack> stacks() const;

    const BlockCosts& blocks() const { return state_.blocks; }
    const CostPool& costs() const { return state_.costs; }
    const ArcTable& arcs() const { return state_.arcs; }
    std::span<const Jump> jumps() const { return state_.jumps.all(); }
    EngineStats stats() const;

private:
    std::size_t words_to_next_dump(Batch batch) const;

    EngineState state_;
    std::unique_ptr<Replay> replay_;
    std::uint64_t next_dump_;  // in blocks_run()
};

}  // namespace bd
