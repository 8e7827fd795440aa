// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds out, when a block begins, whether calls were made or left since the previous block; call_rules.h has the rules.
// Keeps the call stacks of an execution, with their contexts and tree nodes.

#pragma once

#include "engine/base/side_table.h"
#include "engine/calls/execution.h"
#include "engine/calls/requests.h"
#include "engine/calls/scope_tracker.h"
#include "engine/costs/arcs.h"
#include "engine/costs/backdating_tree.h"
#include "engine/costs/block_cost.h"
#include "engine/costs/contexts.h"
#include "engine/costs/core_costs.h"

namespace bd {

// What contexts depend on, besides the rules of each function.
struct ContextRules {
    bool skip_direct_recursion = false;  // a function's direct call of itself is not a deeper level
    bool separate_callers = false;       // must be true if any Function::caller_count is not 0
};

class CallTracker {
public:
    CallTracker(ContextTable& contexts, BlockCosts& blocks, ArcTable& arcs, BackdatingTree& tree,
                ContextRules rules = {}, ContextTree* context_tree = nullptr, ScopeTracker* scopes = nullptr,
                FlowPaths* flow = nullptr, CoreCosts* core_costs = nullptr)
        : contexts_(contexts),
          blocks_(blocks),
          arcs_(arcs),
          tree_(tree),
          context_tree_(context_tree),
          scopes_(scopes),
          flow_(flow),
          core_costs_(core_costs),
          rules_(rules) {}

    // `block` begins with `stack_pointer`. Returns false if it was not entered: either the execution, a signal handler,
    // was left for good by a jump, or there are requests.
    bool enter(Execution& execution, Block& block, Address stack_pointer);

    // Goes on in `execution` after a jump out of a signal handler that had interrupted it.
    void enter_by_jump(Execution& execution, Block& block, Address stack_pointer);

    // Requests to be served before anything else is counted. The same block is entered again afterwards; stop() makes
    // that go on where enter() ended this time.
    std::vector<Request>& requests() { return requests_; }
    const std::vector<Request>& requests() const { return requests_; }
    void stop(Execution& execution);
    // Whether `exit`, the end of the latest block, only stands for one: the next block is being entered again.
    static bool is_stop(const Exit* exit) { return exit == &kStopped; }

    // The number of calls, returns and changes of the stack so far. A step that does not change it is a jump within a
    // function.
    std::uint64_t changes() const { return changes_; }

    // The node of the innermost open call. Makes it, with its missing ancestors, if there is none yet.
    NodeId active_node(Execution& execution) {
        if (__builtin_expect(execution.nodes == execution.calls.size(), 1)) {
            return execution.nodes == 0 ? execution.root : execution.calls.back().node;
        }
        return make_nodes(execution);
    }

    // To be called before the open calls are read: adds a call that may be one of a PLT stub only.
    void open_stub(CallStack& stack);

    // Ends the execution: leaves all open calls on all of its stacks, innermost first.
    void leave_all(Execution& execution);

    // The same if the guest has not left them, but the simulation starts over: makes no requests to dump. Afterwards,
    // the execution is in the state of one that has not run yet.
    void abandon(Execution& execution);

    // Adds the running totals since the calls were entered, or since the last settle(), to the arcs of all open calls.
    // Otherwise, these events of an arc are complete only when its calls have been left.
    void settle(Execution& execution);

    // It runs on another core from here on. There must be costs by core.
    void move_to(Execution& execution, std::uint32_t core);

    // Charges what has been executed to the node of the context tree that it has been executed in.
    void charge_path(CallStack& stack);

    // How many calls of a function are open in the execution that runs.
    std::uint32_t open_calls(const Function& function) { return open_calls_[function.id]; }

private:
    bool enter_rarely(Execution& execution, Block& block, Address stack_pointer);
    void take_step(Execution& execution, Block& block, const Exit& exit, Address stack_pointer);
    void start(Execution& execution, Block& block, Address stack_pointer);
    void call(Execution& execution, Block& block, const CallSite& from, Address stack_pointer, Address return_address);
    ArcId open(Execution& execution, Block& block, const CallSite& site, Address stack_pointer, Address return_address);
    void open_plain(Execution& execution, Block& block, const CallSite& site, Address stack_pointer,
                    Address return_address);
    void open_skipped(CallStack& stack, const CallSite& charged_site, Address stack_pointer, Address return_address);
    const Context& own_context(const Execution& execution, const Context& context) {
        return execution.thread == 0 ? context : contexts_.in_thread(context, execution.thread);
    }
    const Context& callee_context(CallStack& stack, const Function& callee);
    const Context& context_by_callers(CallStack& stack, const Function& callee, std::uint32_t level);
    void leave(CallStack& stack);
    void leave(Execution& execution, std::size_t count);
    std::size_t leave_above(Execution& execution, Address stack_pointer);
    void leave_root(CallStack& stack);
    void count_call(Execution& execution);
    void fire_entry_triggers(Execution& execution, const Function& function);
    void fire_exit_triggers(Execution& execution, const Function& function);
    void settle_stack(CallStack& stack);
    NodeId make_nodes(Execution& execution);

    // If there is a context tree: see context_paths.cpp.
    void begin_path(Execution& execution);
    void extend_path(CallStack& stack, ArcId arc);
    void extend_path_nowhere(CallStack& stack);
    void shorten_path(CallStack& stack);
    void follow_path(const Execution& execution, NodeId node, std::size_t call);

    // Open calls are counted by function in the execution that runs. Executions rarely take turns, and calls are
    // frequent; so the counts are replaced when the execution changes, and calls need not ask whose they are.
    void switch_to(Execution& execution);
    void count_open_calls(const CallStack& stack, int by);
    bool is_deeper(const Function& caller, const Function& callee) const {
        return &caller != &callee || !rules_.skip_direct_recursion;
    }

    // If there are several stacks: see stack_changes.cpp.
    static bool goes_far_down(const CallStack& stack, const Block& block, Address stack_pointer, JumpKind jump);
    static bool may_change_stack(const Execution& execution, const Block& block, Address stack_pointer, JumpKind jump) {
        return !execution.on_stack(stack_pointer) ||
               (stack_pointer < execution.stack_pointer && goes_far_down(execution, block, stack_pointer, jump));
    }
    bool change_stack(Execution& execution, Block& block, Address stack_pointer, JumpKind jump);
    void resume_stack(Execution& execution, std::size_t other);
    void start_stack(Execution& execution, Block& block, Address stack_pointer);
    void drop_stack(Execution& execution, std::size_t other);

    ContextTable& contexts_;
    BlockCosts& blocks_;
    ArcTable& arcs_;
    BackdatingTree& tree_;
    ContextTree* const context_tree_;  // null: there is none
    ScopeTracker* const scopes_;       // the same
    FlowPaths* const flow_;            // the same
    CoreCosts* const core_costs_;      // the same
    const ContextRules rules_;
    // Stands for the end of the block before while a block is being entered, once all but the requests is done. It
    // leaves no section, so that it is looked at.
    static const Exit kStopped;

    SideTable<std::uint32_t> open_calls_;  // by Function::id
    Execution* running_ = nullptr;
    std::uint64_t changes_ = 0;
    std::vector<Request> requests_;
    std::vector<const Function*> callers_;  // of the latest call, innermost first
};

}  // namespace bd
