// SPDX-License-Identifier: GPL-2.0-or-later
//
// The back-dating tree: which calls were open when a line was loaded, kept as long as the line may still be charged.
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
// Recursion makes long chains of few arcs. A node is a repeat if its arc is one of those that lead to its base or to
// the next nodes above that. The base is the nearest node above that is no repeat:
//
//     root ──── a ──── b ──── a ──── b ──── a ──── ...      the first b is the base of all that follow; the last a
//                      base   repeats                       repeats a twice and b once
//
// A repeat has no pending costs of its own. What is charged to it is pending at its base, and all that it repeats is
// charged at once, so many times. (At a depth of a million calls: 65 % less replay, half the memory.)
//
// Where there is a calling context tree, each node knows the node of its path there, and what it is charged is charged
// there, too, at once.
//
// The tree takes costs and references. It knows neither caches nor the call stack.

#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/check.h"
#include "engine/base/types.h"
#include "engine/costs/arcs.h"
#include "engine/costs/context_tree.h"
#include "engine/costs/costs.h"

namespace bd {

class BackdatingTree {
public:
    struct Stats {
        std::uint64_t made = 0;
        std::uint32_t live = 0;
        std::uint32_t most_live = 0;
    };

    // `arcs` gets the costs of pruned nodes; `contexts`, if it is not null, those of all nodes. `width`: how many
    // events there are.
    BackdatingTree(ArcTable& arcs, std::size_t width, ContextTree* contexts = nullptr)
        : arcs_(arcs), contexts_(contexts), costs_(width), root_costs_(width) {
        nodes_.emplace_back();
    }

    BackdatingTree(const BackdatingTree&) = delete;
    BackdatingTree& operator=(const BackdatingTree&) = delete;

    // Makes a root with one reference, which is the caller's.
    NodeId make_root() {
        const NodeId root = make(kNoNode, kNoArc);
        acquire(root);
        return root;
    }

    // Finds or makes the node for `arc` below `parent`, and adds a reference to it.
    NodeId acquire_child(NodeId parent, ArcId arc);

    // The node of the context tree that gets what is charged to `id` itself. If there is such a tree, it has to be set
    // before a node is charged, and is the same until that tree is folded.
    void set_context_node(NodeId id, ContextNodeId node) { context_nodes_[index_of(id)] = node; }

    ContextNodeId context_node(NodeId id) const { return context_nodes_[index_of(id)]; }

    // The context tree has been folded: `now` has, by old id, which node has the costs.
    void renumber_context_nodes(std::span<const ContextNodeId> now) {
        for (ContextNodeId& node : context_nodes_) node = now[index_of(node)];
    }

    // Prefetches what charge() and release() read first.
    [[gnu::always_inline]] void host_prefetch(NodeId id) const { __builtin_prefetch(&nodes_[index_of(id)], 1); }

    // Adds `times` references. Each is that of a line in a cache, an open call, or a child; 2^32 are an error.
    void acquire(NodeId id, std::uint32_t times = 1) {
        std::uint32_t& references = nodes_[index_of(id)].references;
        BD_CHECK(!__builtin_add_overflow(references, times, &references));
    }

    void release(NodeId id) {
        Node& node = nodes_[index_of(id)];
        BD_CHECK_OP(node.references, >, 0u);
        if (--node.references == 0) prune(id);
    }

    // Charges a node. add(costs, times) has to add the charge `times` times to `costs`; it is called for everything
    // that gets the charge now.
    template <class Add>
    [[gnu::always_inline]] void charge(NodeId id, Add add) {
        Node* node = &nodes_[index_of(id)];
        if (__builtin_expect(node->charges_more, 0)) {
            charge_more(id, add);
            if (node->is_repeat) node = &nodes_[index_of(node->base)];
        }
        if (__builtin_expect(node->pending == kNoCost, 0)) node->pending = make_pending();
        add(costs_[node->pending], 1);
    }

