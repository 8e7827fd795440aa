// SPDX-License-Identifier: GPL-2.0-or-later
//
// For tests of context trees that become full: stacks of calls in a tree with little room, and its rows by path.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/costs/context_tree.h"
#include "program.h"

namespace bd::test {

using CountRow = std::array<std::uint64_t, 1 + kEventCount>;  // calls, then events
using RowsByPath = std::map<std::string, CountRow>;           // by path: "f0/f1/..."

inline constexpr std::size_t kD1Misses = column(Event::kD1mr);
inline constexpr std::size_t kD1Loss = column(Event::kSpLoss1);

// Functions that can all call each other, and stacks in a tree with little room.
class Folding final : public ContextNodeKeeper {
public:
    static constexpr std::uint32_t kFunctions = 12;

    explicit Folding(const ContextTreeRules& rules) : tree_(rules, arcs_, kEventCount, this) {
        for (std::uint32_t i = 0; i < kFunctions; ++i) {
            functions_.push_back(&program_.function("f" + std::to_string(i)));
        }
        BlockCost& caller =
            blocks_.get(program_.code(*functions_[0], 0x1000).op().ends(JumpKind::kCall), contexts_.of(*functions_[0]));
        for (std::uint32_t i = 0; i < kFunctions; ++i) {
            Block& entry = program_.entry(*functions_[i], 0x2000 + i * 0x100).op().ends();
            arc_to_.push_back(arcs_.get({&caller, 0}, blocks_.get(entry, contexts_.of(*functions_[i]))));
        }
    }

    // A stack of its own, in a thread of this number.
    std::size_t begin(std::uint32_t thread, std::uint32_t function) {
        stacks_.emplace_back();
        ContextNodeId root = tree_.root({thread, false, 0});
        stacks_.back() = {root};
        root = tree_.begin(root, contexts_.of(*functions_[function]));
        stacks_.back().push_back(root);
        return stacks_.size() - 1;
    }
    void call(std::size_t stack, std::uint32_t function) {
        const ContextNodeId callee = tree_.call(stacks_[stack].back(), arc_to_[function]);
        stacks_[stack].push_back(callee);
        tree_.count_call(callee);
    }
    void leave(std::size_t stack) { stacks_[stack].pop_back(); }
    void cost(ContextNodeId node, std::size_t event, std::uint64_t count) {
        if (event < kRunningEvents) {
            ContextTree::Running running{};
            running[event] = count;
            tree_.charge_running(node, {}, running);
        } else {
            tree_.charge(node, [&](Costs costs, std::uint64_t times) { costs[event] += times * count; });
        }
    }
    // Of what runs.
    void cost(std::size_t stack, std::size_t event, std::uint64_t count) { cost(now(stack), event, count); }
    // Calls a function that does so much, and returns.
    void call_for(std::size_t stack, std::uint32_t function, std::size_t event, std::uint64_t count) {
        call(stack, function);
        cost(stack, event, count);
        leave(stack);
    }
    ContextNodeId now(std::size_t stack) const { return stacks_[stack].back(); }
    // A line that has been loaded on the path of `stack`; lines are numbered from 0.
    void load(std::size_t stack) { lines_.push_back(now(stack)); }
    ContextNodeId line(std::size_t number) const { return lines_[number]; }

    RowsByPath rows() const {
        RowsByPath rows;
        std::vector<std::string> paths(tree_.nodes().size());
        std::vector<std::uint64_t> costs(kEventCount);
        for (std::size_t i = 1; i < tree_.nodes().size(); ++i) {
            const ContextTree::Node& node = tree_.nodes()[i];
            if (tree_.is_root(node)) {
                paths[i] = "thread " + std::to_string(tree_.root_of(node).thread);
            } else {
                EXPECT_LT(index_of(node.parent), i);
                const std::string name =
                    tree_.is_other(node) ? "other" : tree_.steps()[node.step].context->function().name;
                paths[i] = paths[index_of(node.parent)] + '/' + name;
            }
            EXPECT_FALSE(rows.contains(paths[i])) << paths[i];
            CountRow& row = rows[paths[i]];
            tree_.get_costs(node, costs);
            row[0] = node.calls;
            std::ranges::copy(costs, row.begin() + 1);
        }
        return rows;
    }
    const ContextTree& tree() const { return tree_; }
    ContextTree& tree() { return tree_; }

private:
    std::vector<ContextNodeId> fold_context_tree() override {
        std::vector<ContextNodeId> open;
        for (const auto& stack : stacks_) open.insert(open.end(), stack.begin(), stack.end());
        const std::vector<ContextNodeId> now = tree_.fold(open);
        for (auto& stack : stacks_) {
            for (ContextNodeId& node : stack) node = now[index_of(node)];
        }
        for (ContextNodeId& node : lines_) node = now[index_of(node)];
        return now;
    }

    Program program_;
    CostPool costs_{kEventCount};
    ContextTable contexts_;
    BlockCosts blocks_{costs_};
    ArcTable arcs_{kEventCount};
    ContextTree tree_;
    std::vector<Function*> functions_;
    std::vector<ArcId> arc_to_;                       // by function
    std::vector<std::vector<ContextNodeId>> stacks_;  // what is open, from the root on
    std::vector<ContextNodeId> lines_;
};

}  // namespace bd::test
