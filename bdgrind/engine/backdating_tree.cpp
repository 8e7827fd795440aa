// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/backdating_tree.h"

#include <algorithm>

namespace bd {

NodeId BackdatingTree::acquire_child(NodeId parent, ArcId arc) {
    const auto [place, is_new] = children_.try_emplace(key(parent, arc), kNoNode);
    if (is_new) {
        place->second = make(parent, arc);
        acquire(parent);
    }
    acquire(place->second);
    return place->second;
}

NodeId BackdatingTree::make(NodeId parent, ArcId arc) {
    NodeId id;
    if (free_.empty()) {
        id = NodeId{index_of(costs_.make())};
        nodes_.emplace_back();
    } else {
        id = free_.back();
        free_.pop_back();
    }
    const std::uint32_t depth = parent == kNoNode ? 0 : nodes_[index_of(parent)].depth + 1;
    nodes_[index_of(id)] = {parent, arc, 0, depth};
    ++stats_.made;
    stats_.most_live = std::max(stats_.most_live, ++stats_.live);
    return id;
}

// A loop, as a chain of a million calls may end at once.
void BackdatingTree::prune(NodeId id) {
    for (;;) {
        const Node node = nodes_[index_of(id)];
        pass_on(node, id);
        free_.push_back(id);
        --stats_.live;
        if (node.parent == kNoNode) return;
        children_.erase(key(node.parent, node.arc));
        if (--nodes_[index_of(node.parent)].references != 0) return;
        id = node.parent;
    }
}

// Moves a node's pending costs to where they go next, and leaves zeros.
void BackdatingTree::pass_on(const Node& node, NodeId id) {
    const Costs pending = costs(id);
    if (node.parent == kNoNode) {
        add(root_costs_, pending);
    } else {
        add(arcs_.costs(node.arc), pending);
        add(costs(node.parent), pending);
    }
    std::ranges::fill(pending, 0);
}

void BackdatingTree::settle() {
    // Children before parents.
    std::vector<NodeId> live;
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
        if (nodes_[i].references != 0) live.push_back(NodeId{i});
    }
    std::ranges::sort(live, std::greater{}, [this](NodeId id) { return nodes_[index_of(id)].depth; });
    for (const NodeId id : live) pass_on(nodes_[index_of(id)], id);
}

void BackdatingTree::clear_counts() {
    costs_.clear_counts();
    std::ranges::fill(root_costs_, 0);
}

}  // namespace bd
