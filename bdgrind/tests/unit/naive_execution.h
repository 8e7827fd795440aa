// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the naive engine knows of a thread or a handler: its stacks and the calls that are open on them.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "naive_flow.h"
#include "naive_reuse.h"
#include "run_costs.h"

namespace bd::test {

struct Site {
    unsigned block;
    ContextKey context;
    unsigned exit;
};

struct Call {
    Address stack_pointer;
    std::optional<Address> return_address;
    std::optional<ArcKey> arc;  // none: the callee is skipped
    ContextKey caller_context;
    std::optional<Site> caller_charged_site;
    unsigned function;     // that was called
    unsigned long number;  // no other call has it
    Address behind = 0;    // the instruction that calls
    NaiveScope scope{};
    mutable NaiveFlow flow{};
};

// A call of a function that allocates.
struct Allocation {
    unsigned long call;
    Address stack_pointer;
    unsigned function;
    Address arguments[3];
    std::string group;
    Address allocated = 0;
    struct Inner {
        Address base;
        Address size;
    };
    std::vector<Inner> inner{};  // what has been allocated in it, if the user says that it allocates
};

// What runs on one stack.
struct Stack {
    std::vector<Call> calls;
    ContextKey context{};
    std::optional<Site> charged_site;       // while a skipped function runs: the call that is charged for it
    std::optional<Site> last;               // the latest block, in its context, and its exit
    std::optional<unsigned> root;           // the function that it began with, where it did with its first block
    Address base = 0;                       // the stack pointer of the root
    Address stack_pointer = 0;              // at the start of the latest block
    std::vector<Allocation> allocations{};  // that are open, the outermost first
    NaiveScope root_scope{};
    mutable NaiveFlow root_flow{};

    // Of the latest call that is shown.
    NaiveFlow& flow() const {
        for (std::size_t i = calls.size(); i-- > 0;) {
            if (calls[i].arc) return calls[i].flow;
        }
        return root_flow;
    }
    NaiveScope& scope() { return calls.empty() ? root_scope : calls.back().scope; }

    static constexpr Address kMargin = 1024;
    bool has(Address pointer) const { return stack_pointer <= pointer + kMargin && pointer <= base + kMargin; }
};

// A thread, or a signal handler on it.
struct NaiveExecution : Stack {
    Address thread = 0;
    bool is_handler = false;
    Address signal = 0;
    Address lowest = 0;  // where the stack pointer may be while a handler runs
    Address highest = 0;
    std::vector<Stack> others;  // that it ran on before, lowest base first
    bool collecting = true;
    std::map<unsigned, unsigned> open;  // how many calls of a function are, on all stacks

    bool can_have(Address pointer) const { return !is_handler || (lowest <= pointer && pointer <= highest); }
};

// By thread; handlers are behind what they interrupted.
using Executions = std::map<Address, std::vector<NaiveExecution>>;

}  // namespace bd::test
