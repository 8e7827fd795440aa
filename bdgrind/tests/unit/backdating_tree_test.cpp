// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/backdating_tree.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "program.h"

namespace bd {
namespace {

constexpr std::size_t kWidth = 2;

class BackdatingTreeTest : public testing::Test {
protected:
    // Arcs 1 to kArcs. What they call does not matter to the tree.
    static constexpr std::uint32_t kArcs = 5;
    void SetUp() override {
        const Function& f = program_.function("f");
        BlockCost& caller = blocks_.get(program_.code(f, 0x1000).op().ends(JumpKind::kCall), contexts_.of(f));
        for (std::uint32_t i = 1; i <= kArcs; ++i) {
            BlockCost& callee = blocks_.get(program_.code(f, 0x1000 * i).op().op().ends(), contexts_.of(f));
            ASSERT_EQ(arcs_.get({&caller, 0}, callee), ArcId{i});
        }
    }

    static void charge(BackdatingTree& tree, NodeId node, std::uint64_t cost) {
        tree.charge(node, [cost](Costs costs, std::uint64_t times) { costs[1] += times * cost; });
    }
    void charge(NodeId node, std::uint64_t cost) { charge(tree_, node, cost); }

    // What has arrived, by arc; arcs that got nothing are left out.
    std::map<std::uint32_t, std::uint64_t> arrived() const {
        std::map<std::uint32_t, std::uint64_t> arrived;
        for (std::uint32_t id = 1; id <= arcs_.size(); ++id) {
            if (const std::uint64_t cost = arcs_.costs(ArcId{id})[1]; cost != 0) arrived[id] = cost;
        }
        return arrived;
    }
    using Arrived = std::map<std::uint32_t, std::uint64_t>;

