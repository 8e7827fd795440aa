// SPDX-License-Identifier: GPL-2.0-or-later
//
// Context trees that have less room than there are paths, and what is told of a tree. (What they are otherwise,
// oracle_test.cpp compares with the naive engine.)

#include "engine/costs/context_tree.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "engine_costs.h"
#include "program.h"
#include "run_costs.h"
#include "runs.h"
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
        Engine engine(
            {.caches = scenario.caches,
             .contexts = {.separate_callers = true},
             .context_tree = true,
             .context_tree_rules = {.by_site = seed % 2 == 0,
                                    .recursion = seed % 4 < 2 ? ContextRecursion::kFolded : ContextRecursion::kApart,
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

// What a scenario costs if its tree has so many nodes.
test::RunCosts costs_with(const test::Scenario& scenario, unsigned seed, std::uint32_t most_nodes,
                          std::uint64_t* folds) {
    const test::BuiltScenario built(scenario);
    Engine engine(
        {.caches = scenario.caches,
         .contexts = {.separate_callers = true},
         .context_tree = true,
         .context_tree_rules = {.by_site = seed % 2 == 0,
                                .recursion = seed % 4 < 2 ? ContextRecursion::kFolded : ContextRecursion::kApart,
                                .most_nodes = most_nodes},
         .why = seed % 3 == 0});
    engine.replay_whole(built.trace().all());
    engine.finish();
    *folds += engine.context_tree()->folds();
    test::RunCosts costs;
    test::add_costs_of(engine, 0, costs);
    return costs;
}

// Of a path and all that begins with it.
test::PathCounts with_all_below(const std::map<test::PathKey, test::PathCounts>& paths, const test::PathKey& path) {
    test::PathCounts sum;
    for (const auto& [each, counts] : paths) {
        const bool is_below = each.thread == path.thread && each.is_handler == path.is_handler &&
                              each.signal == path.signal && each.steps.size() >= path.steps.size() &&
                              std::equal(path.steps.begin(), path.steps.end(), each.steps.begin());
        if (!is_below) continue;
        sum.calls += counts.calls;
        add(sum.self, counts.self);
    }
    return sum;
}

bool is_no_more(const test::PathCounts& counts, const test::PathCounts& than) {
    return counts.calls <= than.calls && std::ranges::equal(counts.self, than.self, std::less_equal{});
}

// Where recursion is folded, what calls back from "other" paths stays there, and is missing where it would go back to.
TEST(ContextTree, WhatIsFoldedIsMissingOnItsPathAndNowhereElse) {
    std::uint64_t folds = 0;
    std::size_t whole = 0;
    std::size_t less = 0;
    for (unsigned seed = 0; seed < test::runs(200); ++seed) {
        const test::Scenario scenario = test::random_scenario(seed);
        std::uint64_t none = 0;
        const test::RunCosts all = costs_with(scenario, seed, ContextTree::kMostNodes, &none);
        ASSERT_EQ(none, 0u);
        const test::RunCosts folded = costs_with(scenario, seed, 2 + seed % 23, &folds);
        const bool goes_back = seed % 4 < 2;
        EXPECT_EQ(folded.self, all.self) << "seed " << seed;
        EXPECT_EQ(folded.arcs, all.arcs) << "seed " << seed;
        for (const auto& [path, counts] : folded.paths) {
            const bool is_other = !path.steps.empty() && path.steps.back().context == test::kOtherPaths;
            const test::PathCounts sum = with_all_below(folded.paths, path);
            if (is_other || sum == test::PathCounts{}) continue;
            const auto real = all.paths.find(path);
            ASSERT_NE(real, all.paths.end()) << "seed " << seed;
            EXPECT_TRUE(is_no_more(counts, real->second)) << "seed " << seed;
            const test::PathCounts real_sum = with_all_below(all.paths, path);
            EXPECT_TRUE(goes_back || is_no_more(sum, real_sum)) << "seed " << seed;
            ++(sum == real_sum ? whole : less);
            if (path.steps.empty()) {
                EXPECT_EQ(sum, real_sum) << "seed " << seed << ": a root";
            }
        }
        if (goes_back) continue;
        for (const auto& [key, counts] : folded.inclusive_distances) {
            ASSERT_TRUE(all.inclusive_distances.contains(key)) << "seed " << seed;
            EXPECT_LE(counts.misses, all.inclusive_distances.at(key).misses) << "seed " << seed;
        }
    }
    EXPECT_GT(folds, 2 * test::runs(200)) << "too little happened for this to mean anything";
    EXPECT_GT(whole, less) << "the same";
    EXPECT_GE(10 * less, test::runs(200)) << "the same";
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

// A node and a step for each context; and to find them, in tables, 16 and 32 bytes with a byte for the slot.
TEST(ContextTree, ItsSizeIncludesAllThatItKnows) {
    constexpr std::uint32_t kContexts = (1u << 14) - 2;
    constexpr std::size_t kEach = sizeof(ContextTree::Node) + sizeof(ContextTree::Step) + 17 + 33;
    test::Program program;
    Function& f = program.function("f");
    f.recursion_levels = kContexts;
    ContextTable contexts;
    ArcTable arcs(kRunningEvents);
    ContextTree tree({}, arcs, kRunningEvents);
    const ContextNodeId root = tree.root({1, false, 0});
    for (std::uint32_t level = 1; level <= kContexts; ++level) tree.begin(root, contexts.of(f, level));
    EXPECT_EQ(tree.stats().nodes, kContexts);
    EXPECT_GE(tree.stats().bytes, kContexts * kEach);
    EXPECT_LE(tree.stats().bytes, kContexts * kEach * 5 / 2);
}

// It knows of each arc where that has led to, in 12 bytes, once one is called.
TEST(ContextTree, ItsSizeIncludesArcsAndCosts) {
    constexpr std::uint32_t kArcs = 1000;
    test::Program program;
    Function& f = program.function("f");
    CostPool costs(kRunningEvents);
    ContextTable contexts;
    BlockCosts blocks(costs);
    ArcTable arcs(kRunningEvents);
    BlockCost& caller = blocks.get(program.code(f, 0x1000).op().ends(JumpKind::kCall), contexts.of(f));
    for (Address address = 0x2000; arcs.size() < kArcs; address += 16) {
        arcs.get({&caller, 0}, blocks.get(program.code(f, address).op().ends(), contexts.of(f)));
    }
    ContextTree tree({}, arcs, kRunningEvents);
    const ContextNodeId begun = tree.begin(tree.root({1, false, 0}), contexts.of(f));
    const std::size_t before = tree.stats().bytes;
    tree.call(begun, ArcId{kArcs});
    const std::size_t called = tree.stats().bytes;
    EXPECT_GE(called, before + kArcs * 12);
    tree.charge(begun, [](Costs, std::uint64_t) {});
    EXPECT_GE(tree.stats().bytes, called + kRunningEvents * sizeof(std::uint64_t));
    EXPECT_LT(tree.stats().bytes, std::size_t{1} << 20);
}

// main calls f at three places, of which the last is the first again, in a file that is mapped twice.
class SmallContextTree : public testing::Test {
protected:
    explicit SmallContextTree(const ContextTreeRules& rules = {})
        : engine_({.cache_sim = false, .separate_threads = true, .context_tree = true, .context_tree_rules = rules}) {
        trace_.thread(1).run(begins_, 1000);
    }

    void call_from_main(const Block& from) { trace_.run(from, 1000).run(f_returns_, 992).run(begins_, 1000); }
    const ContextTree& tree() {
        engine_.replay_whole(trace_.all());
        engine_.finish();
        return *engine_.context_tree();
    }
    // How often the nodes of a function have been called, by the nodes' numbers.
    static std::vector<std::uint64_t> calls(const ContextTree& tree, const Function& function) {
        std::vector<std::uint64_t> calls;
        for (const ContextTree::Node& node : tree.nodes().subspan(1)) {
            if (tree.is_root(node) || &tree.steps()[node.step].context->function() != &function) continue;
            calls.push_back(node.calls);
        }
        return calls;
    }
    using Calls = std::vector<std::uint64_t>;

    test::Program program_;
    Function& main_ = program_.function("main");
    Function& f_ = program_.function("f");
    Function& g_ = program_.function("g");
    Block& begins_ = program_.code(main_, 0x1000).op().ends();
    Block& first_ = program_.code(main_, 0x1010).op().ends(JumpKind::kCall);
    Block& second_ = program_.code(main_, 0x1020).op().ends(JumpKind::kCall);
    Block& first_again_ = program_.code(main_, 0x51010, 0, 0x50000).op().ends(JumpKind::kCall);
    Block& f_calls_ = program_.entry(f_, 0x2000).op().ends(JumpKind::kCall);
    Block& f_returns_ = program_.code(f_, 0x2010).op().ends(JumpKind::kReturn);
    Block& g_calls_ = program_.entry(g_, 0x3000).op().ends(JumpKind::kCall);
    Block& g_returns_ = program_.code(g_, 0x3010).op().ends(JumpKind::kReturn);
    test::Trace trace_;
    Engine engine_;
};

//     main   f   g
//            g   f
TEST_F(SmallContextTree, StatsSayWhatItLooksLike) {
    trace_.run(first_, 1000).run(f_calls_, 992).run(g_calls_, 984).run(g_returns_, 984).run(f_returns_, 992);
    trace_.run(second_, 1000).run(g_calls_, 992).run(f_calls_, 984).run(f_returns_, 984).run(g_returns_, 992);
    const ContextTree::Stats stats = tree().stats();
    EXPECT_EQ(stats.nodes, 5u);
    EXPECT_EQ(stats.contexts, 3u);
    EXPECT_EQ(stats.begun, 1u);
    EXPECT_EQ(stats.height, 3u);
    EXPECT_EQ(stats.parents, 3u);
    EXPECT_EQ(stats.children, 2u);
    EXPECT_EQ(stats.copies, 2u);
    ASSERT_NE(stats.copied, nullptr);
    EXPECT_EQ(&stats.copied->function(), &g_) << "there were two of it first";
}

TEST_F(SmallContextTree, StatsOfOneNodeAndOfNone) {
    const ContextTree::Stats one = tree().stats();
    EXPECT_EQ(one.nodes, 1u);
    EXPECT_EQ(one.parents, 0u);
    EXPECT_EQ(one.children, 0u);
    EXPECT_EQ(one.copies, 1u);
    EXPECT_NE(one.copied, nullptr);
    const Engine unused({.cache_sim = false, .context_tree = true});
    const ContextTree::Stats none = unused.context_tree()->stats();
    EXPECT_EQ(none.nodes, 0u);
    EXPECT_EQ(none.contexts, 0u);
    EXPECT_EQ(none.begun, 0u);
    EXPECT_EQ(none.height, 0u);
    EXPECT_EQ(none.copies, 0u);
    EXPECT_EQ(none.copied, nullptr);
}

TEST_F(SmallContextTree, WhoCallsMattersAndWhereDoesNot) {
    for (Block* const from : {&first_, &second_, &first_again_}) call_from_main(*from);
    trace_.run(first_, 1000).run(f_calls_, 992).run(f_returns_, 984);
    const ContextTree& known = tree();
    EXPECT_EQ(calls(known, f_), Calls{5}) << "and recursion leads back";
    EXPECT_EQ(calls(known, main_), Calls{0});
}

class SmallContextTreeBySite : public SmallContextTree {
protected:
    SmallContextTreeBySite() : SmallContextTree({.by_site = true}) {}
};

TEST_F(SmallContextTreeBySite, AnInstructionIsTheSameWhereverItsFileIsMapped) {
    for (Block* const from : {&first_, &second_, &first_again_}) call_from_main(*from);
    EXPECT_EQ(calls(tree(), f_), (Calls{2, 1}));
}

TEST_F(SmallContextTree, AThreadIsClearedAlone) {
    call_from_main(first_);
    trace_.thread(2).run(begins_, 5000).run(first_, 5000).run(f_calls_, 4992);
    engine_.replay_whole(trace_.all());
    engine_.zero(2);
    const ContextTree& known = *engine_.context_tree();
    EXPECT_EQ(calls(known, f_), (Calls{1, 0}));
    engine_.zero(1);
    EXPECT_EQ(calls(known, f_), (Calls{0, 0}));
}

TEST_F(SmallContextTree, ARootIsAThreadOrAHandlerOfASignal) {
    const auto handle = [this] {
        trace_.mark(Marker::kSignalEnter, 1, 0, 900).run(g_returns_, 800).mark(Marker::kSignalLeave, 1);
    };
    handle();  // it is not known of which
    trace_.mark(Marker::kSignal, 1, 11);
    handle();
    handle();
    EXPECT_TRUE(
        std::ranges::equal(tree().roots(), std::vector<ContextRoot>{{1, false, 0}, {1, true, 0}, {1, true, 11}}));
}

TEST_F(SmallContextTree, WhatIsOpenHasItsCosts) {
    trace_.run(first_, 1000).run(f_calls_, 992).run(g_calls_, 984);
    engine_.replay_whole(trace_.all());
    engine_.settle();
    EXPECT_EQ(sums_of(engine_).costs, engine_.totals(1));
}

}  // namespace
}  // namespace bd
