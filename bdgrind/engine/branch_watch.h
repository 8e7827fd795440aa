// SPDX-License-Identifier: GPL-2.0-or-later
//
// Looks at how blocks end: predicts their branches and charges Bc, Bcm, Bi and Bim, like misses, to the branch's
// instruction and to the calls that are open. The replay tells it of every block, and has none if nothing is asked for.
//
// The trace has no record of branches. How conditional ones went follows from the exit that was taken; the target of
// an indirect one is where the same thread, or signal handler, goes on.

#pragma once

#include "engine/branch_predictor.h"
#include "engine/check.h"
#include "engine/engine.h"

namespace bd {

class BranchWatch {
public:
    explicit BranchWatch(EngineState& state) : state_(state), predicts_(state.config.branch_sim) {}

    static bool is_wanted(const EngineConfig& config) { return config.branch_sim; }

    // What runs goes on with `block`, which has not been entered yet.
    void before(const Block& block) {
        BD_CHECK(state_.current != nullptr);
        const Exit* const exit = state_.current->last_exit;
        if (predicts_ && exit != nullptr && exit->branch == Branch::kIndirect) see_indirect(*exit, block.address);
    }

    // The block that was entered last has been left by `exit`.
    void after(const Exit& exit) {
        if (predicts_) see_conditional(exit);
    }

private:
    void see_indirect(const Exit& exit, Address target);
    void see_conditional(const Exit& last);
    void charge(const Exit& exit, Event event, bool predicted);

    EngineState& state_;
    const bool predicts_;
    BranchPredictor predictor_;
};

}  // namespace bd
