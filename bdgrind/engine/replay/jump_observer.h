// SPDX-License-Identifier: GPL-2.0-or-later
//
// Counts jumps within functions while the trace is replayed, beside what another observer does: tells JumpTable of
// exits that lead elsewhere than before. What became a call or a return is no jump.
//
// A block that has been counted is cut (EngineState::cut_jump) before anything happens that may come between it and the
// next one, as it may be the last one then.

#pragma once

#include "engine/replay/engine_state.h"
#include "engine/replay/follow.h"

namespace bd {

template <class Observer>
class JumpObserver : public Observer {
public:
    static constexpr bool kFollowsFlow = true;

    explicit JumpObserver(EngineState& state)
        : Observer(state), state_(state), counts_jumps_(state.config.collect_jumps) {}

    [[gnu::always_inline]] bool takes_fast_path(const TracedExit& exit, const TracedExit& next, const Word* record) {
        if (exit.next != next.begin && counts_jumps_) return false;
        if constexpr (Observer::kFollowsFlow) return Observer::takes_fast_path(exit, next, record);
        return true;
    }

    [[gnu::always_inline]] void go_on(const ReplayCursor& cursor, const TracedExit& next, const Word* record) {
        if constexpr (Observer::kFollowsFlow) Observer::go_on(cursor, next, record);
        if (counts_jumps_ && !cursor.goes_where_it_went(next)) go_on(cursor.latest_exit(), cursor.latest_cost(), next);
    }

    void before_change(const Word* record) {
        if constexpr (Observer::kFollowsFlow) Observer::before_change(record);
        Execution* const execution = state_.current;
        if (!counts_jumps_ || execution == nullptr || CallTracker::is_stop(execution->last_exit)) return;
        before_ = {};
        const Exit* const exit = execution->last_exit;
        if (exit == nullptr || exit->jump != JumpKind::kJump) return;
        state_.cut_jump(*execution);
        before_ = {execution, execution->last, exit, state_.calls.changes()};
    }
    void after_change(const TracedExit& next, const Word* record) {
        if constexpr (Observer::kFollowsFlow) Observer::after_change(next, record);
        if (counts_jumps_ && before_.exit != nullptr) after_change(next);
        state_.current->jump_is_cut = false;
    }

private:
    // What ran before calls may have changed, if it has ended in what may be a jump.
    struct Before {
        const Execution* execution;
        BlockCost* cost;
        const Exit* exit;       // else null
        std::uint64_t changes;  // CallTracker's, until then
    };

    static bool is_jump(const Exit& exit, const Block& target) { return target.address != exit.return_address; }

    // What is charged to another function's call has not jumped.
    [[gnu::noinline]] void go_on(const Exit* exit, BlockCost* cost, const TracedExit& next) {
        Execution& execution = *state_.current;
        const bool was_cut = std::exchange(execution.jump_is_cut, false);
        if (exit == nullptr || exit->block == nullptr || !ReplayCursor::counts(execution)) return;
        state_.jumps.go_on({cost, exit->index}, *next.block, is_jump(*exit, *next.block), !was_cut);
    }
    [[gnu::noinline]] void after_change(const TracedExit& next) {
        const Before before = std::exchange(before_, {});
        const Execution& execution = *state_.current;
        if (before.execution != &execution || before.changes != state_.calls.changes()) return;
        if (!ReplayCursor::counts(execution)) return;
        state_.jumps.go_on({before.cost, before.exit->index}, *next.block, is_jump(*before.exit, *next.block), false);
    }

    EngineState& state_;
    const bool counts_jumps_;
    Before before_{};
};

}  // namespace bd