    // Moves all pending costs to arcs and roots without pruning, for a dump in mid-run.
    void settle();

    // Drops all pending costs.
    void clear_counts();

    // Subtracts costs that are dropped elsewhere from root_costs().
    void forget(ConstCosts costs) {
        for (std::size_t i = 0; i < root_costs_.size(); ++i) root_costs_[i] -= costs[i];
    }

    // The costs of all roots that were pruned or settled.
    ConstCosts root_costs() const { return root_costs_; }

    bool empty() const { return stats_.live == 0; }
    const Stats& stats() const { return stats_; }
    std::size_t bytes() const {
        return nodes_.capacity() * sizeof(Node) + context_nodes_.capacity() * sizeof(ContextNodeId) + costs_.bytes();
    }

private:
    // The arcs that can be repeated are the one that leads to the base and those that lead to the nodes above it, this
    // many in all. Mutual recursion rarely has more.
    static constexpr std::size_t kRepeatable = 4;
    using Times = std::array<std::uint8_t, kRepeatable>;
    static constexpr std::uint8_t kMostTimes = std::numeric_limits<std::uint8_t>::max();  // then a node is no repeat

    struct Node {
        NodeId parent = kNoNode;
        ArcId arc = kNoArc;
        std::uint32_t references = 0;
        NodeId child = kNoNode;    // one child, which is not in children_; of a free node, the next free one
        CostId pending = kNoCost;  // kNoCost: no pending costs, or a repeat
        union {
            NodeId base;              // of a repeat
            std::uint32_t depth = 0;  // of another node: how many nodes above it are no repeats
        };
        Times times{};  // of a repeat: how often it repeats its base, the base's parent, ...
        bool is_repeat = false;
        bool charges_more = false;       // a charge is not only pending: a repeat, or there is a context tree
        bool has_more_children = false;  // it has children in children_, or had
    };

    // What identifies a node that is not a root.
    static std::uint64_t key(NodeId parent, ArcId arc) { return std::uint64_t{index_of(parent)} << 32 | index_of(arc); }
    struct KeyHash {
        using is_avalanching = void;
        std::size_t operator()(std::uint64_t key) const {
            key = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
            return static_cast<std::size_t>(key ^ key >> 32);
        }
    };

    NodeId find_or_make_child(NodeId parent, ArcId arc);
    NodeId make(NodeId parent, ArcId arc);
    void attach_below(Node& node, const Node& parent) const;
    void prune(NodeId id);
    void pass_on(Node& node);
    CostId make_pending();

    template <class Add>
    [[gnu::noinline]] void charge_more(NodeId id, Add add) {
        if (contexts_ != nullptr) contexts_->charge(context_nodes_[index_of(id)], add);
        if (const Node& node = nodes_[index_of(id)]; node.is_repeat) charge_repeated(node, add);
    }

    // Charges the arcs that a repeat repeats.
    template <class Add>
    [[gnu::noinline]] void charge_repeated(const Node& node, Add add) {
        const Node* repeated = &nodes_[index_of(node.base)];
        for (const std::uint64_t times : node.times) {
            if (times != 0) add(arcs_.costs(repeated->arc), times);
            repeated = &nodes_[index_of(repeated->parent)];
        }
    }

    ArcTable& arcs_;
    ContextTree* const contexts_;                                         // null: there is none
    std::vector<Node> nodes_;                                             // by NodeId
    std::vector<ContextNodeId> context_nodes_;                            // the same, if there is a context tree
    NodeId free_ = kNoNode;                                               // the first of those not in use
    CostPool costs_;                                                      // pending ones
    std::vector<CostId> free_costs_;                                      // zeros
    boost::unordered_flat_map<std::uint64_t, NodeId, KeyHash> children_;  // but for Node::child
    std::vector<std::uint64_t> root_costs_;
    Stats stats_;
};

}  // namespace bd
