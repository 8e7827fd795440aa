// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/context_tree.h"

#include <algorithm>

#include "engine/base/narrow.h"

namespace bd {

ContextTree::ContextTree(const ContextTreeRules& rules, const ArcTable& arcs, std::size_t width)
    : rules_(rules), arcs_(arcs), costs_(width) {
    BD_CHECK_OP(rules.most_nodes, <=, kMostNodes);
    nodes_.emplace_back();
    steps_.emplace_back();
}

ContextNodeId ContextTree::root(const ContextRoot& what) {
    if (const auto found = std::ranges::find(roots_, what); found != roots_.end()) {
        return root_nodes_[static_cast<std::size_t>(found - roots_.begin())];
    }
    root_nodes_.push_back(make(kNoContextNode, next_number(roots_.size())));
    roots_.push_back(what);
    return root_nodes_.back();
}

ContextNodeId ContextTree::begin(ContextNodeId root, const Context& context) {
    return find_or_make(root, step_of(context, {}));
}

void ContextTree::learn_arcs() {
    latest_.resize(arcs_.size() + 1);
    arc_steps_.resize(arcs_.size() + 1);
}

std::uint32_t ContextTree::step_of(ArcId arc) {
    std::uint32_t& step = arc_steps_[index_of(arc)];
    if (step == 0) step = step_of(*arcs_[arc].callee->context, rules_.by_site ? arcs_[arc].site : CallSite{});
    return step;
}

// Blocks overlap, so that one instruction may be in several; and one file may be mapped at several addresses.
std::uint32_t ContextTree::step_of(const Context& context, const CallSite& site) {
    StepKey name{&context, nullptr, 0};
    if (site) {
        const Block& block = *site.from->block;
        name.object = block.function->object;
        name.address = block.exits()[site.exit].branch_address() - block.load_bias;
    }
    const auto [entry, is_new] = step_numbers_.try_emplace(name, next_number(steps_.size()));
    if (is_new) steps_.push_back({&context, site});
    return entry->second;
}

ContextNodeId ContextTree::find_or_make(ContextNodeId parent, std::uint32_t step) {
    if (is_other(nodes_[index_of(parent)])) return parent;
    if (const auto found = children_.find(key(parent, step)); found != children_.end()) return found->second;
    ContextNodeId child = kNoContextNode;
    if (rules_.recursion == ContextRecursion::kFolded) child = on_path(parent, *steps_[step].context);
    if (child == kNoContextNode) {
        if (made_ == rules_.most_nodes) {
            ContextNodeId& other = children_[key(parent, kOther)];
            if (other == kNoContextNode) other = make(parent, kOther);
            return other;
        }
        child = make(parent, step);
        ++made_;
    }
    children_.emplace(key(parent, step), child);
    return child;
}

// The node of `context` among `node` and those above it, if there is one.
ContextNodeId ContextTree::on_path(ContextNodeId node, const Context& context) const {
    for (;;) {
        const Node& each = nodes_[index_of(node)];
        if (is_root(each)) return kNoContextNode;
        if (steps_[each.step].context == &context) return node;
        node = each.parent;
    }
}

ContextNodeId ContextTree::make(ContextNodeId parent, std::uint32_t step) {
    Node& node = nodes_.emplace_back();
    node.parent = parent;
    node.step = step;
    return ContextNodeId{static_cast<std::uint32_t>(nodes_.size() - 1)};
}

void ContextTree::clear_counts(std::uint32_t thread) {
    std::vector<bool> cleared(nodes_.size());
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
        Node& node = nodes_[i];
        cleared[i] = thread == 0 || (is_root(node) ? root_of(node).thread == thread : cleared[index_of(node.parent)]);
        if (!cleared[i]) continue;
        node.calls = 0;
        node.running = {};
        if (node.costs != kNoCost) std::ranges::fill(costs_[node.costs], 0);
    }
}

void ContextTree::get_costs(const Node& node, Costs costs) const {
    if (node.costs != kNoCost) {
        std::ranges::copy(costs_[node.costs], costs.begin());
    } else {
        std::ranges::fill(costs, 0);
    }
    std::ranges::copy(node.running, costs.begin());
}

ContextTree::Stats ContextTree::stats() const {
    Stats stats;
    std::vector<std::uint32_t> depth(nodes_.size());
    std::vector<std::uint32_t> children(nodes_.size());
    std::vector<std::uint32_t> copies;  // by Context::id
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        if (is_root(node) || is_other(node)) continue;
        ++stats.nodes;
        depth[i] = depth[index_of(node.parent)] + 1;
        stats.height = std::max(stats.height, depth[i]);
        if (is_root(nodes_[index_of(node.parent)])) {
            ++stats.begun;
        } else {
            std::uint32_t& siblings = children[index_of(node.parent)];
            if (siblings++ == 0) ++stats.parents;
            stats.children = std::max(stats.children, siblings);
        }
        const Context& context = *steps_[node.step].context;
        if (copies.size() <= context.id()) copies.resize(context.id() + 1);
        if (copies[context.id()]++ == 0) ++stats.contexts;
        if (copies[context.id()] > stats.copies) {
            stats.copies = copies[context.id()];
            stats.copied = &context;
        }
    }
    // A slot of the hash tables has a byte besides what it holds.
    stats.bytes = nodes_.capacity() * sizeof(Node) + costs_.bytes() + steps_.capacity() * sizeof(Step) +
                  arc_steps_.capacity() * sizeof(std::uint32_t) + latest_.capacity() * sizeof(Latest) +
                  children_.bucket_count() * (sizeof(*children_.begin()) + 1) +
                  step_numbers_.bucket_count() * (sizeof(*step_numbers_.begin()) + 1);
    return stats;
}

}  // namespace bd
