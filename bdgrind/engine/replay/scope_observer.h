// SPDX-License-Identifier: GPL-2.0-or-later
//
// Follows loops while the trace is replayed, beside what another observer does: tells ScopeTracker of jumps backward
// within a call. Nearly all of these are of the innermost loop, which goes on; of that it only notes where it was.
// Without a ScopeTracker, it does nothing.

#pragma once

#include "engine/calls/scope_tracker.h"
#include "engine/replay/engine_state.h"
#include "engine/replay/follow.h"

namespace bd {

// `Clock`: before(record) is the time when that began; it is asked about records in order.
template <class Observer, class Clock>
class ScopeObserver : public Observer {
public:
    static constexpr bool kFollowsFlow = true;
    static constexpr bool kFollowsScopes = true;

    explicit ScopeObserver(EngineState& state)
        : Observer(state), state_(state), follows_scopes_(state.scopes != nullptr) {}

    Clock& clock() { return clock_; }

    [[gnu::always_inline]] bool takes_fast_path(const TracedExit& exit, const TracedExit& next, const Word* record) {
        if (__builtin_expect(!is_behind(next.begin, exit.begin), 0)) {
            if (follows_scopes_) {
                const auto behind = static_cast<CodePosition>(exit.begin - loop_.begin);
                if (next.begin != loop_.begin || behind > loop_.span) return false;
                loop_.latest = record;
            }
        }
        if constexpr (Observer::kFollowsFlow) return Observer::takes_fast_path(exit, next, record);
        return true;
    }

    void go_on(const ReplayCursor& cursor, const TracedExit& next, const Word* record) {
        if constexpr (Observer::kFollowsFlow) Observer::go_on(cursor, next, record);
        if (follows_scopes_) go_on(cursor.latest_exit(), next, record);
    }

    void before_change(const Word* record) {
        if constexpr (Observer::kFollowsFlow) Observer::before_change(record);
        if (!follows_scopes_) return;
        pause();
        state_.scopes->set_time(clock_.before(record));
        const Exit* const exit = state_.current == nullptr ? nullptr : state_.current->last_exit;
        if (!CallTracker::is_stop(exit)) before_ = {state_.current, exit, state_.calls.changes()};
    }
    void after_change(const TracedExit& next, const Word* record) {
        if constexpr (Observer::kFollowsFlow) Observer::after_change(next, record);
        if (before_.execution != state_.current || before_.changes != state_.calls.changes()) return;
        go_on(before_.exit, next, record);
    }

    // To be called before the records are gone that have been replayed, or scopes are read. (At what they carry
    // they may.)
    void pause() {
        if (loop_.latest != nullptr) loop_.stack->points.back().time = clock_.before(loop_.latest);
        loop_ = {};
    }

private:
    // The innermost loop of what runs, if nothing has been called since it was jumped back to.
    struct Innermost {
        std::uint64_t begin = ~std::uint64_t{0};  // no position
        CodePosition span = 0;                    // from there to where the last block begins that has jumped back
        ScopeStack* stack = nullptr;
        const Word* latest = nullptr;  // the record behind the latest such jump; null: ScopeTracker knows
    };
    // What ran before its calls changed.
    struct Before {
        const Execution* execution;
        const Exit* exit;
        std::uint64_t changes;
    };

    void go_on(const Exit* exit, const TracedExit& next, const Word* record) {
        if (exit == nullptr || is_behind(next.begin, exit->begin) || exit->block == nullptr) return;
        jump_back(*exit, *next.block, record);
    }

    // Code that is not shown has no loops.
    [[gnu::noinline]] void jump_back(const Exit& from, const Block& to, const Word* record) {
        if (state_.current->charged_site) return;
        pause();
        ScopeStack& stack = state_.current->scopes;
        state_.scopes->set_time(clock_.before(record));
        state_.scopes->jump_back(stack, from.begin, to);
        if (stack.loop_count() == 0) return;
        const OpenLoop& loop = stack.loops.back();
        if (loop.begin != stack.points.back().position) return;  // too deep for a loop of its own
        loop_ = {loop.begin, loop.end - loop.begin, &stack, nullptr};
    }

    EngineState& state_;
    const bool follows_scopes_;
    Clock clock_;
    Innermost loop_{};
    Before before_{};
};

}  // namespace bd
