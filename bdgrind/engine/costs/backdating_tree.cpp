// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/backdating_tree.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/base/narrow.h"

namespace bd {

NodeId BackdatingTree::acquire_child(NodeId parent, ArcId arc) {
    NodeId child = nodes_[index_of(parent)].child;
    if (nodes_[index_of(child)].arc != arc) child = find_or_make_child(parent, arc);
    acquire(child);
    return child;
}

NodeId BackdatingTree::find_or_make_child(NodeId parent, ArcId arc) {
    if (nodes_[index_of(parent)].has_more_children) {
        if (const auto found = children_.find(key(parent, arc)); found != children_.end()) return found->second;
    }
    const NodeId child = make(parent, arc);
    Node& above = nodes_[index_of(parent)];
    acquire(parent);
    if (above.child == kNoNode) {
        above.child = child;
    } else {
        above.has_more_children = true;
        children_.emplace(key(parent, arc), child);
    }
    return child;
}

NodeId BackdatingTree::make(NodeId parent, ArcId arc) {
    NodeId id = free_;
    if (id == kNoNode) {
        id = NodeId{next_number(nodes_.size())};
        nodes_.emplace_back();
        if (contexts_ != nullptr) context_nodes_.resize(nodes_.size());
    } else {
        free_ = nodes_[index_of(id)].child;
    }
    Node& node = nodes_[index_of(id)] = {};
    node.parent = parent;
    node.arc = arc;
    node.charges_more = contexts_ != nullptr;
    if (parent != kNoNode) attach_below(node, nodes_[index_of(parent)]);
    ++stats_.made;
    stats_.most_live = std::max(stats_.most_live, ++stats_.live);
    return id;
}

// Finds out whether a new node is a repeat.
void BackdatingTree::attach_below(Node& node, const Node& parent) const {
    const NodeId base = parent.is_repeat ? parent.base : node.parent;
    node.depth = nodes_[index_of(base)].depth + 1;
    const Node* repeated = &nodes_[index_of(base)];
    for (std::size_t i = 0; i < kRepeatable; ++i, repeated = &nodes_[index_of(repeated->parent)]) {
        if (repeated->arc != node.arc) continue;
        if (parent.times[i] == kMostTimes) return;
        node.is_repeat = true;
        node.charges_more = true;
        node.base = base;
        node.times = parent.times;
        ++node.times[i];
        return;
    }
}

// A loop, as a chain of a million calls may end at once.
void BackdatingTree::prune(NodeId id) {
    for (;;) {
        Node& node = nodes_[index_of(id)];
        if (node.pending != kNoCost) pass_on(node);
        node.child = free_;
        free_ = id;
        --stats_.live;
        if (node.parent == kNoNode) return;
        Node& parent = nodes_[index_of(node.parent)];
        if (parent.child == id) {
            parent.child = kNoNode;
        } else {
            children_.erase(key(node.parent, node.arc));
        }
        if (--parent.references != 0) return;
        id = node.parent;
    }
}

// Moves a node's pending costs to where they go next.
void BackdatingTree::pass_on(Node& node) {
    const CostId id = std::exchange(node.pending, kNoCost);
    const Costs pending = costs_[id];
    if (node.parent == kNoNode) {
        add(root_costs_, pending);
    } else {
        add(arcs_.costs(node.arc), pending);
        Node* next = &nodes_[index_of(node.parent)];
        if (next->is_repeat) {
            charge_repeated(*next, [pending](Costs costs, std::uint64_t times) {
                for (std::size_t i = 0; i < costs.size(); ++i) costs[i] += times * pending[i];
            });
            next = &nodes_[index_of(next->base)];
        }
        if (next->pending == kNoCost) {
            next->pending = id;
            return;
        }
        add(costs_[next->pending], pending);
    }
    std::ranges::fill(pending, 0);
    free_costs_.push_back(id);
}

CostId BackdatingTree::make_pending() {
    if (free_costs_.empty()) return costs_.make();
    const CostId id = free_costs_.back();
    free_costs_.pop_back();
    return id;
}

void BackdatingTree::settle() {
    // Children before parents.
    std::vector<NodeId> live;
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
        if (nodes_[i].references != 0 && !nodes_[i].is_repeat) live.push_back(NodeId{i});
    }
    std::ranges::sort(live, std::greater{}, [this](NodeId id) { return nodes_[index_of(id)].depth; });
    for (const NodeId id : live) {
        if (Node& node = nodes_[index_of(id)]; node.pending != kNoCost) pass_on(node);
    }
}

void BackdatingTree::clear_counts() {
    costs_.clear_counts();
    std::ranges::fill(root_costs_, 0);
}

}  // namespace bd