    test::Program program_;
    CostPool instruction_costs_{kWidth};
    ContextTable contexts_;
    BlockCosts blocks_{instruction_costs_};
    ArcTable arcs_{kWidth};
    BackdatingTree tree_{arcs_, kWidth};
};

TEST_F(BackdatingTreeTest, ARootAloneKeepsItsCostsUntilItIsReleased) {
    const NodeId root = tree_.make_root();
    charge(root, 7);
    EXPECT_EQ(tree_.root_costs()[1], 0u);
    tree_.release(root);
    EXPECT_EQ(tree_.root_costs()[1], 7u);
    EXPECT_EQ(arrived(), Arrived{});
    EXPECT_TRUE(tree_.empty());
}

TEST_F(BackdatingTreeTest, CostsReachEveryArcOfTheChainAndTheRoot) {
    const NodeId root = tree_.make_root();
    const NodeId f = tree_.acquire_child(root, ArcId{1});
    const NodeId g = tree_.acquire_child(f, ArcId{2});
    charge(root, 1);
    charge(f, 20);
    charge(g, 300);
    tree_.release(g);
    EXPECT_EQ(arrived(), (Arrived{{2, 300}}));
    tree_.release(f);
    EXPECT_EQ(arrived(), (Arrived{{1, 320}, {2, 300}}));
    tree_.release(root);
    EXPECT_EQ(tree_.root_costs()[1], 321u);
    EXPECT_EQ(tree_.root_costs()[0], 0u);
    EXPECT_TRUE(tree_.empty());
}

// With recursion an arc is on the chain several times.
TEST_F(BackdatingTreeTest, AnArcGetsTheCostsOncePerNode) {
    const NodeId root = tree_.make_root();
    const NodeId outer = tree_.acquire_child(root, ArcId{1});
    const NodeId inner = tree_.acquire_child(outer, ArcId{1});
    EXPECT_NE(outer, inner);
    charge(inner, 10);
    for (const NodeId id : {inner, outer, root}) tree_.release(id);
    EXPECT_EQ(arrived(), (Arrived{{1, 20}}));
    EXPECT_EQ(tree_.root_costs()[1], 10u);
}

// More often than a repeat can say.
TEST_F(BackdatingTreeTest, EachNodeOfALongRecursionCountsAsAnyOther) {
    constexpr std::uint32_t kDepth = 1000;
    std::vector<NodeId> calls{tree_.make_root()};
    std::uint64_t expected = 0;
    for (std::uint32_t depth = 1; depth <= kDepth; ++depth) {
        calls.push_back(tree_.acquire_child(calls.back(), ArcId{3}));
        charge(calls.back(), depth);
        expected += depth * depth;
    }
    EXPECT_EQ(tree_.stats().live, kDepth + 1);
    for (; !calls.empty(); calls.pop_back()) tree_.release(calls.back());
    EXPECT_EQ(arrived(), (Arrived{{3, expected}}));
    EXPECT_EQ(tree_.root_costs()[1], kDepth * (kDepth + 1) / 2);
}

// root ── 1 ── 2 ── 1 ── 2 ── 1 ── 3
//              base └ repeats ┘    └ not seen yet
TEST_F(BackdatingTreeTest, ArcsThatTakeTurnsGetTheCostsAsOftenAsTheyAreOnTheChain) {
    std::vector<NodeId> calls{tree_.make_root()};
    for (const std::uint32_t arc : {1, 2, 1, 2, 1, 3}) calls.push_back(tree_.acquire_child(calls.back(), ArcId{arc}));
    charge(calls[4], 10);
    charge(calls[5], 200);
    charge(calls[6], 3000);
    for (; !calls.empty(); calls.pop_back()) tree_.release(calls.back());
    EXPECT_EQ(arrived(), (Arrived{{1, 2 * 10 + 3 * 200 + 3 * 3000}, {2, 2 * 3210}, {3, 3000}}));
    EXPECT_EQ(tree_.root_costs()[1], 3210u);
}

TEST_F(BackdatingTreeTest, TheChildrenOfARepeatAreToldApart) {
    const NodeId root = tree_.make_root();
    const NodeId outer = tree_.acquire_child(root, ArcId{1});
    const NodeId inner = tree_.acquire_child(outer, ArcId{1});
    const NodeId below_outer = tree_.acquire_child(outer, ArcId{2});
    const NodeId below_inner = tree_.acquire_child(inner, ArcId{2});
    EXPECT_NE(below_outer, below_inner);
    EXPECT_EQ(tree_.acquire_child(outer, ArcId{2}), below_outer);
    EXPECT_EQ(tree_.acquire_child(outer, ArcId{1}), inner);
    charge(below_outer, 10);
    charge(below_inner, 200);
    for (const NodeId id : {below_outer, below_inner, below_outer, inner, inner, outer, root}) tree_.release(id);
    EXPECT_EQ(arrived(), (Arrived{{1, 10 + 2 * 200}, {2, 210}}));
    EXPECT_TRUE(tree_.empty());
}

// The first child needs no table; the others are found when it is gone.
TEST_F(BackdatingTreeTest, AChildIsFoundAfterItsSiblingHasGone) {
    const NodeId root = tree_.make_root();
    const NodeId first = tree_.acquire_child(root, ArcId{1});
    const NodeId second = tree_.acquire_child(root, ArcId{2});
    tree_.release(first);
    EXPECT_EQ(tree_.acquire_child(root, ArcId{2}), second);
    const NodeId third = tree_.acquire_child(root, ArcId{3});
    EXPECT_EQ(tree_.acquire_child(root, ArcId{2}), second);
    EXPECT_EQ(tree_.acquire_child(root, ArcId{3}), third);
    EXPECT_EQ(tree_.stats().live, 3u);
}

// The call has returned, its lines are still cached: this is what the tree is for.
TEST_F(BackdatingTreeTest, ALineKeepsTheNodeOfItsCallAndAllAboveIt) {
    const NodeId root = tree_.make_root();
    const NodeId f = tree_.acquire_child(root, ArcId{1});
    const NodeId g = tree_.acquire_child(f, ArcId{2});
    tree_.acquire(g);  // a line
    for (const NodeId call : {g, f, root}) tree_.release(call);
    EXPECT_EQ(tree_.stats().live, 3u);

    charge(g, 5);  // the line is evicted
    tree_.release(g);
    EXPECT_EQ(arrived(), (Arrived{{1, 5}, {2, 5}}));
    EXPECT_EQ(tree_.root_costs()[1], 5u);
    EXPECT_TRUE(tree_.empty());
}

TEST_F(BackdatingTreeTest, TheSameArcBelowTheSameParentIsTheSameNode) {
    const NodeId root = tree_.make_root();
    const NodeId first = tree_.acquire_child(root, ArcId{1});
    tree_.acquire(first);  // a line
    tree_.release(first);  // the call returns
    EXPECT_EQ(tree_.acquire_child(root, ArcId{1}), first);
    EXPECT_NE(tree_.acquire_child(root, ArcId{2}), first);
    EXPECT_EQ(tree_.stats().made, 3u);
}

TEST_F(BackdatingTreeTest, TreesOfTwoRootsStayApart) {
    const NodeId one = tree_.make_root();
    const NodeId two = tree_.make_root();
    const NodeId child = tree_.acquire_child(one, ArcId{1});
    EXPECT_NE(tree_.acquire_child(two, ArcId{1}), child);
}

TEST_F(BackdatingTreeTest, PruningStopsAtTheFirstNodeThatIsStillNeeded) {
    const NodeId root = tree_.make_root();
    const NodeId f = tree_.acquire_child(root, ArcId{1});
    const NodeId g = tree_.acquire_child(f, ArcId{2});
    const NodeId h = tree_.acquire_child(f, ArcId{3});
    tree_.release(f);  // only its children hold it
    charge(g, 10);
    charge(h, 200);
    tree_.release(g);
    EXPECT_EQ(arrived(), (Arrived{{2, 10}}));
    EXPECT_EQ(tree_.stats().live, 3u);
    tree_.release(h);
    EXPECT_EQ(arrived(), (Arrived{{1, 210}, {2, 10}, {3, 200}}));
    EXPECT_EQ(tree_.stats().live, 1u);
}

TEST_F(BackdatingTreeTest, APrunedNodeIsUsedAgainWithoutItsPast) {
    const NodeId root = tree_.make_root();
    const NodeId f = tree_.acquire_child(root, ArcId{1});
    charge(f, 5);
    tree_.release(f);
    const NodeId g = tree_.acquire_child(root, ArcId{2});
    EXPECT_EQ(g, f) << "not used again: the tree would grow with every call";
    charge(g, 30);
    tree_.release(g);
    EXPECT_EQ(arrived(), (Arrived{{1, 5}, {2, 30}}));
    // And the old name is forgotten.
    tree_.release(tree_.acquire_child(root, ArcId{1}));
    EXPECT_EQ(arrived(), (Arrived{{1, 5}, {2, 30}}));
    EXPECT_EQ(tree_.stats().made, 4u);
}

TEST_F(BackdatingTreeTest, StatsCountNodes) {
    const NodeId root = tree_.make_root();
    const NodeId f = tree_.acquire_child(root, ArcId{1});
    const NodeId g = tree_.acquire_child(f, ArcId{2});
    EXPECT_FALSE(tree_.empty());
    tree_.release(g);
    tree_.release(tree_.acquire_child(f, ArcId{3}));
    EXPECT_EQ(tree_.stats().made, 4u);
    EXPECT_EQ(tree_.stats().live, 2u);
    EXPECT_EQ(tree_.stats().most_live, 3u);
}

// A node takes 36 bytes, and a vector that grows has room for twice as many at most.
TEST_F(BackdatingTreeTest, ItsSizeIsThatOfItsNodes) {
    constexpr std::uint32_t kNodes = 100'000;
    const std::size_t empty = tree_.bytes();
    NodeId node = tree_.make_root();
    for (std::uint32_t i = 0; i < kNodes; ++i) node = tree_.acquire_child(node, ArcId{1 + i % 3});
    EXPECT_GE(tree_.bytes() - empty, kNodes * std::size_t{32});
    EXPECT_LE(tree_.bytes() - empty, kNodes * std::size_t{80});
}

TEST_F(BackdatingTreeTest, ItsSizeIncludesCostsAndPaths) {
    ContextTree contexts({}, arcs_, kWidth);
    BackdatingTree tree(arcs_, kWidth, &contexts);
    const NodeId root = tree_.make_root();
    tree.make_root();
    EXPECT_GT(tree.bytes(), tree_.bytes());
    const std::size_t before = tree_.bytes();
    charge(root, 1);
    EXPECT_GT(tree_.bytes(), before);
    EXPECT_LT(tree_.bytes(), std::size_t{1} << 20);
}

TEST_F(BackdatingTreeTest, CostsGoWhereAFoldedContextTreeHasThem) {
    constexpr std::size_t kRare = kRunningEvents;
    ArcTable arcs(kRare + 1);
    ContextTree contexts({}, arcs, kRare + 1);
    const ContextNodeId stays = contexts.root({1, false, 0});
    const ContextNodeId goes = contexts.root({2, false, 0});
    BackdatingTree tree(arcs, kRare + 1, &contexts);
    const NodeId one = tree.make_root();
    const NodeId other = tree.make_root();
    tree.set_context_node(one, goes);
    tree.set_context_node(other, stays);
    tree.renumber_context_nodes(std::vector{kNoContextNode, stays, stays});
    tree.charge(one, [](Costs costs, std::uint64_t times) { costs[kRare] += times * 3; });
    tree.charge(other, [](Costs costs, std::uint64_t times) { costs[kRare] += times * 4; });
    std::vector<std::uint64_t> costs(kRare + 1);
    contexts.get_costs(contexts.nodes()[index_of(stays)], costs);
    EXPECT_EQ(costs[kRare], 7u);
}

// By recursion this would need a hundred megabytes of stack.
TEST_F(BackdatingTreeTest, AChainOfAMillionCallsIsPrunedAtOnce) {
    constexpr std::uint32_t kDepth = 1'000'000;
    const NodeId root = tree_.make_root();
    NodeId node = root;
    for (std::uint32_t i = 0; i < kDepth; ++i) {
        const NodeId child = tree_.acquire_child(node, ArcId{1 + i % kArcs});
        if (node != root) tree_.release(node);
        node = child;
    }
    EXPECT_EQ(tree_.stats().live, kDepth + 1);
    charge(node, 3);
    tree_.release(node);
    EXPECT_EQ(tree_.stats().live, 1u);
    for (std::uint32_t id = 1; id <= kArcs; ++id) EXPECT_EQ(arcs_.costs(ArcId{id})[1], 3u * kDepth / kArcs);
    tree_.release(root);
    EXPECT_EQ(tree_.root_costs()[1], 3u);
}

TEST_F(BackdatingTreeTest, SettlingMovesAllCostsAndPrunesNothing) {
    const NodeId root = tree_.make_root();
    // A parent with a higher number than its child: its place was free.
    const NodeId low = tree_.acquire_child(root, ArcId{4});
    const NodeId f = tree_.acquire_child(root, ArcId{1});
    tree_.release(low);
    const NodeId g = tree_.acquire_child(f, ArcId{2});
    ASSERT_LT(index_of(g), index_of(f));
    charge(g, 5);
    charge(f, 60);
    charge(root, 700);

    tree_.settle();
    EXPECT_EQ(arrived(), (Arrived{{1, 65}, {2, 5}}));
    EXPECT_EQ(tree_.root_costs()[1], 765u);
    EXPECT_EQ(tree_.stats().live, 3u);

    tree_.settle();  // nothing twice
    EXPECT_EQ(arrived(), (Arrived{{1, 65}, {2, 5}}));

    charge(g, 1000);
    for (const NodeId id : {g, f, root}) tree_.release(id);
    EXPECT_EQ(arrived(), (Arrived{{1, 1065}, {2, 1005}}));
    EXPECT_EQ(tree_.root_costs()[1], 1765u);
}

TEST_F(BackdatingTreeTest, SettlingARecursionMovesAllCostsOnce) {
    const NodeId root = tree_.make_root();
    const NodeId outer = tree_.acquire_child(root, ArcId{1});
    const NodeId inner = tree_.acquire_child(outer, ArcId{1});
    const NodeId leaf = tree_.acquire_child(inner, ArcId{2});
    charge(inner, 5);
    charge(leaf, 60);
    tree_.settle();
    EXPECT_EQ(arrived(), (Arrived{{1, 2 * 65}, {2, 60}}));
    EXPECT_EQ(tree_.root_costs()[1], 65u);
    for (const NodeId id : {leaf, inner, outer, root}) tree_.release(id);
    EXPECT_EQ(arrived(), (Arrived{{1, 2 * 65}, {2, 60}}));
    EXPECT_EQ(tree_.root_costs()[1], 65u);
}

// Nodes are used again in another order than that of a chain: here each call has a lower number than its caller.
TEST_F(BackdatingTreeTest, SettlingDoesNotDependOnTheNumbersOfNodes) {
    const NodeId root = tree_.make_root();
    std::vector<NodeId> nodes;
    for (std::uint32_t arc = 1; arc <= 4; ++arc) nodes.push_back(tree_.acquire_child(root, ArcId{arc}));
    for (const NodeId id : nodes) tree_.release(id);
    NodeId node = root;
    std::vector<NodeId> chain;
    for (const std::uint32_t arc : {1, 1, 1, 2}) {
        chain.push_back(node = tree_.acquire_child(node, ArcId{arc}));
    }
    ASSERT_TRUE(std::ranges::is_sorted(chain, std::greater{}));
    for (const NodeId id : chain) charge(id, 1);
    tree_.settle();
    EXPECT_EQ(arrived(), (Arrived{{1, 1 + 2 + 3 + 3}, {2, 1}}));
    EXPECT_EQ(tree_.root_costs()[1], 4u);
}

TEST_F(BackdatingTreeTest, ClearingForgetsWhatIsPending) {
    const NodeId root = tree_.make_root();
    const NodeId f = tree_.acquire_child(root, ArcId{1});
    charge(f, 5);
    tree_.settle();
    charge(f, 6);
    tree_.clear_counts();
    charge(f, 70);
    tree_.release(f);
    tree_.release(root);
    EXPECT_EQ(tree_.root_costs()[1], 70u);
}

TEST_F(BackdatingTreeTest, ReleasingAReferenceThatIsNotHeldFailsACheck) {
    const NodeId root = tree_.make_root();
    tree_.release(root);
    EXPECT_DEATH(tree_.release(root), "references");
}

// Random chains against a model that keeps every chain as a list of arcs.
TEST_F(BackdatingTreeTest, RandomCallsAndLinesArriveAsInALiteralModel) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        arcs_.clear_counts();
        BackdatingTree tree(arcs_, kWidth);
        struct Holder {
            NodeId node;
            std::vector<std::uint32_t> chain;
        };
        std::vector<Holder> calls{{tree.make_root(), {}}};
        std::vector<Holder> lines;
        Arrived expected;
        std::uint64_t total = 0;
        const auto evict = [&](std::size_t index) {
            const Holder line = lines[index];
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(index));
            const std::uint64_t cost = 1 + random() % 100;
            charge(tree, line.node, cost);
            for (const std::uint32_t arc : line.chain) expected[arc] += cost;
            total += cost;
            tree.release(line.node);
        };
        for (int step = 0; step < 400; ++step) {
            switch (random() % 5) {
                case 0:
                case 1: {
                    const auto arc = static_cast<std::uint32_t>(1 + random() % kArcs);
                    Holder callee{tree.acquire_child(calls.back().node, ArcId{arc}), calls.back().chain};
                    callee.chain.push_back(arc);
                    calls.push_back(callee);
                    break;
                }
                case 2:
                    if (calls.size() == 1) break;
                    tree.release(calls.back().node);
                    calls.pop_back();
                    break;
                case 3:
                    tree.acquire(calls.back().node);
                    lines.push_back(calls.back());
                    break;
                case 4:
                    if (random() % 50 == 0) tree.settle();
                    if (!lines.empty()) evict(random() % lines.size());
                    break;
            }
        }
        while (!lines.empty()) evict(lines.size() - 1);
        for (; !calls.empty(); calls.pop_back()) tree.release(calls.back().node);
        ASSERT_TRUE(tree.empty()) << "seed " << seed;
        ASSERT_EQ(arrived(), expected) << "seed " << seed;
        ASSERT_EQ(tree.root_costs()[1], total) << "seed " << seed;
    }
}

}  // namespace
}  // namespace bd
