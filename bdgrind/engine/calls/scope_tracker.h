// SPDX-License-Identifier: GPL-2.0-or-later
//
// Keeps the scopes of call stacks, and determines which of them carries a reuse: the innermost scope that was already
// open when the line was last touched. All scopes within it began later, so this scope brings the line back.
//
// Loops are found at backward jumps within a call (Tubella and Gonzalez 1998; Moseley and others, CGO 2007). The first
// jump back reveals a loop; the points that control has passed say when it was entered.

#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/calls/execution.h"
#include "engine/calls/scope_stack.h"
#include "engine/costs/contexts.h"

namespace bd {

struct Scope {
    const Block* loop;  // the header of a loop; null: a call
    const Context* context;
};

class ScopeTracker {
public:
    // The maximum number of nested loops in a call; deeper ones count as the innermost of these.
    static constexpr std::size_t kMostLoops = 64;

    // Sets the time for the calls below: the one before the block that is about to run touches anything.
    void set_time(TouchTime now) { now_ = now; }

    // The stack begins anew: nothing is open on it.
    void start(ScopeStack& stack);
    // A call begins; it will return to `behind`.
    void enter(ScopeStack& stack, Address behind) {
        add_point(stack, static_cast<CodePosition>(behind));
        stack.calls.push_back({now_, static_cast<std::uint32_t>(stack.loops.size()),
                               static_cast<std::uint32_t>(stack.points.size()), kNoScope});
    }
    // The innermost call ends, by a return or otherwise; its caller is behind the call now.
    void leave(ScopeStack& stack) {
        stack.loops.erase(stack.loops.begin() + stack.calls.back().first_loop, stack.loops.end());
        stack.points.erase(stack.points.begin() + stack.calls.back().first_point, stack.points.end());
        stack.calls.pop_back();
        stack.points.back().time = now_;
    }
    // Within the innermost call, control jumps from the block at `from` to `to`, which does not begin behind it.
    void jump_back(ScopeStack& stack, CodePosition from, const Block& to);

    // The scope that carries a reuse of a line last touched at `last_touch`; kNoScope if that was before the stack
    // began. `position`: that of the block that runs in the innermost call.
    ScopeId carrier(CallStack& stack, CodePosition position, TouchTime last_touch);

    // The scopes that have carried a reuse, by ScopeId - 1.
    std::span<const Scope> scopes() const { return scopes_; }

    template <class Renumber>
    static void renumber(ScopeStack& stack, Renumber renumber) {
        for (OpenScope& call : stack.calls) call.entered = renumber(call.entered);
        for (OpenLoop& loop : stack.loops) loop.entered = renumber(loop.entered);
        for (CodePoint& point : stack.points) point.time = renumber(point.time);
    }

private:
    using Key = std::pair<const Block*, const Context*>;
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return reinterpret_cast<std::uintptr_t>(key.first) * 31 + reinterpret_cast<std::uintptr_t>(key.second);
        }
    };

    // Adds a point, and drops earlier points at or behind it: code behind them is behind this point as well.
    void add_point(ScopeStack& stack, CodePosition position) const {
        while (stack.point_count() != 0 && !is_behind(position, stack.points.back().position)) stack.points.pop_back();
        stack.points.push_back({position, now_});
    }
    static TouchTime reached(ScopeStack& stack, CodePosition position);
    ScopeId look_up(ScopeId* known, const Block* loop, const Context* context);

    TouchTime now_ = 0;
    std::vector<Scope> scopes_;
    boost::unordered_flat_map<Key, ScopeId, KeyHash> ids_;
};

}  // namespace bd
