// SPDX-License-Identifier: GPL-2.0-or-later
//
// Executions that go on on another stack, as coroutines do.

#include <algorithm>

#include "naive_calls.h"

namespace bd::test {

// The block runs on another stack than the one before; it has been entered there, then.
bool NaiveCalls::is_on_another_stack(NaiveExecution& now, const Scenario::Record& record, JumpKind jump) {
    const Scenario::Block& block = scenario_.blocks[record.block];
    const Address pointer = record.stack_pointer;
    const bool above = pointer > now.base + Stack::kMargin;
    bool leaves = above || goes_far_down(now, block, pointer, jump);
    for (const Stack& other : now.others) {
        if (other.base < now.base && pointer <= other.base + Stack::kMargin) leaves = true;
    }
    if (!leaves) return false;

    // Back to a stack?
    for (std::size_t i = 0; i < now.others.size(); ++i) {
        Stack& other = now.others[i];
        if (pointer > other.base + Stack::kMargin) continue;
        if (!other.has(pointer)) break;
        Stack trial = other;
        if (!resumes(now, trial, block, pointer)) {
            drop(now, trial);
            now.others.erase(now.others.begin() + static_cast<std::ptrdiff_t>(i));
            break;
        }
        now.others.erase(now.others.begin() + static_cast<std::ptrdiff_t>(i));
        put_aside(now);
        static_cast<Stack&>(now) = trial;
        ++changes_;
        now.stack_pointer = pointer;
        return true;
    }
    // A new one?
    if ((above && !now.calls.empty()) || goes_far_down(now, block, pointer, jump)) {
        put_aside(now);
        static_cast<Stack&>(now) = Stack{};
        begin_at_root(now, record);
        return true;
    }
    // No, this one has grown.
    if (above) now.base = pointer;
    std::erase_if(now.others, [&](Stack& other) {
        if (other.base < pointer || now.base < other.base) return false;
        drop(now, other);
        return true;
    });
    return false;
}

void NaiveCalls::put_aside(NaiveExecution& now) {
    auto above = now.others.begin();
    while (above != now.others.end() && above->base < now.base) ++above;
    now.others.insert(above, static_cast<const Stack&>(now));
}

// Leaves the calls that are not open any more if `stack` goes on with `block`, and tells whether it can.
bool NaiveCalls::resumes(NaiveExecution& execution, Stack& stack, const Scenario::Block& block, Address pointer) {
    std::optional<Address> return_address;
    while (!stack.calls.empty() && stack.calls.back().stack_pointer < pointer) {
        return_address = stack.calls.back().return_address;
        leave(execution, stack);
    }
    for (std::size_t i = 0; i < stack.calls.size(); ++i) {
        if (stack.calls[i].stack_pointer != pointer || stack.calls[i].return_address != block.address) continue;
        while (stack.calls.size() > i) leave(execution, stack);
        return true;
    }
    return return_address == block.address || stack.context.function == block.function;
}

bool NaiveCalls::goes_far_down(const Stack& now, const Scenario::Block& block, Address pointer, JumpKind jump) {
    if (jump == JumpKind::kReturn) return pointer + Stack::kMargin < now.stack_pointer;
    return jump == JumpKind::kJump && pointer + 16384 < now.stack_pointer && block.is_entry &&
           block.function != now.context.function;
}

}  // namespace bd::test
