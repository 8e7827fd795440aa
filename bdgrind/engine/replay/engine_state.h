// SPDX-License-Identifier: GPL-2.0-or-later
//
// The state that the replay loops work on: the parts that know calls and costs, and the executions. Internal to the
// engine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/cache/last_level_shares.h"
#include "engine/cache/placements.h"
#include "engine/calls/call_tracker.h"
#include "engine/calls/execution.h"
#include "engine/calls/thread_origins.h"
#include "engine/costs/arcs.h"
#include "engine/costs/backdating_tree.h"
#include "engine/costs/block_cost.h"
#include "engine/costs/context_tree.h"
#include "engine/costs/contexts.h"
#include "engine/costs/core_costs.h"
#include "engine/costs/costs.h"
#include "engine/costs/events.h"
#include "engine/costs/flow_paths.h"
#include "engine/costs/jumps.h"
#include "engine/costs/ledger.h"
#include "engine/objects/objects.h"
#include "engine/program/block.h"
#include "engine/replay/engine_config.h"
#include "engine/sharing/core_loads.h"
#include "engine/sharing/sharing.h"
#include "engine/trace/trace.h"
#include "engine/why/why.h"

namespace bd {

class Replay;

struct EngineState final : ContextNodeKeeper {
    explicit EngineState(const EngineConfig& engine_config);

    using Executions = std::vector<std::unique_ptr<Execution>>;

    // Handles a marker record.
    void mark(Marker marker, std::span<const Word> values);

    // To be called when CallTracker::enter() has failed: goes on in the execution that a signal handler had
    // interrupted, if the handler was left. False: there are requests to serve before `block` is entered.
    bool enter_elsewhere(Block& block, Address stack_pointer);

    // What is charged for an instruction of a block that `execution` runs: the cost vector of the instruction or, in
    // skipped code, of the charged call site; and the node of the innermost open call.
    ChargeTarget charge_target(Execution& execution, BlockCost& block, std::size_t instruction) {
        return {calls.active_node(execution), ledger.instruction(execution.charged_site, block, instruction)};
    }

    // Charges that at once: add(Costs, times) as in Ledger::charge().
    template <class Add>
    void charge_now(Execution& execution, BlockCost& block, std::size_t instruction, Add add) {
        const ChargeTarget target = charge_target(execution, block, instruction);
        ledger.charge(target, add);
        if (flow != nullptr) charge_flow(execution, target.costs, add);
    }
    // Charges the path within the function that runs. Requires `flow`.
    template <class Add>
    [[gnu::noinline]] void charge_flow(Execution& execution, CostId instruction, Add add) {
        flow->charge(flow_frame(execution), instruction, [=](Costs counts) { add(counts, 1); });
    }

    // The frame of the path that is charged for what `execution` does. Requires `flow`.
    FlowFrame& flow_frame(Execution& execution) const {
        if (__builtin_expect(!execution.charged_site, 1)) return execution.flow.top;
        return flow->charged_frame(execution.flow, *execution.charged_site.from->context);
    }

    // The block that runs has an access without an address: either its guard was false, and the count that it got with
    // the exit is taken back; or it locks the bus, which counts as Ge only.
    void on_unaddressed_access(BlockCost& block, const Access& access);

    // Whether the current execution has run a block.
    bool has_run() const { return current != nullptr && current->last != nullptr; }
    // The innermost execution of the guest thread in a marker's first value. The thread must have one.
    Execution& latest_execution(std::span<const Word> values) {
        return *threads[static_cast<std::uint32_t>(values[0])].back();
    }

    // One function for each marker; see mark().
    struct MarkerRule;
    void switch_to_thread(std::span<const Word> values);
    void end_thread(std::span<const Word> values);
    void create_thread(std::span<const Word> values);
    void note_signal(std::span<const Word> values);
    void enter_handler(std::span<const Word> values);
    void leave_handler(std::span<const Word> values);
    void toggle_collect(std::span<const Word> values);
    void charge_system_call(std::span<const Word> values);
    void collect(std::span<const Word> values);
    void request_zero(std::span<const Word> values);
    void stop(std::span<const Word> values);
    void enter_allocator(std::span<const Word> values);
    void leave_allocator(std::span<const Word> values);
    void free_block(std::span<const Word> values);
    void map(std::span<const Word> values);
    void unmap(std::span<const Word> values);
    void charge_coherence(std::span<const Word> values);
    void note_core_use(std::span<const Word> values);
    void end_lives();

    // To be called if the latest block of `execution` may not be followed by one within the function, or if that will
    // be counted differently. If it is followed by a jump after all, that is counted then.
    void cut_jump(Execution& execution);

    void forget_calls();
    void settle();
    void cut_jumps();
    void cut_flow();
    // Replaces all noted times of touches by renumber(time).
    template <class Renumber>
    void renumber_times(Renumber renumber) {
        for (const Executions& executions : threads) {
            for (const auto& execution : executions) {
                ScopeTracker::renumber(execution->scopes, renumber);
                for (const auto& other : execution->others) ScopeTracker::renumber(other->scopes, renumber);
            }
        }
    }
    void zero(std::uint32_t thread);

    std::vector<ContextNodeId> fold_context_tree() override;
    void add_execution(Executions& executions, const ContextRoot& what, AddressRange stack);
    void leave_execution(Executions& executions);

    EngineConfig config;
    bool collect_at_start;  // of future executions
    EventSet events;
    CostPool costs;  // of instructions
    ContextTable contexts;
    BlockCosts blocks;
    ArcTable arcs;
    JumpTable jumps;
    std::unique_ptr<ContextTree> context_tree;  // null: not asked for
    std::unique_ptr<FlowPaths> flow;            // paths within functions; null: not asked for
    BackdatingTree tree;
    Ledger ledger;
    std::unique_ptr<ScopeTracker> scopes;  // null: carriers of reuses are not asked for
    CoreCosts core_costs;                  // counts nothing if all cores share one set of caches
    CallTracker calls;
    std::unique_ptr<Objects> objects;            // null: not asked for
    std::unique_ptr<Why> why;                    // null: not asked for
    std::unique_ptr<Sharing> sharing;            // null: there is only one core
    std::unique_ptr<CoreLoads> core_loads;       // the same
    std::unique_ptr<Placements> placements;      // null: pages lie in one way only
    std::unique_ptr<LastLevelShares> ll_shares;  // null: all cores share one set of caches

    // For each guest thread, its own execution and those of the signal handlers that run on it, innermost last.
    std::vector<Executions> threads;
    std::uint32_t thread = 0;
    std::uint32_t core = 0;    // of that thread
    std::uint32_t signal = 0;  // of the next handler; 0: not known
    Execution* current = nullptr;
    ThreadOrigins origins;
    Replay* replay = nullptr;

    std::uint64_t blocks_run = 0;
};

}  // namespace bd
