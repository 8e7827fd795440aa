// SPDX-License-Identifier: GPL-2.0-or-later
//
// One flow of control: a guest thread, or a signal handler running on one. Each has its own call stack, its own
// running totals and its own back-dating tree, so that what a handler costs is not charged to the calls that it
// happened to interrupt.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/block_cost.h"
#include "engine/events.h"
#include "engine/types.h"

namespace bd {

using RunningCosts = std::array<std::uint64_t, kRunningEvents>;

// A call that has not returned yet.
struct OpenCall {
    Address stack_pointer;   // where the callee began; a higher one means that the call was left
    Address return_address;  // 0 if the call has no return of its own (tail calls)
    ArcId arc;               // kNoArc: the call is not shown, see Function::skipped
    NodeId node;             // only valid for the calls that have one, see Execution::nodes
    const Context* caller;   // to go on with after the return
    CallSite caller_payer;
    RunningCosts at_entry;
};

// A part of the address space, both ends included.
struct AddressRange {
    Address begin = 0;
    Address end = ~Address{0};
};

struct Execution {
    // `stack`: where the stack pointer can be without this execution having been left by a jump.
    Execution(NodeId tree_root, AddressRange stack) : root(tree_root), bounds(stack) { update_top(); }

    // Whether code with this stack pointer belongs to this execution.
    bool within_bounds(Address stack_pointer) const {
        return stack_pointer - bounds.begin <= bounds.end - bounds.begin;
    }

    // Whether, besides, it has left no open call.
    bool within_top(Address stack_pointer) const { return stack_pointer - bounds.begin <= top_span; }

    void update_top() {
        const Address top = calls.empty() ? bounds.end : calls.back().stack_pointer;
        top_span = top - bounds.begin;
    }

    NodeId root;
    AddressRange bounds;
    std::vector<OpenCall> calls;
    std::size_t nodes = 0;        // the first so many calls have a tree node
    Address top_span;             // see within_top
    const Context* context = nullptr;  // of the code that runs; null before the first block
    CallSite payer;               // set while skipped code runs: the call that pays for it
    RunningCosts running{};

    // The latest block, and how it ended.
    BlockCost* last = nullptr;
    const Exit* last_exit = nullptr;
};

}  // namespace bd
