// SPDX-License-Identifier: GPL-2.0-or-later
//
// The back-dating tree: who was calling whom when a line was loaded, kept for as long as anybody may still ask.
// (Weidendorfer and Breitbart, "Inclusive Cost Attribution for Cache Use Profiling", ICCS 2016.)
//
//     root of a thread ──── node: arc main→f ──── node: arc f→g
//       ^                     ^        ^            ^      ^
//       execution             │        └─ child     │      └─ lines in a cache that were loaded in g
//                             open call             open call (if g has not returned yet)
//
// A node stands for one call arc below its parent's arc. References point upwards: a child keeps its parent, a
// cached line and an open call keep their node. So a node outlives its call as long as a line loaded in it, or below
// it, is still cached. That is the point of the tree.
//
// Costs are charged to a node and pending there. When the last reference goes, the node is pruned: its pending costs
// are added to its arc and to its parent's pending costs, so that in the end every arc of the chain has got them
// once per open call. A root has no arc; what it has collected is the total of its execution.
//
// The tree takes costs and references. It knows neither caches nor the call stack.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/arcs.h"
#include "engine/costs.h"
#include "engine/types.h"

namespace bd {

class BackdatingTree {
public:
    struct Stats {
        std::uint64_t made = 0;
        std::uint32_t live = 0;
        std::uint32_t most_live = 0;
    };

    // `arcs` gets the costs of pruned nodes.
    BackdatingTree(ArcTable& arcs, std::size_t width) : arcs_(arcs), costs_(width), root_costs_(width) {
        nodes_.emplace_back();
    }

    BackdatingTree(const BackdatingTree&) = delete;
    BackdatingTree& operator=(const BackdatingTree&) = delete;

    // A new root with one reference, the caller's.
    NodeId make_root() {
        const NodeId root = make(kNoNode, kNoArc);
        acquire(root);
        return root;
    }

    // The node for `arc` below `parent`, found or made, with one reference more.
    NodeId acquire_child(NodeId parent, ArcId arc);

    void acquire(NodeId id) { ++nodes_[index_of(id)].references; }

    void release(NodeId id) {
        Node& node = nodes_[index_of(id)];
        BD_CHECK_OP(node.references, >, 0u);
        if (--node.references == 0) prune(id);
    }

    // Pending costs.
    Costs costs(NodeId id) { return costs_[CostId{index_of(id)}]; }

    // Moves all pending costs to arcs and roots without pruning, as a dump in mid-run needs it.
    void settle();

    // Forgets all pending costs.
    void clear_counts();

    // Takes out of root_costs() what is forgotten elsewhere.
    void forget(ConstCosts costs) {
        for (std::size_t i = 0; i < root_costs_.size(); ++i) root_costs_[i] -= costs[i];
    }

    // The costs that have reached a root and left it, by pruning or settling.
    ConstCosts root_costs() const { return root_costs_; }

    bool empty() const { return stats_.live == 0; }
    const Stats& stats() const { return stats_; }
    std::size_t bytes() const { return nodes_.capacity() * sizeof(Node) + costs_.bytes(); }

private:
    struct Node {
        NodeId parent = kNoNode;
        ArcId arc = kNoArc;
        std::uint32_t references = 0;
        std::uint32_t depth = 0;
    };

    // The unique name of a node that is not a root.
    static std::uint64_t key(NodeId parent, ArcId arc) {
        return std::uint64_t{index_of(parent)} << 32 | index_of(arc);
    }
    struct KeyHash {
        using is_avalanching = void;
        std::size_t operator()(std::uint64_t key) const {
            key = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
            return key ^ key >> 32;
        }
    };

    NodeId make(NodeId parent, ArcId arc);
    void prune(NodeId id);
    void pass_on(const Node& node, NodeId id);

    ArcTable& arcs_;
    std::vector<Node> nodes_;  // by NodeId
    CostPool costs_;           // the same numbers
    std::vector<NodeId> free_;
    boost::unordered_flat_map<std::uint64_t, NodeId, KeyHash> children_;
    std::vector<std::uint64_t> root_costs_;
    Stats stats_;
};

}  // namespace bd
