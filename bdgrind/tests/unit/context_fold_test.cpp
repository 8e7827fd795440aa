// SPDX-License-Identifier: GPL-2.0-or-later
//
// What stays of a context tree when it is full: counted by hand, and as a naive tree does it.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/costs/context_tree.h"
#include "program.h"
#include "runs.h"

namespace bd {
namespace {

using CountRow = std::array<std::uint64_t, 1 + kEventCount>;  // calls, then events
using RowsByPath = std::map<std::string, CountRow>;           // by path: "f0/f1/..."

constexpr std::size_t kD1Misses = column(Event::kD1mr);
constexpr std::size_t kD1Loss = column(Event::kSpLoss1);

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

    test::Program program_;
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

using CountsByPath = std::map<std::string, std::uint64_t>;

// Of 16 nodes, 14 stay. 11 of them are costlier than the others.
class ContextFold : public testing::Test {
protected:
    ContextFold() {
        stack_ = run_.begin(1, 0);
        run_.call(stack_, 11);
        for (std::uint32_t function = 1; function <= 10; ++function) run_.call_for(stack_, function, 0, 1000);
        run_.leave(stack_);
    }
    // An event of the other paths.
    CountsByPath event(std::size_t event) const {
        CountsByPath found;
        for (const auto& [path, row] : run_.rows()) {
            const std::string thread = "thread 1/";
            if (path.starts_with(thread) && !path.starts_with(thread + "f0/f11")) {
                found[path.substr(thread.size())] = row[1 + event];
            }
        }
        return found;
    }
    std::uint64_t calls(const std::string& path) const { return run_.rows().at("thread 1/" + path)[0]; }

    Folding run_{{.most_nodes = 16}};
    std::size_t stack_ = 0;
};

TEST_F(ContextFold, ThoseStayThatHaveMostWithAllBelowThem) {
    run_.cost(stack_, 0, 100);
    run_.call_for(stack_, 1, 0, 20);
    run_.call(stack_, 2);
    run_.cost(stack_, 0, 1);
    run_.call_for(stack_, 3, 0, 30);
    run_.leave(stack_);
    run_.call_for(stack_, 4, 0, 26);
    run_.call_for(stack_, 1, 0, 5);
    EXPECT_EQ(run_.tree().stats().nodes, 16u);
    EXPECT_EQ(run_.tree().folds(), 0u);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 100}, {"f0/f1", 25}, {"f0/f2", 1}, {"f0/f2/f3", 30}, {"f0/f4", 26}}));
    run_.call_for(stack_, 5, 0, 3);
    EXPECT_EQ(run_.tree().folds(), 1u);
    EXPECT_EQ(run_.tree().stats().nodes, 15u);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 100}, {"f0/f2", 1}, {"f0/f2/f3", 30}, {"f0/other", 51}, {"f0/f5", 3}}));
    EXPECT_EQ(calls("f0/other"), 3u);
    EXPECT_EQ(calls("f0/f2/f3"), 1u);
}

TEST_F(ContextFold, OfEqualNodesTheFirstStay) {
    for (const std::uint32_t function : {3u, 1u, 2u, 5u, 4u}) run_.call_for(stack_, function, 0, 7);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/f3", 7}, {"f0/f1", 7}, {"f0/other", 14}, {"f0/f4", 7}}));
}

// Instructions count eight times: 0.41 for f3, 0.55 for f5, 0.07 for f1. A half of the misses is 0.5, a quarter 0.25.
TEST_F(ContextFold, SharesOfInstructionsAndMissesAreAddedUp) {
    run_.cost(stack_, kD1Misses, 1);
    run_.call_for(stack_, 1, 0, 100);
    run_.call_for(stack_, 2, kD1Misses, 1);
    run_.call_for(stack_, 3, 0, 600);
    run_.call_for(stack_, 5, 0, 800);
    run_.call_for(stack_, 4, 0, 0);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/f2", 0}, {"f0/other", 700}, {"f0/f5", 800}, {"f0/f4", 0}}));
}

TEST_F(ContextFold, InstructionsCountForAsMuchAsAllMissesAndLosses) {
    run_.cost(stack_, kD1Misses, 3);
    run_.call_for(stack_, 1, 0, 100);
    run_.call_for(stack_, 2, kD1Misses, 1);
    run_.call_for(stack_, 3, 0, 600);
    run_.call_for(stack_, 5, 0, 800);
    run_.call_for(stack_, 4, 0, 0);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/other", 100}, {"f0/f3", 600}, {"f0/f5", 800}, {"f0/f4", 0}}));
    EXPECT_EQ(event(kD1Misses).at("f0/other"), 1u);
}

