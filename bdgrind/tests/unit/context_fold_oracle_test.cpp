// SPDX-License-Identifier: GPL-2.0-or-later
//
// What stays of a context tree when it is full, as a naive tree has it.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "context_fold_fixture.h"
#include "runs.h"

namespace bd::test {
namespace {

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
    for (unsigned seed = 0; seed < runs(300); ++seed) {
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
    EXPECT_GT(folds, 3 * runs(300)) << "too little happened for this to mean anything";
}

}  // namespace
}  // namespace bd::test
