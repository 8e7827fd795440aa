// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/calls/scope_tracker.h"

#include <algorithm>

namespace bd {

void ScopeTracker::start(ScopeStack& stack) {
    stack.loops.clear();
    stack.points.clear();
    stack.calls.assign(1, {now_, 0, 0, kNoScope});
}

void ScopeTracker::jump_back(ScopeStack& stack, CodePosition from, const Block& to) {
    const auto begin = static_cast<CodePosition>(to.address);
    auto& loops = stack.loops;
    while (stack.loop_count() != 0 && !loops.back().has(begin)) loops.pop_back();
    if (stack.loop_count() != 0 && loops.back().begin == begin) {
        if (is_behind(from, loops.back().end)) loops.back().end = from;
    } else if (stack.loop_count() < kMostLoops) {
        loops.push_back({&to, begin, from, reached(stack, begin), kNoScope});
    }
    add_point(stack, begin);
}

// The earliest time at which control may have passed `position`, to which it is about to jump back.
TouchTime ScopeTracker::reached(ScopeStack& stack, CodePosition position) {
    while (stack.point_count() != 0 && is_behind(stack.points.back().position, position)) stack.points.pop_back();
    return stack.point_count() != 0 ? stack.points.back().time : stack.calls.back().entered;
}

ScopeId ScopeTracker::carrier(CallStack& stack, CodePosition position, TouchTime last_touch) {
    constexpr std::size_t kFew = 6;  // mostly it is one of the latest
    auto& calls = stack.scopes.calls;
    const auto is_open = [last_touch](const OpenScope& call) { return call.entered < last_touch; };
    std::size_t count = calls.size();
    const std::size_t few = count > kFew ? count - kFew : 0;
    while (count > few && !is_open(calls[count - 1])) --count;
    if (count == few) {
        const auto end = calls.begin() + static_cast<std::ptrdiff_t>(count);
        count = static_cast<std::size_t>(std::partition_point(calls.begin(), end, is_open) - calls.begin());
    }
    // A call that is not shown belongs to its caller.
    while (count > 1 && stack.calls[count - 2].arc == kNoArc) --count;
    if (count == 0) return kNoScope;
    OpenScope& call = calls[count - 1];
    const bool is_latest = count == calls.size();
    const std::size_t end = is_latest ? stack.scopes.loops.size() : calls[count].first_loop;
    if (!is_latest) position = stack.scopes.points[calls[count].first_point - 1].position;
    const Context* const context = is_latest ? stack.context : stack.calls[count - 1].caller;
    for (std::size_t i = end; i-- > call.first_loop;) {
        OpenLoop& loop = stack.scopes.loops[i];
        if (loop.entered < last_touch && loop.has(position)) return look_up(&loop.scope, loop.header, context);
    }
    return look_up(&call.scope, nullptr, context);
}

ScopeId ScopeTracker::look_up(ScopeId* known, const Block* loop, const Context* context) {
    if (*known != kNoScope) return *known;
    const auto [entry, is_new] = ids_.try_emplace(Key{loop, context});
    if (is_new) {
        scopes_.push_back({loop, context});
        entry->second = ScopeId{static_cast<std::uint32_t>(scopes_.size())};
    }
    return *known = entry->second;
}

}  // namespace bd