TEST_F(ContextFold, WhatTheClockSaysDoesNotMatter) {
    run_.call_for(stack_, 1, column(Event::ksysTime), 1'000'000);
    run_.call_for(stack_, 2, 0, 1);
    run_.call_for(stack_, 3, column(Event::ksysCpuTime), 1'000'000);
    run_.call_for(stack_, 5, 0, 1);
    run_.call_for(stack_, 4, 0, 1);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/f2", 1}, {"f0/f5", 1}, {"f0/other", 0}, {"f0/f4", 1}}));
}

TEST_F(ContextFold, OpenCallsStayWhateverTheyHaveCost) {
    run_.call(stack_, 1);
    const std::size_t elsewhere = run_.begin(2, 2);
    run_.call(elsewhere, 3);
    run_.call_for(stack_, 4, 0, 5);
    run_.call(stack_, 5);
    EXPECT_EQ(run_.tree().folds(), 1u);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/f1", 0}, {"f0/f1/other", 5}, {"f0/f1/f5", 0}}));
    const RowsByPath rows = run_.rows();
    EXPECT_TRUE(rows.contains("thread 2/f2/f3"));
    EXPECT_FALSE(rows.contains("thread 1/f0/f11/f10")) << "had 1000, as had others that were there before";
}

TEST(ContextFoldOfOpenCalls, IfThereAreTooManyTheLastAreFolded) {
    Folding run({.most_nodes = 8});
    const std::size_t stack = run.begin(1, 0);
    for (std::uint32_t function = 1; function < 4; ++function) run.call(stack, function);
    const std::size_t elsewhere = run.begin(2, 0);
    for (std::uint32_t function = 1; function < 4; ++function) run.call(elsewhere, function);
    run.call(stack, 4);
    EXPECT_EQ(run.tree().folds(), 1u);
    EXPECT_TRUE(run.rows().contains("thread 1/f0/f1/f2/f3/f4"));
    EXPECT_FALSE(run.rows().contains("thread 2/f0/f1/f2/f3"));
    run.call(elsewhere, 5);
    EXPECT_EQ(run.rows().at("thread 2/f0/f1/f2/other")[0], 2u) << "calls of f3 and from there";
    run.leave(elsewhere);
    run.leave(elsewhere);
    run.leave(stack);
    run.call(elsewhere, 5);
    EXPECT_TRUE(run.rows().contains("thread 2/f0/f1/f2/f5")) << "is known again";
}

TEST_F(ContextFold, APathThatComesAgainHasANodeAgain) {
    run_.call_for(stack_, 1, 0, 50);
    run_.call_for(stack_, 2, 0, 1);
    run_.call_for(stack_, 3, 0, 2);
    run_.call_for(stack_, 5, 0, 20);
    run_.call_for(stack_, 4, 0, 3);
    run_.call_for(stack_, 2, 0, 10);
    EXPECT_EQ(event(0),
              (CountsByPath{{"f0", 0}, {"f0/f1", 50}, {"f0/f5", 20}, {"f0/other", 3}, {"f0/f4", 3}, {"f0/f2", 10}}));
    EXPECT_EQ(calls("f0/f2"), 1u);
}

// f1 and f2 have been folded into an "other" node below f3, which is folded then.
TEST_F(ContextFold, WhatHasBeenFoldedGoesOnUpwards) {
    run_.call(stack_, 3);
    run_.cost(stack_, 0, 40);
    run_.call_for(stack_, 1, 0, 1);
    run_.call_for(stack_, 2, 0, 1);
    run_.leave(stack_);
    run_.call_for(stack_, 4, 0, 30);
    run_.call_for(stack_, 6, 0, 50);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/f3", 40}, {"f0/f3/other", 2}, {"f0/f4", 30}, {"f0/f6", 50}}));
    run_.call_for(stack_, 7, 0, 60);
    run_.call_for(stack_, 8, 0, 70);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/f6", 50}, {"f0/f7", 60}, {"f0/other", 72}, {"f0/f8", 70}}));
    EXPECT_EQ(calls("f0/other"), 4u);
    EXPECT_EQ(run_.tree().folds(), 2u);
}

