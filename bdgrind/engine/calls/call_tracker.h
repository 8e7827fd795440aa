// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds out, where a block begins, whether calls were made or left since the block before: call_rules.h has the rules.
// It keeps the call stacks of an execution, their contexts and their tree nodes.

#pragma once

#include "engine/calls/execution.h"
#include "engine/calls/requests.h"
#include "engine/calls/scope_tracker.h"
#include "engine/costs/arcs.h"
#include "engine/costs/backdating_tree.h"
#include "engine/costs/block_cost.h"
#include "engine/costs/contexts.h"

namespace bd {

// What contexts depend on, besides what each function says of itself.
struct ContextRules {
    bool skip_direct_recursion = false;  // a function that calls itself is not a level deeper then
    bool separate_callers = false;       // must be set if any Function::caller_count is
};

class CallTracker {
public:
    CallTracker(ContextTable& contexts, BlockCosts& blocks, ArcTable& arcs, BackdatingTree& tree,
                ContextRules rules = {}, ContextTree* context_tree = nullptr, ScopeTracker* scopes = nullptr,
                FlowPaths* flow = nullptr)
        : contexts_(contexts),
          blocks_(blocks),
          arcs_(arcs),
          tree_(tree),
          context_tree_(context_tree),
          scopes_(scopes),
          flow_(flow),
          rules_(rules) {}

    // `block` begins with `stack_pointer`. Returns false if it has not been entered: either the execution, a signal
    // handler, has been left for good by a jump, or there are requests.
    bool enter(Execution& execution, Block& block, Address stack_pointer);

    // Goes on in `execution` after a jump out of a handler that had interrupted it.
    void enter_by_jump(Execution& execution, Block& block, Address stack_pointer);

    // What is to be done before anything else is counted; the same block is entered again afterwards, and `stop`
    // makes that go on where this time it ended.
    std::vector<Request>& requests() { return requests_; }
    const std::vector<Request>& requests() const { return requests_; }
    void stop(Execution& execution);

    // How often a call or a return was found, or another stack. What changes nothing is a jump within a function.
    std::uint64_t changes() const { return changes_; }

    // The node of the innermost open call, made with its missing ancestors if it has none yet.
    NodeId active_node(Execution& execution) {
        if (__builtin_expect(execution.nodes == execution.calls.size(), 1)) {
            return execution.nodes == 0 ? execution.root : execution.calls.back().node;
        }
        return make_nodes(execution);
    }

    // To be called before anybody looks at the open calls: what may be the call of a stub only is among them then.
    void open_stub(CallStack& stack);

    // Leaves all open calls, innermost first, also those on other stacks: the execution is over.
    void leave_all(Execution& execution);

    // The same when the guest has not left them, but the simulation starts over: no dumps are asked for. Afterwards the
    // execution is in the state of one that has not run yet.
    void abandon(Execution& execution);

    // Adds to all open calls' arcs what has been counted since their entry, or since the last time. Until then, or
    // until the calls are left, the running totals' events of these arcs say nothing.
    void settle(Execution& execution);

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

    // Where there is a context tree: see context_paths.cpp.
    void begin_path(Execution& execution);
    void extend_path(CallStack& stack, ArcId arc);
    void extend_path_nowhere(CallStack& stack);
    void shorten_path(CallStack& stack);
    void charge_path(CallStack& stack);
    void follow_path(const Execution& execution, NodeId node, std::size_t call);

    // Functions count their open calls where code is running. Executions take turns seldom, calls are frequent; so
    // the counts are changed when executions change, and calls need not ask whose they are.
    void switch_to(Execution& execution);
    void count_open_calls(const CallStack& stack, int by);
    bool is_deeper(const Function& caller, const Function& callee) const {
        return &caller != &callee || !rules_.skip_direct_recursion;
    }

    // Where there are several stacks: see stack_changes.cpp.
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
    const ContextRules rules_;
    Execution* running_ = nullptr;
    std::uint64_t changes_ = 0;
    std::vector<Request> requests_;
    std::vector<const Function*> callers_;  // of the latest call, innermost first
};

}  // namespace bd
