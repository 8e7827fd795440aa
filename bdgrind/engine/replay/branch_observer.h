// SPDX-License-Identifier: GPL-2.0-or-later
//
// Looks at how blocks end. Predicts their branches and charges Bc, Bcm, Bi and Bim, like misses, to the branch's
// instruction and to the calls that are open. The replay tells it of every block, if that is asked for.
//
// The trace has no record of branches. How conditional ones went follows from the exit that was taken; the target of
// an indirect one is where the same thread, or signal handler, goes on.

#pragma once

#include "engine/base/check.h"
#include "engine/replay/branch_predictor.h"
#include "engine/replay/engine_state.h"

namespace bd {

class BranchObserver {
public:
    static constexpr bool kObserves = true;
    static constexpr bool kFollowsFlow = false;
    static constexpr bool kFollowsScopes = false;
    static constexpr bool kFollowsPaths = false;

    explicit BranchObserver(EngineState& state) : state_(state), predicts_(state.config.branch_sim) {}

    // What runs goes on with `block`, which has not been entered yet. If it is entered again, after a dump that it has
    // asked for, all that is known of the block before is what was then.
    void before(const Block& block, const Exit* exit) {
        BD_CHECK(state_.current != nullptr);
        if (predicts_ && exit != nullptr && exit->branch == Branch::kIndirect) on_indirect_branch(*exit, block.address);
    }

    // The block has been entered, and left by `exit`.
    void after(const TracedExit& exit) {
        if (predicts_) on_conditional_branches(exit);
    }

    // Who is charged for a branch is asked of it.
    bool wants_state() const { return predicts_; }
    // Predictions charge costs, one branch after the other.
    bool allows_fast_path() const { return !predicts_; }

private:
    void on_indirect_branch(const Exit& exit, Address target);
    void on_conditional_branches(const Exit& last);
    void charge(const Exit& exit, Event event, bool predicted);

    EngineState& state_;
    const bool predicts_;
    BranchPredictor predictor_;
};

}  // namespace bd
