// SPDX-License-Identifier: GPL-2.0-or-later
//
// Charges events that do not happen in every block (misses, evictions, branches, system calls): to the cost vector of
// an instruction and, in the back-dating tree, to the calls that were open. Only the ledger changes both, so the sum
// over instructions equals what has reached the tree's roots or is pending in the tree.
//
// In skipped code (PLT stubs), the instruction is the one that called it.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/base/types.h"
#include "engine/costs/backdating_tree.h"
#include "engine/costs/block_cost.h"
#include "engine/costs/costs.h"
#include "engine/costs/events.h"

namespace bd {

class Ledger {
public:
    // The arguments must outlive the ledger.
    Ledger(CostPool& costs, BlockCosts& blocks, BackdatingTree& tree) : costs_(costs), blocks_(blocks), tree_(tree) {}

    // The cost vector to charge for an instruction: its own or, if there is a charged call site, that of the call.
    CostId instruction(const CallSite& charged_site, BlockCost& block, std::size_t index) {
        return charged_site ? blocks_.caller(charged_site) : blocks_.instruction(block, index);
    }

    // add(Costs, times) must add the same counts, multiplied by `times`, to each cost vector it is called with.
    template <class Add>
    [[gnu::always_inline]] void charge(const ChargeTarget& target, Add add) {
        add(costs_[target.costs], 1);
        tree_.charge(target.node, add);
    }

    // Takes back an event that was counted with its block.
    void take_back(CostId instruction, Event event) { --costs_[instruction][column(event)]; }

    // Keeps a target valid for a later charge(), until it has been released as often. A target that charges nothing may
    // be held, too.
    void hold(const ChargeTarget& target) {
        if (target.node != kNoNode) tree_.acquire(target.node);
    }
    void release(const ChargeTarget& target) {
        if (target.node != kNoNode) tree_.release(target.node);
    }
    // Prefetches what charge() reads first of `target`, for events from `first` on.
    [[gnu::always_inline]] void host_prefetch(const ChargeTarget& target, Event first) const {
        if (target.node == kNoNode) return;
        tree_.host_prefetch(target.node);
        const std::uint64_t* const counts = &costs_[target.costs][column(first)];
        __builtin_prefetch(counts, 1);
        __builtin_prefetch(counts + 4, 1);
    }

    // Moves pending costs from the tree to the arcs.
    void settle() { tree_.settle(); }

    // Zero what has been charged, to all instructions or to one. To be called after settle().
    void clear_counts() {
        costs_.clear_counts();
        tree_.clear_counts();
    }
    void forget(CostId instruction) {
        const Costs counts = costs_[instruction];
        tree_.forget(counts);
        std::ranges::fill(counts, 0);
    }

    // To be called at the end: checks that the tree is empty, and that it received as much as the instructions.
    void check_balance() const {
        BD_CHECK_OP(tree_.stats().live, ==, 0u);
        for (std::size_t event = kRunningEvents; event < costs_.width(); ++event) {
            std::uint64_t charged = 0;
            for (std::uint32_t id = 1; id <= costs_.size(); ++id) charged += std::as_const(costs_)[CostId{id}][event];
            BD_CHECK_OP(charged, ==, tree_.root_costs()[event]);
        }
    }

private:
    CostPool& costs_;
    BlockCosts& blocks_;
    BackdatingTree& tree_;
};

}  // namespace bd
