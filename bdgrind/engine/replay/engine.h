// SPDX-License-Identifier: GPL-2.0-or-later
//
// The engine: takes a trace, batch by batch, and has in the end what everything cost, and which code caused it. It is
// plain C++ and calls nothing outside: the tool feeds it what the guest executes, bdreplay and the tests feed it
// recorded or made-up traces.
//
// This class wires the parts: the caches, which know no calls; the tree, which knows no caches; and the call stack.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/calls/requests.h"
#include "engine/replay/engine_config.h"
#include "engine/replay/engine_state.h"
#include "engine/replay/replay.h"

namespace bd {

struct EngineStats {
    BackdatingTree::Stats tree;
    std::size_t tree_bytes;
    std::uint32_t arcs;
    std::uint64_t calls;
};

class Engine {
public:
    explicit Engine(const EngineConfig& config);

    // Processes whole records, at least one, in program order, and returns the number of words processed. It stops
    // where there are requests(), which must be served before the rest is passed; mostly there are none, and the whole
    // batch is processed. Blocks must stay valid as long as the engine.
    std::size_t replay(Batch batch);

    // For replay on another thread: announces a batch that will be passed to replay(), whole or in parts. advance() may
    // then be called at the same time, also by the announcing thread: it takes some work off replay(), or returns false
    // if there is none at the moment. While is_supplied(), replay() will not have to wait for such work.
    void announce(Batch batch) { replay_->announce(batch); }
    bool advance() { return replay_->advance(); }
    bool is_supplied() const { return replay_->is_supplied(); }

    // Replays all of `batch` without stopping at requests: requests to zero are served, requests to dump are ignored.
    void replay_whole(Batch batch);

    // In the order in which they must be served.
    const std::vector<Request>& requests() const { return state_.calls.requests(); }
    void clear_requests() { state_.calls.requests().clear(); }

    // Moves pending counts to where they belong, so that results can be read. Changes nothing else.
    void settle() { state_.settle(); }

    // Zeroes all counts of a guest thread (0: of all threads). Open calls and cached lines stay. Implies settle().
    void zero(std::uint32_t thread);

    // Empties the caches, so that the code that loaded the lines is charged for their use. All announced batches must
    // have been replayed.
    void evict_all();

    // To be called in a child process right after fork: only this guest thread is left. Zeroes what the parent has
    // counted; lines that it has loaded are not charged in the child.
    void start_in_child(std::uint32_t thread);

    // Ends the run: evicts all lines and leaves all calls. To be called once, after the whole last batch has been
    // processed.
    void finish();

    const EngineConfig& config() const { return state_.config; }
    const EventSet& events() const { return state_.events; }

    // The number of blocks that have run.
    std::uint64_t blocks_run() const { return state_.blocks_run; }

    // The guest threads by which costs are separated, in ascending order; {0} if they are not.
    std::vector<std::uint32_t> threads() const;

    // The totals of all events of such a thread since they were last zeroed.
    std::vector<std::uint64_t> totals(std::uint32_t thread) const;

    // Where the threads that have run so far were created, but for the first one.
    std::vector<ThreadOrigin> thread_origins() const;

    // The executions of all threads, for a look in mid-run: of a thread, the latest signal handler last.
    struct Stack {
        std::uint32_t thread;  // the guest's number
        const Execution* execution;
    };
    std::vector<Stack> stacks() const;

    const BlockCosts& blocks() const { return state_.blocks; }
    const CostPool& costs() const { return state_.costs; }
    const ArcTable& arcs() const { return state_.arcs; }
    std::span<const Jump> jumps() const { return state_.jumps.all(); }
    // Null if not asked for. Like all counts, complete after settle() or finish().
    const ContextTree* context_tree() const { return state_.context_tree.get(); }
    // Paths within functions; null if not asked for. Complete after settle() or finish().
    const FlowPaths* flow() const { return state_.flow.get(); }
    // Null if not asked for. Complete after settle() or finish().
    const Objects* objects() const { return state_.objects.get(); }
    // Null if not asked for.
    const OrderSampler* orders() const { return orders_.get(); }
    // Null if reasons for loads were not asked for. Complete after settle() or finish().
    const Why* why() const { return state_.why.get(); }
    // What happened on each core. Complete after settle() or finish().
    const CoreCosts& core_costs() const { return state_.core_costs; }
    // Null if there is only one core. Complete after settle() or finish().
    const Sharing* sharing() const { return state_.sharing.get(); }
    const CoreLoads* core_loads() const { return state_.core_loads.get(); }
    // Null if pages lie in one way only. Complete after settle() or finish().
    const Placements* placements() const { return state_.placements.get(); }
    // Null if all cores share one set of caches.
    const LastLevelShares* ll_shares() const { return state_.ll_shares.get(); }
    // By ScopeId - 1; empty if carriers of reuses were not asked for.
    std::span<const Scope> scopes() const {
        return state_.scopes == nullptr ? std::span<const Scope>{} : state_.scopes->scopes();
    }
    EngineStats stats() const;

private:
    std::size_t run(Batch batch);
    std::size_t words_to_next_dump(Batch batch) const;
    void unfold_objects();
    void check_flow() const;

    EngineState state_;
    std::unique_ptr<Replay> replay_;
    std::unique_ptr<OrderSampler> orders_;
    std::uint64_t next_dump_;  // in blocks_run()
};

}  // namespace bd
