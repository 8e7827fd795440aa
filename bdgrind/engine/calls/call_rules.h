// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is a call, a return or a jump: from what is known when a block begins to a decision, without any state. These
// are rules 15 to 20 of docs/simulation.md; the call tracker finds out what they ask for and does what they say.

#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/program/block.h"

namespace bd {

// What is known of the step from one block to the next, on the same stack.
struct Transition {
    JumpKind jump = JumpKind::kJump;   // how the block before ended
    bool has_open_calls = false;       // on this stack
    std::size_t calls_returned = 0;    // so many calls are left by this return; 0: it is not that of a known call
    bool leaves_frames = false;        // the stack pointer has risen above that of an open call
    bool stays_in_function = false;    // in the function that runs, not at its start, and nothing is skipped
    bool enters_function = false;      // at the first instruction of a function
    bool repeats_instruction = false;  // a REP instruction goes on with itself
    bool changes_section = false;      // to another object, or another kind of section
    bool leaves_resolver = false;      // the function that runs is left by the jump to what it has found
};

enum class CallDecision : std::uint8_t {
    kContinue,  // a jump within the function, or one that leaves calls
    kCall,
    kReturn,        // of known calls
    kReturnToRoot,  // to code whose call was never seen
    kTailCall,
    kStrayReturn,     // a return without its call is a call, too
    kCallByResolver,  // the resolver is left; its caller calls the function that it has found
};

constexpr CallDecision decide(const Transition& step) {
    const bool returns = step.jump == JumpKind::kReturn;
    if (returns && !step.has_open_calls) return CallDecision::kReturnToRoot;
    if (returns && step.calls_returned != 0) return CallDecision::kReturn;
    if (step.jump == JumpKind::kCall) return CallDecision::kCall;
    // What has left calls, as longjmp does, is not a call on top of that.
    if (step.leaves_frames) return CallDecision::kContinue;
    // libc's vfork takes its return address off the stack for a while: back in its caller, nothing is called.
    const bool stray = returns && !step.stays_in_function;
    const bool enters = step.enters_function && !step.repeats_instruction;
    if (!stray && !enters && !step.changes_section) return CallDecision::kContinue;
    if (step.leaves_resolver) return CallDecision::kCallByResolver;
    return stray ? CallDecision::kStrayReturn : CallDecision::kTailCall;
}

}  // namespace bd
