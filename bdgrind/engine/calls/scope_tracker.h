// SPDX-License-Identifier: GPL-2.0-or-later
//
// Keeps the scopes of call stacks, and tells which of them carries a reuse: the innermost one that had been entered
// when the line was touched last. All that is open within that one has begun since; so it is what it repeats that
// brings the line back.
//
// Loops are found from jumps backward while a call is open (Tubella and Gonzalez 1998; Moseley and others, CGO 2007).
// That one begins is known at its first jump back; when it was entered follows from points that control has passed.

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
    const Block* loop;  // what is jumped back to; null: a call
    const Context* context;
};

class ScopeTracker {
public:
    // Loops nested in one call; deeper ones belong to the innermost of these.
    static constexpr std::size_t kMostLoops = 64;

    // The time of what is told from here on: before anything is touched by the block that is about to run.
    void set_time(TouchTime now) { now_ = now; }

    // What the stack begins with now; nothing is open on it any more.
    void start(ScopeStack& stack);
    // A call that will return to `behind`.
    void enter(ScopeStack& stack, Address behind) {
        add_point(stack, static_cast<CodePosition>(behind));
        stack.calls.push_back({now_, static_cast<std::uint32_t>(stack.loops.size()),
                               static_cast<std::uint32_t>(stack.points.size()), kNoScope});
    }
    // The end of the latest one. However it ends, the caller is behind it now.
    void leave(ScopeStack& stack) {
        stack.loops.erase(stack.loops.begin() + stack.calls.back().first_loop, stack.loops.end());
        stack.points.erase(stack.points.begin() + stack.calls.back().first_point, stack.points.end());
        stack.calls.pop_back();
        stack.points.back().time = now_;
    }
    // Within the latest call, from a block to one that does not begin behind that.
    void jump_back(ScopeStack& stack, CodePosition from, const Block& to);

    // `position`: of the block that runs in the latest call. kNoScope: `last_touch` was before the stack's beginning.
    ScopeId carrier(CallStack& stack, CodePosition position, TouchTime last_touch);

    // Those that have carried something; the first has the number 1.
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

    // Earlier points at or behind this one are of no use any more: whatever lies behind them lies behind this one, too.
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
