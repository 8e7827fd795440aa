// SPDX-License-Identifier: GPL-2.0-or-later
//
// One flow of control: a guest thread, or a signal handler running on one. Each has its own call stack, its own
// running totals and its own back-dating tree, so that what a handler costs is not charged to the calls that it
// happened to interrupt.
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
    Address stack_pointer;   // where the callee began; a higher one means that the call was left
    Address return_address;  // 0 if the call has no return of its own (tail calls)
    const Context* caller;   // to go on with after the return
    ArcId arc;               // kNoArc: the call is not shown, see Function::skipped
    NodeId node;             // only valid for the calls that have one, see CallStack::nodes
};

// What data objects keep of a stack that has allocated.
struct OpenAllocations;
struct DeleteOpenAllocations {
    void operator()(OpenAllocations* allocations) const;
};

// What few open calls have besides.
struct SpecialCall {
    std::size_t index;  // among the open calls of the stack
    CallSite caller_charged_site;
    const Function* triggering;  // the function called, if it has triggers; else null
};

// A part of the address space, its end included.
struct AddressRange {
    Address begin = 0;
    Address end = ~Address{0};

    bool has(Address address) const { return address - begin <= end - begin; }
};

// Where a stack is in the calling context tree. Without such a tree, nothing of that is used.
struct ContextPath {
    ContextNodeId root = kNoContextNode;  // of the thread or the signal handler
    ContextNodeId node = kNoContextNode;  // of the code that runs
    RunningCosts charged{};               // CallStack::running, as far as nodes have been charged with it
    std::vector<ContextNodeId> callers;   // for each open call, the node to go back to
};

// The calls that are open on one stack.
struct CallStack {
    explicit CallStack(NodeId tree_root) : root(tree_root) {}

    // Stack pointers that are this stack's for sure when it is not the current one: from where it was left up to where
    // it began. The margin is for what is done with the stack pointer within a block.
    static constexpr Address kMargin = 1024;
    AddressRange extent() const {
        return {stack_pointer - std::min(stack_pointer, kMargin), base + std::min(~base, kMargin)};
    }

    // The latest block, how it ended, and where the stack pointer was when it began.
    BlockCost* last = nullptr;
    const Exit* last_exit = nullptr;
    Address stack_pointer = 0;

    const Context* context = nullptr;  // of the code that runs; null before the first block
    CallSite charged_site;             // set while skipped code runs: the call that is charged for it
    // That call, while it may be one of a PLT stub: if all that is done there is to jump on, it is never opened. Where
    // the stub began, and where it is to return to; 0: there is no such call.
    Address stub_stack_pointer = 0;
    Address stub_return_address = 0;
    // An open call's arc has got the negative of what this was when the call was made.
    RunningCosts running{};
    std::vector<OpenCall> calls;
    std::vector<SpecialCall> special_calls;     // some of them
    bool call_uncounted = false;                // the latest is to be counted once what it has triggered is done
    const Function* triggering_root = nullptr;  // what the stack began with, if that is watched
    std::size_t nodes = 0;                      // the first so many calls have a tree node
    NodeId root;
    Address base = 0;  // the stack pointer of the root, which nobody is known to have called
    // The functions that call the current one, outermost first and without direct recursion. Kept only if callers are
    // told apart.
    std::vector<const Function*> callers;
    ContextPath path;
    ScopeStack scopes;  // only where it is asked which of them carries a reuse
    FlowStack flow;     // only where paths within functions are followed
    std::unique_ptr<OpenAllocations, DeleteOpenAllocations> allocations;  // null: it has not allocated
};

// The members of the base class are the current stack's.
struct Execution : CallStack {
    // `whole`: where the stack pointer can be without this execution having been left by a jump.
    Execution(NodeId tree_root, AddressRange whole) : CallStack(tree_root), bounds(whole) { update_top(); }

    // Whether code with this stack pointer belongs to this execution.
    bool within_bounds(Address pointer) const { return bounds.has(pointer); }

    // Whether, besides, it is on the current stack.
    bool on_stack(Address pointer) const { return stack.has(pointer); }

    // Whether, besides, it has left no open call.
    bool within_top(Address pointer) const { return pointer - stack.begin <= top_span; }

    // Of the others, the first whose base is `lowest` or above.
    auto first_based_at(Address lowest) {
        return std::ranges::lower_bound(others, lowest, {}, [](const auto& other) { return other->base; });
    }

    // To be called when calls, base or others have changed.
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
    AddressRange stack;                              // the part of it that is the current stack's
    Address top_span;                                // see within_top
    std::vector<std::unique_ptr<CallStack>> others;  // by base

    bool collecting = true;    // whether what happens is counted
    std::uint32_t thread = 0;  // whose contexts its code has; 0: threads are not told apart
    // How often functions with triggers are open, on all stacks.
    boost::unordered_flat_map<const Function*, std::uint32_t> open_triggering;
};

}  // namespace bd
