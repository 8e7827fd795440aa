// SPDX-License-Identifier: GPL-2.0-or-later
//
// Context trees that have less room than there are paths. (What they are otherwise, oracle_test.cpp compares with the
// naive engine.)

#include "engine/costs/context_tree.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "scenario.h"

namespace bd {
namespace {

struct Sums {
    std::vector<std::uint64_t> costs;
    std::uint64_t calls = 0;
    std::size_t others = 0;
};

Sums sums_of(const Engine& engine) {
    const ContextTree& tree = *engine.context_tree();
    Sums sums{std::vector<std::uint64_t>(engine.events().width())};
    std::vector<std::uint64_t> costs(sums.costs.size());
    for (const ContextTree::Node& node : tree.nodes().subspan(1)) {
        tree.get_costs(node, costs);
        add(sums.costs, costs);
        sums.calls += node.calls;
        if (tree.is_other(node)) ++sums.others;
    }
    return sums;
}

// "Other" nodes are leaves, one below a node at most.
void expect_others_are_leaves(const ContextTree& tree, unsigned seed) {
    std::vector<bool> has_other(tree.nodes().size());
    for (const ContextTree::Node& node : tree.nodes().subspan(1)) {
        if (tree.is_root(node)) continue;
        const std::uint32_t parent = index_of(node.parent);
        EXPECT_FALSE(tree.is_other(tree.nodes()[parent])) << "seed " << seed;
        if (!tree.is_other(node)) continue;
        EXPECT_FALSE(has_other[parent]) << "seed " << seed;
        has_other[parent] = true;
    }
}

TEST(ContextTree, PastItsBoundNothingIsLostOfTheTotals) {
    std::size_t others = 0;
    for (unsigned seed = 0; seed < 150; ++seed) {
        const test::Scenario scenario = test::random_scenario(seed);
        const test::BuiltScenario built(scenario);
        const std::uint32_t bound = seed % 6;
        Engine engine({.caches = scenario.caches,
                       .contexts = {.separate_callers = true},
                       .context_tree = true,
                       .context_tree_rules = {.by_site = seed % 2 == 0,
                                              .recursion = seed % 4 < 2 ? ContextRecursion::kFolded
                                                                        : ContextRecursion::kApart,
                                              .most_nodes = bound}});
        engine.replay_whole(built.trace().all());
        engine.finish();
        const Sums sums = sums_of(engine);
        EXPECT_EQ(sums.costs, engine.totals(0)) << "seed " << seed;
        EXPECT_EQ(sums.calls, engine.stats().calls) << "seed " << seed;
        EXPECT_LE(engine.context_tree()->stats().nodes, bound) << "seed " << seed;
        expect_others_are_leaves(*engine.context_tree(), seed);
        others += sums.others;
    }
    EXPECT_GT(others, 150u) << "too little happened for this to mean anything";
}

TEST(ContextTree, AsLargeABoundAsCanBeIsNoMemory) {
    const test::Scenario scenario = test::random_scenario(1);
    const test::BuiltScenario built(scenario);
    Engine engine({.caches = scenario.caches,
                   .contexts = {.separate_callers = true},
                   .context_tree = true,
                   .context_tree_rules = {.most_nodes = ContextTree::kMostNodes}});
    engine.replay_whole(built.trace().all());
    engine.finish();
    EXPECT_EQ(sums_of(engine).others, 0u);
    EXPECT_LT(engine.context_tree()->stats().bytes, 10'000'000u);
}

}  // namespace
}  // namespace bd
