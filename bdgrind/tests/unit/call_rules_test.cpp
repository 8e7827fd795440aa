// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/calls/call_rules.h"

#include <gtest/gtest.h>

namespace bd {
namespace {

using enum JumpKind;

// The list of docs/simulation.md, "What is a call".
struct Rule {
    const char* says;
    Transition step;
    CallDecision decision;
};
constexpr Rule kRules[]{
    {"15: a call instruction calls", {.jump = kCall}, CallDecision::kCall},
    {"15: also where it has left calls",
     {.jump = kCall, .has_open_calls = true, .leaves_frames = true},
     CallDecision::kCall},
    {"15: also where it calls the middle of its own function",
     {.jump = kCall, .stays_in_function = true},
     CallDecision::kCall},

    {"16: a return leaves the calls that it is known to return from",
     {.jump = kReturn, .has_open_calls = true, .calls_returned = 2},
     CallDecision::kReturn},
    {"16: wherever it leads to",
     {.jump = kReturn, .has_open_calls = true, .calls_returned = 1, .enters_function = true, .changes_section = true},
     CallDecision::kReturn},
    {"16: otherwise it is a jump, which is a call if it leads out of the function",
     {.jump = kReturn, .has_open_calls = true},
     CallDecision::kStrayReturn},
    {"16: but not back in the function that runs",
     {.jump = kReturn, .has_open_calls = true, .stays_in_function = true},
     CallDecision::kContinue},

    {"17: a jump within a function is nothing",
     {.has_open_calls = true, .stays_in_function = true},
     CallDecision::kContinue},
    {"17: nor is one into the middle of another function", {.has_open_calls = true}, CallDecision::kContinue},
    {"17: a jump to the first instruction of a function calls it", {.enters_function = true}, CallDecision::kTailCall},
    {"17: also if that is the one that runs",
     {.has_open_calls = true, .enters_function = true},
     CallDecision::kTailCall},
    {"17: a REP instruction that a function begins with does not",
     {.enters_function = true, .repeats_instruction = true},
     CallDecision::kContinue},
    {"17: a jump to another object or kind of section calls", {.changes_section = true}, CallDecision::kTailCall},

    {"18: a jump that has left calls calls nothing",
     {.has_open_calls = true, .leaves_frames = true},
     CallDecision::kContinue},
    {"18: wherever it leads to",
     {.has_open_calls = true, .leaves_frames = true, .enters_function = true, .changes_section = true},
     CallDecision::kContinue},

    {"19: the resolver is left by the jump to what it has found",
     {.has_open_calls = true, .enters_function = true, .leaves_resolver = true},
     CallDecision::kCallByResolver},
    {"19: also if it jumps by a return",
     {.jump = kReturn, .has_open_calls = true, .leaves_resolver = true},
     CallDecision::kCallByResolver},
    {"19: as long as it jumps within itself it stays",
     {.has_open_calls = true, .stays_in_function = true, .leaves_resolver = true},
     CallDecision::kContinue},
    {"19: when it returns it has been called like others",
     {.jump = kReturn, .has_open_calls = true, .calls_returned = 1, .leaves_resolver = true},
     CallDecision::kReturn},

    {"20: a return with no call open leads to code whose call was never seen",
     {.jump = kReturn},
     CallDecision::kReturnToRoot},
    {"20: also to the start of a function",
     {.jump = kReturn, .enters_function = true, .changes_section = true},
     CallDecision::kReturnToRoot},
    {"20: a jump does not", {.jump = kJump, .stays_in_function = true}, CallDecision::kContinue},
};

TEST(CallRules, EachStepIsDecidedAsTheListSays) {
    for (const Rule& rule : kRules) EXPECT_EQ(decide(rule.step), rule.decision) << "rule " << rule.says;
}

}  // namespace
}  // namespace bd
