// SPDX-License-Identifier: GPL-2.0-or-later
//
// Charges what does not happen in every block (misses, evictions, branches, system calls): to the cost vector of an
// instruction, and in the back-dating tree to the calls that were open. Nobody else touches both, so what instructions
// have been charged and what has reached the tree's roots, or is pending there, is the same.
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
    // All must live as long as the ledger.
    Ledger(CostPool& costs, BlockCosts& blocks, BackdatingTree& tree) : costs_(costs), blocks_(blocks), tree_(tree) {}

    // What is charged for an instruction: itself, or the charged call site, if there is one.
    CostId instruction(const CallSite& charged_site, BlockCost& block, std::size_t index) {
        return charged_site ? blocks_.caller(charged_site) : blocks_.instruction(block, index);
    }

    // add(Costs, times) adds so many times the same to whatever it is given.
    template <class Add>
    [[gnu::always_inline]] void charge(const ChargeTarget& target, Add add) {
        add(costs_[target.costs], 1);
        tree_.charge(target.node, add);
    }

    // Takes back an event that was counted with its block.
    void take_back(CostId instruction, Event event) { --costs_[instruction][column(event)]; }

    // A target that charge() is to be called with later: until then it is held, once for each time. Targets of nothing
    // may be held, too.
    void hold(const ChargeTarget& target) {
        if (target.node != kNoNode) tree_.acquire(target.node);
    }
    void release(const ChargeTarget& target) {
        if (target.node != kNoNode) tree_.release(target.node);
    }
    // Asks the host's memory for what charging `target` reads first, with events from `first` on.
    [[gnu::always_inline]] void host_prefetch(const ChargeTarget& target, Event first) const {
        if (target.node == kNoNode) return;
        tree_.host_prefetch(target.node);
        const std::uint64_t* const counts = &costs_[target.costs][column(first)];
        __builtin_prefetch(counts, 1);
        __builtin_prefetch(counts + 4, 1);
    }

    // Moves what is pending in the tree to the arcs.
    void settle() { tree_.settle(); }

    // Forgets what has been charged: all of it, or to one instruction. To be called after settle().
    void clear_counts() {
        costs_.clear_counts();
        tree_.clear_counts();
    }
    void forget(CostId instruction) {
        const Costs counts = costs_[instruction];
        tree_.forget(counts);
        std::ranges::fill(counts, 0);
    }

    // At the end: the tree has given everything away, and no more than was charged to instructions.
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
