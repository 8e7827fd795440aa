// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/replay/branch_observer.h"

namespace bd {

void BranchObserver::on_indirect_branch(const Exit& exit, Address target) {
    charge(exit, Event::kBi, predictor_.indirect(exit.branch_address(), target));
}

// All exits before the one taken were passed by.
void BranchObserver::on_conditional_branches(const Exit& last) {
    for (const Exit& exit : last.block->exits().first(last.index + 1u)) {
        if (exit.branch != Branch::kTaken && exit.branch != Branch::kNotTaken) continue;
        const bool left_here = exit.index == last.index;
        const bool taken = left_here == (exit.branch == Branch::kTaken);
        charge(exit, Event::kBc, predictor_.conditional(exit.branch_address(), taken));
    }
}

// By the instruction that ends in `exit`, of the latest block. `event`: the branches; next to it are the mispredicted.
void BranchObserver::charge(const Exit& exit, Event event, bool predicted) {
    static_assert(column(Event::kBcm) == column(Event::kBc) + 1 && column(Event::kBim) == column(Event::kBi) + 1);
    Execution& execution = *state_.current;
    if (!execution.collecting) return;
    state_.charge_now(execution, *execution.last, exit.instructions - 1u, [=](Costs costs, std::uint64_t times) {
        costs[column(event)] += times;
        if (!predicted) costs[column(event) + 1] += times;
    });
}

}  // namespace bd
