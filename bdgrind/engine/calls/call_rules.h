// SPDX-License-Identifier: GPL-2.0-or-later
//
// The rules that decide whether a step to a block is a call, a return or a jump. They have no state. These are rules 15
// to 20 of docs/simulation.md; the call tracker collects what they depend on, and does what they decide.

#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/program/block.h"

namespace bd {

// The step from one block to the next, on the same stack.
struct Transition {
    JumpKind jump = JumpKind::kJump;   // how the block before ended
    bool has_open_calls = false;       // on this stack
    std::size_t calls_returned = 0;    // how many calls this return leaves; 0: it is not the return of a known call
    bool leaves_frames = false;        // whether the stack pointer has risen above that of an open call
    bool stays_in_function = false;    // whether it leads into the same function, not its start, and nothing is skipped
    bool enters_function = false;      // whether it leads to the first instruction of a function
    bool repeats_instruction = false;  // whether a REP instruction repeats itself
    bool changes_section = false;      // whether it leads to another object, or another kind of section
    bool leaves_resolver = false;      // whether the running function is left by the jump to the one that it found
};

enum class CallDecision : std::uint8_t {
    kContinue,  // a jump within the function, or one that leaves calls
    kCall,
    kReturn,        // of known calls
    kReturnToRoot,  // to code whose call was never seen
    kTailCall,
    kStrayReturn,     // a return without its call, which counts as a call
    kCallByResolver,  // the resolver is left, and its caller calls the function that it found
};

constexpr CallDecision decide(const Transition& step) {
    const bool returns = step.jump == JumpKind::kReturn;
    if (returns && !step.has_open_calls) return CallDecision::kReturnToRoot;
    if (returns && step.calls_returned != 0) return CallDecision::kReturn;
    if (step.jump == JumpKind::kCall) return CallDecision::kCall;
    // A jump that leaves calls, as longjmp does, is not also a call.
    if (step.leaves_frames) return CallDecision::kContinue;
    // libc's vfork takes its return address off the stack for a while. Its return to the caller is not a call.
    const bool stray = returns && !step.stays_in_function;
    const bool enters = step.enters_function && !step.repeats_instruction;
    if (!stray && !enters && !step.changes_section) return CallDecision::kContinue;
    if (step.leaves_resolver) return CallDecision::kCallByResolver;
    return stray ? CallDecision::kStrayReturn : CallDecision::kTailCall;
}

}  // namespace bd
