// SPDX-License-Identifier: GPL-2.0-or-later
//
// The part of CallTracker for programs whose threads run on several stacks in turn: coroutines, by swapcontext or by a
// few custom instructions. To the processor, a stack change is a return or a jump like any other. It is recognised by
// the stack pointer:
//
//     base ──────────  the stack pointer of the root; code of this stack is never above it
//       main
//         f            open calls
//           switch
//     here ──────────  when the stack is left, its stack pointer is kept, with its open calls
//
//   up      above the base, although calls are open
//   down    by a return, which on one stack only goes up; or by a jump to a function with a stack pointer much lower
//           than where the jump came from
//   back    between base and stack pointer of a stack that was left, to a place where this stack may go on: where
//           one of its open calls was to return to, or within the function that this leaves on top
//
// If the stack found there cannot go on, the memory belongs to a new stack, and the old one is forgotten. If a stack
// change is not detected, it counts as a jump or a stray return; if one is detected in error, some calls have a
// separate root instead of their caller. Costs are complete in any case.

#include <algorithm>
#include <utility>

#include "engine/calls/call_tracker.h"

namespace bd {
namespace {

// The number of calls that are left when the stack goes on at `target`.
std::size_t calls_left(const CallStack& stack, Address target, Address stack_pointer) {
    const auto& calls = stack.calls;
    std::size_t open = calls.size();
    while (open != 0 && calls[open - 1].stack_pointer < stack_pointer) --open;
    // Calls that do not change the stack pointer are recognised by their return addresses.
    for (std::size_t i = open; i != 0 && calls[i - 1].stack_pointer == stack_pointer; --i) {
        if (calls[i - 1].return_address == target) open = i - 1;
    }
    return calls.size() - open;
}

// Whether `stack` can go on with `block` after leaving `left` calls.
bool goes_on(const CallStack& stack, const Block& block, std::size_t left) {
    const std::size_t open = stack.calls.size() - left;
    if (left != 0 && stack.calls[open].return_address == block.address) return true;
    const Context* const context = left == 0 ? stack.context : stack.calls[open].caller;
    return &context->function() == block.function;
}

}  // namespace

bool CallTracker::goes_far_down(const CallStack& stack, const Block& block, Address stack_pointer, JumpKind jump) {
    // A function may make room for its frame and then jump to its cold part at once.
    constexpr Address kLargeFrame = 16384;
    if (stack_pointer >= stack.stack_pointer) return false;
    const Address drop = stack.stack_pointer - stack_pointer;
    switch (jump) {
        case JumpKind::kReturn:
            return drop > CallStack::kMargin;
        case JumpKind::kJump:
            return drop > kLargeFrame && block.is_entry && block.function != &stack.context->function();
        case JumpKind::kCall:
            break;
    }
    return false;
}

// Called if the stack pointer is outside of the known extent of the current stack. Returns whether `block` was entered
// on another stack; otherwise, the extent of the current one grows.
bool CallTracker::change_stack(Execution& execution, Block& block, Address stack_pointer, JumpKind jump) {
    auto& others = execution.others;
    const auto found =
        std::ranges::lower_bound(others, stack_pointer, {}, [](const auto& other) { return other->extent().end; });
    if (found != others.end() && (*found)->extent().has(stack_pointer)) {
        const auto index = static_cast<std::size_t>(found - others.begin());
        const std::size_t left = calls_left(**found, block.address, stack_pointer);
        if (goes_on(**found, block, left)) {
            resume_stack(execution, index);
            leave(execution, left);
            execution.stack_pointer = stack_pointer;
            return true;
        }
        drop_stack(execution, index);
    }

    const bool above = stack_pointer > execution.extent().end;
    if ((above && !execution.calls.empty()) || goes_far_down(execution, block, stack_pointer, jump)) {
        start_stack(execution, block, stack_pointer);
        return true;
    }
    // Stacks that seemed to lie in between have become part of this one.
    if (above) execution.base = stack_pointer;
    while (true) {
        const auto next = execution.first_based_at(stack_pointer);
        if (next == others.end() || (*next)->base > execution.base) break;
        drop_stack(execution, static_cast<std::size_t>(next - others.begin()));
    }
    execution.update_stack();
    return false;
}

void CallTracker::resume_stack(Execution& execution, std::size_t other) {
    ++changes_;
    count_open_calls(execution, -1);
    std::unique_ptr<CallStack> stack = std::move(execution.others[other]);
    execution.others.erase(execution.others.begin() + static_cast<std::ptrdiff_t>(other));
    std::swap(static_cast<CallStack&>(execution), *stack);
    execution.others.insert(execution.first_based_at(stack->base), std::move(stack));
    execution.update_stack();
    count_open_calls(execution, 1);
}

void CallTracker::start_stack(Execution& execution, Block& block, Address stack_pointer) {
    count_open_calls(execution, -1);
    auto stack = std::make_unique<CallStack>(tree_.make_root());
    stack->path.root = execution.path.root;
    stack->core = execution.core;
    std::swap(static_cast<CallStack&>(execution), *stack);
    execution.others.insert(execution.first_based_at(stack->base), std::move(stack));
    start(execution, block, stack_pointer);
}

// Forgets a stack for good, after leaving its calls.
void CallTracker::drop_stack(Execution& execution, std::size_t other) {
    const auto dropped = execution.others.begin() + static_cast<std::ptrdiff_t>(other);
    CallStack& stack = **dropped;
    count_open_calls(stack, 1);
    while (!stack.calls.empty()) leave(stack);
    leave_root(stack);
    count_open_calls(stack, -1);
    tree_.release(stack.root);
    execution.others.erase(dropped);
}

}  // namespace bd