TEST_F(ContextFold, LinesAreChargedToWhatTheirPathHasBecome) {
    run_.call(stack_, 1);
    run_.cost(stack_, 0, 50);
    run_.load(stack_);
    run_.leave(stack_);
    run_.call(stack_, 2);
    run_.load(stack_);
    run_.leave(stack_);
    run_.call_for(stack_, 3, 0, 1);
    run_.call_for(stack_, 5, 0, 60);
    run_.call_for(stack_, 4, 0, 1);
    run_.cost(run_.line(0), kD1Loss, 64);
    run_.cost(run_.line(1), kD1Loss, 32);
    EXPECT_EQ(event(kD1Loss), (CountsByPath{{"f0", 0}, {"f0/f1", 64}, {"f0/f5", 0}, {"f0/other", 32}, {"f0/f4", 0}}));
}

// f0 calls f1, which calls f0 back: after a fold, too.
TEST_F(ContextFold, RecursionLeadsBackAfterwards) {
    run_.call(stack_, 1);
    const auto call_back = [&] { run_.call_for(stack_, 0, 0, 10); };
    call_back();
    for (std::uint32_t function = 2; function < 8; ++function) run_.call_for(stack_, function, 0, 1);
    EXPECT_EQ(run_.tree().folds(), 2u);
    call_back();
    EXPECT_EQ(calls("f0"), 2u);
    EXPECT_EQ(event(0).at("f0"), 20u);
}

TEST(ContextFoldOfNothing, ATreeWithoutCostsKeepsWhatCameFirst) {
    Folding run({.most_nodes = 4});
    const std::size_t stack = run.begin(1, 0);
    for (std::uint32_t function = 1; function < 5; ++function) run.call(stack, function), run.leave(stack);
    const RowsByPath rows = run.rows();
    EXPECT_TRUE(rows.contains("thread 1/f0/f2") && rows.contains("thread 1/f0/f4"));
    EXPECT_FALSE(rows.contains("thread 1/f0/f3"));
    EXPECT_EQ(rows.at("thread 1/f0/other")[0], 1u);
}

