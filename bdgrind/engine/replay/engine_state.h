// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the replay loops work on: the parts that know calls and costs, and the executions. Not for use outside the
// engine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/calls/call_tracker.h"
#include "engine/calls/execution.h"
#include "engine/calls/thread_origins.h"
#include "engine/costs/arcs.h"
#include "engine/costs/backdating_tree.h"
#include "engine/costs/block_cost.h"
#include "engine/costs/context_tree.h"
#include "engine/costs/contexts.h"
#include "engine/costs/costs.h"
#include "engine/costs/events.h"
#include "engine/costs/flow_paths.h"
#include "engine/costs/jumps.h"
#include "engine/costs/ledger.h"
#include "engine/objects/objects.h"
#include "engine/program/block.h"
#include "engine/replay/engine_config.h"
#include "engine/sharing/sharing.h"
#include "engine/trace/trace.h"
#include "engine/why/why.h"

namespace bd {

class Replay;

struct EngineState {
    explicit EngineState(const EngineConfig& engine_config);

    using Executions = std::vector<std::unique_ptr<Execution>>;

    // Handles a marker record.
    void mark(Marker marker, std::span<const Word> values);

    // Where CallTracker::enter has failed: goes on in what a signal handler had interrupted if that was left. False:
    // there are requests to be served before `block` is entered.
    bool enter_elsewhere(Block& block, Address stack_pointer);

    // What is charged for an instruction of a block that `execution` runs: its cost, or that of the call that is
    // charged for skipped code; and the calls that are open.
    ChargeTarget charge_target(Execution& execution, BlockCost& block, std::size_t instruction) {
        return {calls.active_node(execution), ledger.instruction(execution.charged_site, block, instruction)};
    }

    // The same with an event that charges nothing later: add(Costs, times) as in Ledger::charge.
    template <class Add>
    void charge_now(Execution& execution, BlockCost& block, std::size_t instruction, Add add) {
        const ChargeTarget target = charge_target(execution, block, instruction);
        ledger.charge(target, add);
        if (flow != nullptr) charge_flow(execution, target.costs, add);
    }
    // On the path that runs, where these are followed.
    template <class Add>
    [[gnu::noinline]] void charge_flow(Execution& execution, CostId instruction, Add add) {
        flow->charge(flow_frame(execution), instruction, [=](Costs counts) { add(counts, 1); });
    }

    // The path that is charged with what `execution` does.
    FlowFrame& flow_frame(Execution& execution) const {
        if (__builtin_expect(!execution.charged_site, 1)) return execution.flow.top;
        return flow->charged_frame(execution.flow, *execution.charged_site.from->context);
    }

    // An access without an address, by the block that runs: its guard was false but it has been counted with its exit,
    // which is taken back; or it is none.
    void on_unaddressed_access(BlockCost& block, const Access& access);

    // Whether a block of what runs now is known.
    bool has_run() const { return current != nullptr && current->last != nullptr; }
    // Of the guest thread of a marker's first value, which has one.
    Execution& latest_execution(std::span<const Word> values) {
        return *threads[static_cast<std::uint32_t>(values[0])].back();
    }

    // What each marker does; see mark().
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

    void forget_calls();
    void settle();
    void cut_flow();
    // Of everything that notes the times of touches: renumber(time).
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

    void add_execution(Executions& executions, const ContextRoot& what, AddressRange stack);
    void leave_execution(Executions& executions);

    EngineConfig config;
    bool collect_at_start;  // of the executions to come
    EventSet events;
    CostPool costs;  // of instructions
    ContextTable contexts;
    BlockCosts blocks;
    ArcTable arcs;
    JumpTable jumps;
    std::unique_ptr<ContextTree> context_tree;  // null: none is asked for
    std::unique_ptr<FlowPaths> flow;            // null: paths within functions are not asked for
    BackdatingTree tree;
    Ledger ledger;
    std::unique_ptr<ScopeTracker> scopes;  // null: it is not asked who brings lines back
    CallTracker calls;
    std::unique_ptr<Objects> objects;  // null: none are asked for
    std::unique_ptr<Why> why;          // null: it is not asked why
    std::unique_ptr<Sharing> sharing;  // null: there is but one core

    // Per guest thread its own flow of control and those of the handlers that run on it, innermost last.
    std::vector<Executions> threads;
    std::uint32_t thread = 0;
    std::uint32_t signal = 0;  // of the handler to come; 0: not known
    Execution* current = nullptr;
    ThreadOrigins origins;
    Replay* replay = nullptr;

    std::uint64_t blocks_run = 0;
};

}  // namespace bd
