// SPDX-License-Identifier: GPL-2.0-or-later
//
// One flow of control: a guest thread, or a signal handler running on one. Each has its own call stack, its own running
// totals and its own back-dating tree, so that the costs of a handler are not charged to the calls that it interrupted.
//
// Coroutines take turns on several stacks. An execution then has as many call stacks, of which one is current; each
// has its own totals and tree, as coroutines do not call each other either.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/types.h"
#include "engine/calls/scope_stack.h"
#include "engine/costs/block_cost.h"
#include "engine/costs/events.h"
#include "engine/costs/flow_paths.h"

namespace bd {

using RunningCosts = std::array<std::uint64_t, kRunningEvents>;

// A call that has not returned yet. There may be millions of them.
struct OpenCall {
    Address stack_pointer;   // when the callee began; when it is higher, the call has been left
    Address return_address;  // 0 if the call has no return of its own (tail calls)
    const Context* caller;   // the context that runs again after the return
    ArcId arc;               // kNoArc: the call is not shown, see Function::skipped
    NodeId node;             // valid only for the first CallStack::nodes calls
};

// The data of Objects about a stack that has allocated.
struct OpenAllocations;
struct DeleteOpenAllocations {
    void operator()(OpenAllocations* allocations) const;
};

// Data that only a few open calls have.
struct SpecialCall {
    std::size_t index;  // among the open calls of the stack
    CallSite caller_charged_site;
    const Function* triggering;  // the function called, if it has triggers; else null
    bool allocates = false;      // whether it is the call of an OpenAllocation
};

// A part of the address space, including its end.
struct AddressRange {
    Address begin = 0;
    Address end = ~Address{0};

    bool has(Address address) const { return address - begin <= end - begin; }
};

// The position of a stack in the calling context tree. Unused without a tree.
struct ContextPath {
    ContextNodeId root = kNoContextNode;  // of the thread or the signal handler
    ContextNodeId node = kNoContextNode;  // of the code that runs
    RunningCosts charged{};               // the part of CallStack::running that nodes have been charged with
    std::vector<ContextNodeId> callers;   // for each open call, the node to go back to
};

// The calls that are open on one stack.
struct CallStack {
    explicit CallStack(NodeId tree_root) : root(tree_root) {}

    // The stack pointers that certainly belong to this stack while it is not the current one: from the one at which it
    // was left up to the one at which it began. The margin, in bytes, allows for changes within a block.
    static constexpr Address kMargin = 1024;
    AddressRange extent() const {
        return {stack_pointer - std::min(stack_pointer, kMargin), base + std::min(~base, kMargin)};
    }

    // The latest block, the exit it was left by, and the stack pointer when it began.
    BlockCost* last = nullptr;
    const Exit* last_exit = nullptr;
    Address stack_pointer = 0;

    const Context* context = nullptr;  // of the code that runs; null before the first block
    CallSite charged_site;             // set while skipped code runs: the call that is charged for it
    // While charged_site may be the call of a PLT stub: the stack pointer when the stub began, and its return address;
    // 0: there is no such call. If the stub only jumps on, its call is never opened.
    Address stub_stack_pointer = 0;
    Address stub_return_address = 0;
    // The running totals. The value at the time of a call has been subtracted from the call's arc.
    RunningCosts running{};
    std::uint32_t core = 0;  // that it runs on
    RunningCosts counted{};  // the part of `running` that has been added to that core's costs
    std::vector<OpenCall> calls;
    std::vector<SpecialCall> special_calls;     // of the open calls that have such data
    bool call_uncounted = false;                // whether the latest call is still to be counted, after its requests
    const Function* triggering_root = nullptr;  // the function that the stack began with, if it has triggers
    std::size_t nodes = 0;                      // how many calls, from the outermost on, have a tree node
    NodeId root;
    Address base = 0;  // the stack pointer when the root began; its caller is not known
    // The functions that call the current one, outermost first and without direct recursion. Kept only if costs are
    // separated by callers.
    std::vector<const Function*> callers;
    ContextPath path;
    ScopeStack scopes;  // only kept if carriers of reuses are recorded
    FlowStack flow;     // only kept if paths within functions are followed
    std::unique_ptr<OpenAllocations, DeleteOpenAllocations> allocations;  // null: the stack has not allocated
};

// The members of the base class are the current stack's.
struct Execution : CallStack {
    // `whole`: the stack pointers that this execution can have; with any other, a jump has left it.
    Execution(NodeId tree_root, AddressRange whole) : CallStack(tree_root), bounds(whole) { update_top(); }

    // Whether code with this stack pointer belongs to this execution.
    bool within_bounds(Address pointer) const { return bounds.has(pointer); }

    // Whether the stack pointer is one of the current stack. Implies within_bounds().
    bool on_stack(Address pointer) const { return stack.has(pointer); }

    // Whether no open call has been left, either. Implies on_stack().
    bool within_top(Address pointer) const { return pointer - stack.begin <= top_span; }

    // The first of `others` whose base is `lowest` or above.
    auto first_based_at(Address lowest) {
        return std::ranges::lower_bound(others, lowest, {}, [](const auto& other) { return other->base; });
    }

    // To be called when `calls` has changed; update_stack() when `base` or `others` have.
    void update_top() {
        const Address top = calls.empty() ? stack.end : calls.back().stack_pointer;
        top_span = top - stack.begin;
    }
    void update_stack() {
        stack = {bounds.begin, std::min(bounds.end, extent().end)};
        const auto above = first_based_at(base);
        if (above != others.begin()) stack.begin = std::max(stack.begin, above[-1]->extent().end + 1);
        update_top();
    }

    AddressRange bounds;
    AddressRange stack;                              // the part of `bounds` that is the current stack's
    Address top_span;                                // see within_top
    std::vector<std::unique_ptr<CallStack>> others;  // by base

    bool collecting = true;    // whether what happens is counted
    bool jump_is_cut = false;  // whether the jump by which the latest block may have ended is not counted yet
    std::uint32_t thread = 0;  // the one that its contexts belong to; 0: costs are not separated by thread
    // The number of open calls of each function with triggers, on all stacks.
    boost::unordered_flat_map<const Function*, std::uint32_t> open_triggering;
};

}  // namespace bd