TEST(ContextFoldMemory, FoldedCostsLeaveTheirMemoryToOthers) {
    Folding run({.recursion = ContextRecursion::kApart, .most_nodes = 1000});
    const std::size_t stack = run.begin(1, 0);
    std::mt19937 random(1);
    const auto go = [&] {
        for (unsigned i = 0; i < 20'000; ++i) {
            for (unsigned depth = 0; depth < 5; ++depth) {
                run.call(stack, static_cast<std::uint32_t>(random() % Folding::kFunctions));
            }
            run.cost(stack, kD1Misses, 1);
            for (unsigned depth = 0; depth < 5; ++depth) run.leave(stack);
        }
    };
    go();
    const std::size_t bytes = run.tree().stats().bytes;
    go();
    EXPECT_GT(run.tree().folds(), 50u);
    EXPECT_EQ(run.tree().stats().bytes, bytes);
    std::uint64_t sum = 0;
    for (const auto& [path, row] : run.rows()) sum += row[1 + kD1Misses];
    EXPECT_EQ(sum, 40'000u);
}

// --- A naive tree --------------------------------------------------------------------------------------------------

const std::map<std::string, std::uint64_t> kWeights{{"Ir", 8},   {"I1mr", 1},    {"D1mr", 1},
                                                    {"D1mw", 1}, {"ILmr", 1},    {"DLmr", 1},
                                                    {"DLmw", 1}, {"SpLoss1", 1}, {"SpLoss2", 1}};

struct NaiveNode {
    std::string name;
    NaiveNode* parent = nullptr;
    unsigned long made = 0;
    CountRow row{};
    bool is_open = false;  // or one below it
    bool stays = false;
    NaiveNode* folded_into = nullptr;
    std::vector<std::unique_ptr<NaiveNode>> children{};
};

class NaiveFolding {
public:
    explicit NaiveFolding(const ContextTreeRules& rules) : rules_(rules) {}

    void begin(std::uint32_t thread, std::uint32_t function) {
        NaiveNode* root = nullptr;
        for (const auto& known : roots_) {
            if (known->name == "thread " + std::to_string(thread)) root = known.get();
        }
        if (root == nullptr) {
            roots_.push_back(std::make_unique<NaiveNode>());
            root = roots_.back().get();
            root->name = "thread " + std::to_string(thread);
        }
        stacks_.push_back({root});
        stacks_.back().push_back(enter(root, "f" + std::to_string(function)));
    }
    void call(std::size_t stack, std::uint32_t function) {
        NaiveNode* const callee = enter(now(stack), "f" + std::to_string(function));
        stacks_[stack].push_back(callee);
        ++callee->row[0];
    }
    void leave(std::size_t stack) { stacks_[stack].pop_back(); }
    void cost(NaiveNode* node, std::size_t event, std::uint64_t count) { final(node)->row[1 + event] += count; }
    NaiveNode* now(std::size_t stack) { return final(stacks_[stack].back()); }
    void load(std::size_t stack) { lines_.push_back(now(stack)); }
    NaiveNode* line(std::size_t number) { return lines_[number]; }

    RowsByPath rows() const {
        RowsByPath rows;
        for (const auto& root : roots_) add_rows(*root, root->name, rows);
        return rows;
    }

private:
    static NaiveNode* final(NaiveNode* node) {
        while (node->folded_into != nullptr) node = node->folded_into;
        return node;
    }
    static void add_rows(const NaiveNode& node, const std::string& path, RowsByPath& rows) {
        rows[path] = node.row;
        for (const auto& child : node.children) add_rows(*child, path + '/' + child->name, rows);
    }
    static NaiveNode* child(NaiveNode* node, const std::string& name) {
        for (const auto& each : node->children) {
            if (each->name == name) return each.get();
        }
        return nullptr;
    }
    NaiveNode* add(NaiveNode* parent, const std::string& name) {
        parent->children.push_back(std::make_unique<NaiveNode>());
        parent->children.back()->name = name;
        parent->children.back()->parent = parent;
        parent->children.back()->made = ++made_;
        return parent->children.back().get();
    }

    NaiveNode* enter(NaiveNode* from, const std::string& name) {
        if (from->name == "other") return from;
        if (rules_.recursion == ContextRecursion::kFolded) {
            for (NaiveNode* above = from; above->parent != nullptr; above = above->parent) {
                if (above->name == name) return above;
            }
        }
        if (NaiveNode* const known = child(from, name)) return known;
        if (functions().size() == rules_.most_nodes) {
            fold();
            from = final(from);
            if (from->name == "other") return from;
        }
        if (functions().size() == rules_.most_nodes) {
            NaiveNode* const other = child(from, "other");
            return other != nullptr ? other : add(from, "other");
        }
        return add(from, name);
    }

    std::vector<NaiveNode*> functions() const {
        std::vector<NaiveNode*> found;
        std::vector<NaiveNode*> waiting;
        for (const auto& root : roots_) waiting.push_back(root.get());
        while (!waiting.empty()) {
            NaiveNode* const node = waiting.back();
            waiting.pop_back();
            if (node->parent != nullptr && node->name != "other") found.push_back(node);
            for (const auto& each : node->children) waiting.push_back(each.get());
        }
        return found;
    }

    static CountRow inclusive(const NaiveNode& node) {
        CountRow sum = node.row;
        for (const auto& each : node.children) {
            const CountRow below = inclusive(*each);
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += below[i];
        }
        return sum;
    }

    void fold() {
        CountRow totals{};
        for (const auto& root : roots_) {
            const CountRow below = inclusive(*root);
            for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += below[i];
        }
        std::vector<NaiveNode*> nodes = functions();
        for (NaiveNode* const node : nodes) node->is_open = node->stays = false;
        for (const auto& stack : stacks_) {
            for (NaiveNode* node : stack) {
                for (node = final(node); node != nullptr; node = node->parent) node->is_open = true;
            }
        }
        std::map<const NaiveNode*, std::uint64_t> shares;
        for (const NaiveNode* const node : nodes) {
            const CountRow sum = inclusive(*node);
            for (std::size_t event = 0; event < kEventCount; ++event) {
                const std::string name = kEvents[event].name;
                if (totals[1 + event] == 0 || !kWeights.contains(name)) continue;
                shares[node] += (std::uint64_t{1} << 56) / totals[1 + event] * sum[1 + event] * kWeights.at(name);
            }
        }
        std::ranges::sort(nodes, [&](const NaiveNode* a, const NaiveNode* b) {
            if (a->is_open != b->is_open) return a->is_open;
            if (shares[a] != shares[b]) return shares[a] > shares[b];
            return a->made < b->made;
        });
        for (std::size_t i = 0; i < rules_.most_nodes * 7 / 8; ++i) nodes[i]->stays = true;
        for (const auto& root : roots_) fold_below(root.get());
    }

    // Of the children, those that do not stay.
    void fold_below(NaiveNode* node) {
        std::vector<std::unique_ptr<NaiveNode>> folded;
        for (auto& each : node->children) {
            if (each->name == "other") continue;
            if (each->stays) {
                fold_below(each.get());
            } else {
                folded.push_back(std::move(each));
            }
        }
        std::erase(node->children, nullptr);
        for (auto& each : folded) {
            NaiveNode* const found = child(node, "other");
            NaiveNode* const other = found != nullptr ? found : add(node, "other");
            const CountRow sum = inclusive(*each);
            for (std::size_t i = 0; i < sum.size(); ++i) other->row[i] += sum[i];
            forward(each.get(), other);
            gone_.push_back(std::move(each));
        }
    }
    static void forward(NaiveNode* node, NaiveNode* to) {
        node->folded_into = to;
        for (const auto& each : node->children) forward(each.get(), to);
    }

    const ContextTreeRules rules_;
    std::vector<std::unique_ptr<NaiveNode>> roots_;
    std::vector<std::unique_ptr<NaiveNode>> gone_;
    std::vector<std::vector<NaiveNode*>> stacks_;
    std::vector<NaiveNode*> lines_;
    unsigned long made_ = 0;
};

// Random calls, returns and costs on several stacks, and costs of lines long after they have been loaded.
TEST(ContextFoldOfRandomCalls, ANaiveTreeIsTheSame) {
    std::uint64_t folds = 0;
    for (unsigned seed = 0; seed < test::runs(300); ++seed) {
        std::mt19937 random(seed);
        const ContextTreeRules rules{
            .recursion = seed % 2 == 0 ? ContextRecursion::kFolded : ContextRecursion::kApart,
            .most_nodes = static_cast<std::uint32_t>(seed % 3 == 0 ? random() % 8 : 8 + random() % 60)};
        Folding run(rules);
        NaiveFolding naive(rules);
        std::vector<std::size_t> depths;
        std::size_t lines = 0;
        const auto begin = [&] {
            const auto thread = static_cast<std::uint32_t>(1 + random() % 3);
            const auto function = static_cast<std::uint32_t>(random() % Folding::kFunctions);
            run.begin(thread, function);
            naive.begin(thread, function);
            depths.push_back(0);
        };
        begin();
        const std::uint64_t steps = 300 + random() % 700;
        for (std::uint64_t step = 0; step < steps; ++step) {
            const std::size_t stack = random() % depths.size();
            const std::size_t event =
                random() % 3 == 0 ? random() % kEventCount : random() % (column(Event::kSpLoss1) + 1);
            const std::uint64_t count = 1 + random() % (random() % 4 == 0 ? 1000 : 10);
            switch (random() % 8) {
                case 0:
                case 1:
                case 2: {
                    // Some functions are called more often than others.
                    const auto function =
                        static_cast<std::uint32_t>(random() % (random() % 2 == 0 ? 3u : Folding::kFunctions));
                    run.call(stack, function);
                    naive.call(stack, function);
                    ++depths[stack];
                    break;
                }
                case 3:
                case 4:
                    if (depths[stack] == 0) break;
                    run.leave(stack);
                    naive.leave(stack);
                    --depths[stack];
                    break;
                case 5:
                    if (lines != 0 && random() % 2 == 0) {
                        const std::size_t line = random() % lines;
                        run.cost(run.line(line), event, count);
                        naive.cost(naive.line(line), event, count);
                    } else {
                        run.load(stack);
                        naive.load(stack);
                        ++lines;
                    }
                    break;
                case 6:
                    if (depths.size() < 4 && random() % 20 == 0) begin();
                    break;
                default:
                    run.cost(stack, event, count);
                    naive.cost(naive.now(stack), event, count);
                    break;
            }
        }
        ASSERT_EQ(run.rows(), naive.rows()) << "seed " << seed << ", " << run.tree().folds() << " folds";
        folds += run.tree().folds();
    }
    EXPECT_GT(folds, 3 * test::runs(300)) << "too little happened for this to mean anything";
}

}  // namespace
}  // namespace bd
