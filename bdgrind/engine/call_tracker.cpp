// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/call_tracker.h"

namespace bd {
namespace {

// How many calls a return with this stack pointer to this address leaves: those whose frame it has left, or, where
// the stack pointer is that of the entry (no return address on the stack), those up to the one that asked to come
// back here. 0: it is not the return of a call that we know.
std::size_t calls_left_by_return(const Execution& execution, Address target, Address stack_pointer) {
    const auto& calls = execution.calls;
    if (stack_pointer > calls.back().stack_pointer) return 1;  // and what else lies below it
    std::size_t count = 0;
    for (auto call = calls.rbegin(); call != calls.rend() && call->stack_pointer == stack_pointer; ++call) {
        ++count;
        if (call->return_address == target) return count;
    }
    return 0;
}

// A REP instruction iterates by jumping to itself; that is no call, even where it begins a function.
bool repeats_itself(const Exit& exit, const Block& block) {
    return exit.block->instruction_address(exit.instructions - 1u) == block.address;
}

}  // namespace

bool CallTracker::enter_slowly(Execution& execution, const Block& block, Address stack_pointer) {
    if (execution.last_exit == nullptr) {
        start(execution, block);
        return true;
    }
    const Exit& exit = *execution.last_exit;
    JumpKind jump = exit.jump;
    bool stray_return = false;
    if (jump == JumpKind::kReturn) {
        if (execution.calls.empty()) {
            // To a caller that was never seen.
            leave_above(execution, stack_pointer);
            if (!execution.within_top(stack_pointer)) return false;
            start(execution, block);
            return true;
        }
        std::size_t count = calls_left_by_return(execution, block.address, stack_pointer);
        if (count != 0) {
            for (; count != 0; --count) leave(execution);
            leave_above(execution, stack_pointer);
            return execution.within_top(stack_pointer);
        }
        stray_return = true;
        jump = JumpKind::kJump;
    }

    const std::size_t left = leave_above(execution, stack_pointer);
    if (!execution.within_top(stack_pointer)) return false;
    if (jump == JumpKind::kCall) {
        call(execution, block, {execution.last, exit.index}, stack_pointer, exit.return_address);
        return true;
    }
    // A jump that left calls, as longjmp does, is not a call on top of that.
    if (left != 0) return true;
    const bool tail_call = stray_return || (block.is_entry && !repeats_itself(exit, block)) ||
                           block.section != exit.block->section;
    if (!tail_call) return true;
    CallSite from{execution.last, exit.index};
    if (execution.context->function().left_by_jump && !execution.calls.empty() && !execution.payer) {
        from = arcs_[execution.calls.back().arc].site;  // what was found is called from where it was asked for
        leave(execution);
    }
    // It shares the stack pointer of the call below, so that one return leaves both.
    call(execution, block, from, execution.calls.empty() ? stack_pointer : execution.calls.back().stack_pointer,
         0);
    return true;
}

void CallTracker::enter_by_jump(Execution& execution, const Block& block, Address stack_pointer) {
    if (execution.last_exit == nullptr) {
        start(execution, block);
        return;
    }
    leave_above(execution, stack_pointer);
}

// The execution is at its root: nobody known has called `block`.
void CallTracker::start(Execution& execution, const Block& block) {
    execution.context = &contexts_.of(*block.function);
    execution.payer = {};
}

void CallTracker::call(Execution& execution, const Block& block, const CallSite& from, Address stack_pointer,
                       Address return_address) {
    OpenCall& open = execution.calls.emplace_back();
    open.stack_pointer = stack_pointer;
    open.return_address = return_address;
    open.arc = kNoArc;
    open.caller = execution.context;
    open.caller_payer = execution.payer;
    open.at_entry = execution.running;

    const CallSite site = execution.payer ? execution.payer : from;
    if (block.function->skipped) {
        execution.payer = site;
    } else {
        execution.context = &contexts_.of(*block.function);
        execution.payer = {};
        open.arc = arcs_.get(site, blocks_.get(block, *execution.context));
        if (collecting_) ++arcs_[open.arc].calls;
    }
    execution.update_top();
}

void CallTracker::leave(Execution& execution) {
    const OpenCall& open = execution.calls.back();
    if (open.arc != kNoArc) {
        const Costs costs = arcs_.costs(open.arc);
        for (std::size_t i = 0; i < kRunningEvents; ++i) costs[i] += execution.running[i] - open.at_entry[i];
    }
    const bool has_node = execution.nodes == execution.calls.size();
    const NodeId node = open.node;
    execution.context = open.caller;
    execution.payer = open.caller_payer;
    execution.calls.pop_back();
    execution.update_top();
    if (has_node) {
        --execution.nodes;
        tree_.release(node);
    }
}

std::size_t CallTracker::leave_above(Execution& execution, Address stack_pointer) {
    std::size_t left = 0;
    while (!execution.calls.empty() && execution.calls.back().stack_pointer < stack_pointer) {
        leave(execution);
        ++left;
    }
    return left;
}

NodeId CallTracker::make_nodes(Execution& execution) {
    NodeId node = execution.nodes == 0 ? execution.root : execution.calls[execution.nodes - 1].node;
    for (; execution.nodes < execution.calls.size(); ++execution.nodes) {
        OpenCall& open = execution.calls[execution.nodes];
        if (open.arc == kNoArc) {
            tree_.acquire(node);  // a call that is not shown stands in its caller's node
        } else {
            node = tree_.acquire_child(node, open.arc);
        }
        open.node = node;
    }
    return node;
}

void CallTracker::leave_all(Execution& execution) {
    while (!execution.calls.empty()) leave(execution);
}

void CallTracker::settle(Execution& execution) {
    for (OpenCall& open : execution.calls) {
        if (open.arc == kNoArc) continue;
        const Costs costs = arcs_.costs(open.arc);
        for (std::size_t i = 0; i < kRunningEvents; ++i) costs[i] += execution.running[i] - open.at_entry[i];
        open.at_entry = execution.running;
    }
}

}  // namespace bd
