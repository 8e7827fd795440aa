// SPDX-License-Identifier: GPL-2.0-or-later
//
// Follows paths within functions while the trace is replayed, beside what another observer does: tells FlowPaths of
// each block. Mostly that is one step in its tree, or one from the root after a jump back.

#pragma once

#include "engine/costs/flow_paths.h"
#include "engine/replay/engine_state.h"
#include "engine/replay/follow.h"

namespace bd {

template <class Observer>
class PathObserver : public Observer {
public:
    static constexpr bool kFollowsFlow = true;
    static constexpr bool kFollowsPaths = true;

    explicit PathObserver(EngineState& state) : Observer(state), state_(state) {}

    [[gnu::always_inline]] bool takes_fast_path(const TracedExit& exit, const TracedExit& next, const Word* record) {
        const bool is_followed = frame_->root != nullptr;
        FlowPaths::QuickStep step{};
        if (is_followed) {
            step = FlowPaths::quick_step(*frame_, next);
            if (step.next == nullptr) return false;
        }
        if constexpr (Observer::kFollowsFlow) {
            if (!Observer::takes_fast_path(exit, next, record)) return false;
        }
        if (is_followed) FlowPaths::take(*frame_, step);
        return true;
    }

    void go_on(const ReplayCursor& cursor, const TracedExit& next, const Word* record) {
        if constexpr (Observer::kFollowsFlow) Observer::go_on(cursor, next, record);
        go_on(next);
    }
    void before_change(const Word* record) {
        if constexpr (Observer::kFollowsFlow) Observer::before_change(record);
    }
    void after_change(const TracedExit& next, const Word* record) {
        if constexpr (Observer::kFollowsFlow) Observer::after_change(next, record);
        go_on(next);
    }

private:
    void go_on(const TracedExit& next) {
        Execution& execution = *state_.current;
        frame_ = &state_.flow_frame(execution);
        state_.flow->go_on(*frame_, next, execution.collecting, static_cast<bool>(execution.charged_site));
    }

    EngineState& state_;
    FlowFrame* frame_ = nullptr;  // of what runs, where a block has run since anything else was looked at
};

}  // namespace bd
