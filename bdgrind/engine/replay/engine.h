// SPDX-License-Identifier: GPL-2.0-or-later
//
// The engine: takes a trace, batch by batch, and knows in the end what everything cost and whose fault it was.
// It is plain C++ that calls nobody: the tool feeds it with what the guest executes, bdreplay and the tests with
// recorded or made-up traces.
//
// Here the parts are wired: the caches (which know no calls), the tree (which knows no caches) and the call stack.

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

    // Processes whole records, at least one, in program order, and returns how many words. It stops where there are
    // requests(), which must be served before the rest is given to it; as a rule there are none and all is processed.
    // Blocks must stay valid as long as the engine.
    std::size_t replay(Batch batch);

    // To replay on another thread: announces what will be given to replay(), whole or in parts. Then advance() may be
    // called meanwhile, also on the thread that announces: it takes some of the work off replay(), or returns false as
    // there is none right now. While replay() is supplied, it will not have to wait for that.
    void announce(Batch batch) { replay_->announce(batch); }
    bool advance() { return replay_->advance(); }
    bool is_supplied() const { return replay_->is_supplied(); }

    // Replays all of `batch` without stopping at requests: zeroing takes place, dumps are left out.
    void replay_whole(Batch batch);

    // In the order in which they are to be served.
    const std::vector<Request>& requests() const { return state_.calls.requests(); }
    void clear_requests() { state_.calls.requests().clear(); }

    // Brings what has been counted so far to where it belongs, so that it can be written. Changes nothing else.
    void settle() { state_.settle(); }

    // Forgets all counts of a guest thread (0: of all); what is open and what is cached stays. Implies settle().
    void zero(std::uint32_t thread);

    // Empties the caches, so that whoever loaded what is cached is charged for its use. All that was announced must
    // have been replayed.
    void evict_all();

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

    // Where the threads were created that have run so far, but for the first.
    std::vector<ThreadOrigin> thread_origins() const;

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
    // Null: none was asked for. As the other counts, it is complete after settle() or finish().
    const ContextTree* context_tree() const { return state_.context_tree.get(); }
    // Null: paths within functions were not asked for. Complete after settle() or finish(), too.
    const FlowPaths* flow() const { return state_.flow.get(); }
    // Null: none were asked for. Complete after settle() or finish(), too.
    const Objects* objects() const { return state_.objects.get(); }
    // Null: nothing was asked for.
    const OrderSampler* orders() const { return orders_.get(); }
    // Null: it was not asked why lines are loaded. Complete after settle() or finish(), too.
    const Why* why() const { return state_.why.get(); }
    // Null: there is but one core. Complete after settle() or finish(), too.
    const Sharing* sharing() const { return state_.sharing.get(); }
    // By their numbers, from 1 on; none, if it was not asked who brings lines back.
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
