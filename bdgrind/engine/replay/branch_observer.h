// SPDX-License-Identifier: GPL-2.0-or-later
//
// Looks at how blocks end. Predicts their branches and charges Bc, Bcm, Bi and Bim, like misses, to the branch's
// instruction and to the calls that are open; and counts jumps within functions. The replay tells it of every block
// if branches are predicted, else of those off the fast path and of the others in pairs; and has none if nothing is
// asked for.
//
// The trace has no record of branches. How conditional ones went follows from the exit that was taken; the target of
// an indirect one is where the same thread, or signal handler, goes on. What became a call or a return is no jump.

#pragma once

#include "engine/base/check.h"
#include "engine/replay/branch_predictor.h"
#include "engine/replay/engine_state.h"

namespace bd {

class BranchObserver {
public:
    static constexpr bool kObserves = true;
    static constexpr bool kFollowsLoops = false;
    static constexpr bool kFollowsScopes = false;
    static constexpr bool kFollowsPaths = false;

    explicit BranchObserver(EngineState& state)
        : state_(state), predicts_(state.config.branch_sim), counts_jumps_(state.config.collect_jumps) {}

    static bool is_wanted(const EngineConfig& config) { return config.branch_sim || config.collect_jumps; }

    // What runs goes on with `block`, which has not been entered yet. If it is entered again, after a dump that it has
    // asked for, all that is known of the block before is what was then.
    void before(const Block& block, BlockCost* cost, const Exit* exit) {
        BD_CHECK(state_.current != nullptr);
        if (predicts_ && exit != nullptr && exit->branch == Branch::kIndirect) on_indirect_branch(*exit, block.address);
        // (What asked for a dump was a call on another stack, perhaps.)
        if (!counts_jumps_ || CallTracker::is_stop(exit)) return;
        latest_ = {state_.current, cost, exit, state_.calls.changes()};
    }

    // The block has been entered, and left by `exit`.
    void after(const TracedExit& exit) {
        if (counts_jumps_ && latest_.exit != nullptr && is_jump(*latest_.exit, *exit.block)) on_jump(*exit.block);
        if (predicts_) on_conditional_branches(exit);
    }

    // Who is charged for a branch is asked of it.
    bool wants_state() const { return predicts_; }
    // Predictions charge costs, one branch after the other; jumps are but counted.
    bool allows_fast_path() const { return !predicts_; }
    // (What continues has not been called or returned to, and lies near.)
    [[gnu::always_inline]] bool takes_fast_path(const TracedExit& exit, const TracedExit& next, const Word*) {
        const bool goes_straight_on = next.begin == static_cast<std::uint32_t>(exit.return_address);
        return !counts_jumps_ || goes_straight_on || state_.jumps.count_again({exit.cost, exit.index}, *next.block);
    }

private:
    // How the latest block of what runs has ended.
    struct Latest {
        const Execution* execution;
        BlockCost* cost;
        const Exit* exit;       // null: it has not run yet
        std::uint64_t changes;  // CallTracker's, until then
    };

    // Code that goes straight on has not jumped.
    static bool is_jump(const Exit& exit, const Block& target) {
        return exit.jump == JumpKind::kJump && target.address != exit.return_address;
    }

    void on_indirect_branch(const Exit& exit, Address target);
    void on_conditional_branches(const Exit& last);
    void on_jump(const Block& target);
    void charge(const Exit& exit, Event event, bool predicted);

    EngineState& state_;
    const bool predicts_;
    const bool counts_jumps_;
    Latest latest_{};
    BranchPredictor predictor_;
};

}  // namespace bd
