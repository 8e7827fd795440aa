// SPDX-License-Identifier: GPL-2.0-or-later
//
// The calling context tree: all costs, separated by the whole call path that leads there.
// (Ammons, Ball and Larus, "Exploiting Hardware Performance Counters with Flow and Context Sensitive Profiling", PLDI
// 1997.)
//
//     thread 1 ──── main ──── parse ──── malloc        each node: its calls and its self costs, of all events
//                     └────── print ──── malloc ──── (other)
//
// A node stands for a context (a function, as the profile separates functions) below the node of its caller. Roots
// stand for threads and signal handlers. The number of nodes is bounded. Where there is no room for another, the tree
// is folded: an eighth of its nodes goes, those that have least of the costs with all that is below them. What they
// have had is added to an "other" node below the deepest one that stays. Paths that come again get nodes again.
//
// Where recursion is folded, a call of a context that is on the path already goes back to its node, so that no path has
// a context twice.
//
// The back-dating tree is another: it is made of call arcs, drops nodes without references, and passes costs upwards.
// The profile comes from it, and must be exact whatever is folded or bounded here.

#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/types.h"
#include "engine/costs/arcs.h"
#include "engine/costs/contexts.h"
#include "engine/costs/costs.h"
#include "engine/costs/events.h"

namespace bd {

enum class ContextRecursion : std::uint8_t { kFolded, kApart };

struct ContextTreeRules {
    bool by_site = false;  // nodes of a context that are called by different instructions are different
    ContextRecursion recursion = ContextRecursion::kFolded;
    std::uint32_t most_nodes = 1'000'000;  // without roots and "other" nodes; no more than ContextTree::kMostNodes
};

// What a root stands for.
struct ContextRoot {
    std::uint32_t thread;  // the guest's number
    bool is_handler;
    std::uint32_t signal;  // of a handler; 0: not known
    bool operator==(const ContextRoot&) const = default;
};

// Who keeps ids of nodes, which change when the tree is folded.
class ContextNodeKeeper {
public:
    // Has the tree folded, and keeps the ids that nodes have then. Returns what ContextTree::fold() has.
    virtual std::vector<ContextNodeId> fold_context_tree() = 0;

protected:
    ~ContextNodeKeeper() = default;
};

class ContextTree {
public:
    using Running = std::array<std::uint64_t, kRunningEvents>;

    // Ids have 32 bits, and each node may have an "other" node below it.
    static constexpr std::uint32_t kMostNodes = 1u << 30;

    // How a node is reached from its parent. Its number is its place in steps().
    struct Step {
        const Context* context;  // null: an "other" node, or a root
        CallSite site;           // what calls it, if nodes are separate by call site; else none
    };
    struct Node {
        std::uint64_t calls = 0;
        Running running{};
        ContextNodeId parent = kNoContextNode;  // none: a root. A parent has a lower number than its children
        std::uint32_t step = 0;
        CostId costs = kNoCost;  // of all other events
    };
    struct Stats {
        std::uint32_t nodes = 0;          // without roots and "other" nodes; so are the following
        std::uint32_t contexts = 0;       // that they are of
        std::uint32_t begun = 0;          // right below a root
        std::uint32_t height = 0;         // of the longest path
        std::uint32_t parents = 0;        // nodes that have children
        std::uint32_t children = 0;       // of a node, at most
        std::uint32_t copies = 0;         // nodes of the context that has most
        const Context* copied = nullptr;  // that one; null: there are no nodes
        std::size_t bytes = 0;
    };

    // `width`: how many events there are. `keeper` has all ids that are in use when a node is made. Without one, paths
    // for which there is no room have no nodes of their own.
    ContextTree(const ContextTreeRules& rules, const ArcTable& arcs, std::size_t width,
                ContextNodeKeeper* keeper = nullptr);
    ContextTree(const ContextTree&) = delete;
    ContextTree& operator=(const ContextTree&) = delete;

    // Each finds the node or makes it; then the tree may be folded before.
    ContextNodeId root(const ContextRoot& what);
    // What a thread or a handler begins with.
    ContextNodeId begin(ContextNodeId root, const Context& context);
    // Called by `arc` from `caller`.
    ContextNodeId call(ContextNodeId caller, ArcId arc) {
        if (latest_.size() <= index_of(arc)) learn_arcs();
        Latest& latest = latest_[index_of(arc)];
        if (latest.caller != caller) {
            latest.callee = find_or_make(caller, step_of(arc));
            latest.caller = caller;
        }
        return latest.callee;
    }

    void count_call(ContextNodeId id) { ++nodes_[index_of(id)].calls; }

    // What has been executed there: `to` less `from`.
    void charge_running(ContextNodeId id, const Running& from, const Running& to) {
        Running& running = nodes_[index_of(id)].running;
        for (std::size_t i = 0; i < kRunningEvents; ++i) running[i] += to[i] - from[i];
    }

    // Charges a node with other events: see BackdatingTree::charge.
    template <class Add>
    [[gnu::always_inline]] void charge(ContextNodeId id, Add add) {
        Node& node = nodes_[index_of(id)];
        if (__builtin_expect(node.costs == kNoCost, 0)) node.costs = make_costs();
        add(costs_[node.costs], 1);
    }

    // Makes room for an eighth of the nodes that there may be. `open`: the nodes of calls that have not returned; these
    // and what is above them are folded last. Returns, by old id, which node has the costs now.
    std::vector<ContextNodeId> fold(std::span<const ContextNodeId> open);
    // How often that has been done.
    std::uint64_t folds() const { return folds_; }

    // Forgets the counts of a guest thread, or of all (0). The paths stay known.
    void clear_counts(std::uint32_t thread);

    const ContextTreeRules& rules() const { return rules_; }
    std::span<const ContextRoot> roots() const { return roots_; }
    std::span<const Step> steps() const { return steps_; }
    // By id; the first is none.
    std::span<const Node> nodes() const { return nodes_; }
    bool is_root(const Node& node) const { return node.parent == kNoContextNode; }
    const ContextRoot& root_of(const Node& root) const { return roots_[root.step]; }
    bool is_other(const Node& node) const { return !is_root(node) && node.step == kOther; }

    // All events of a node, itself alone.
    void get_costs(const Node& node, Costs costs) const;

    Stats stats() const;

private:
    static constexpr std::uint32_t kOther = 0;  // a step

    // Where an arc led to when it was last called.
    struct Latest {
        ContextNodeId caller = kNoContextNode;
        ContextNodeId callee = kNoContextNode;
    };
    struct StepKey {
        const Context* context;
        const ObjectFile* object;  // of the call site, with the address in it
        Address address;
        bool operator==(const StepKey&) const = default;
    };
    struct StepHash {
        std::size_t operator()(const StepKey& key) const {
            const auto number = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
            return static_cast<std::size_t>((number(key.context) * 31 + number(key.object)) * 31 + key.address);
        }
    };
    // A node and a step from there.
    static std::uint64_t key(ContextNodeId id, std::uint32_t step) { return std::uint64_t{index_of(id)} << 32 | step; }
    struct KeyHash {
        using is_avalanching = void;
        std::size_t operator()(std::uint64_t key) const {
            key = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
            return static_cast<std::size_t>(key ^ key >> 32);
        }
    };

    void learn_arcs();
    std::uint32_t step_of(ArcId arc);
    std::uint32_t step_of(const Context& context, const CallSite& site);
    // `parent` is renumbered if the tree is folded.
    ContextNodeId find_or_make(ContextNodeId& parent, std::uint32_t step);
    ContextNodeId on_path(ContextNodeId node, const Context& context) const;
    ContextNodeId make(ContextNodeId parent, std::uint32_t step);
    ContextNodeId other_below(ContextNodeId parent);
    CostId make_costs();
    std::vector<std::uint64_t> shares() const;
    std::vector<bool> costliest(std::span<const ContextNodeId> open, std::size_t most) const;
    void move_counts(const Node& from, Node& to);

    const ContextTreeRules rules_;
    const ArcTable& arcs_;
    ContextNodeKeeper* const keeper_;  // null: the tree is never folded
    std::vector<Node> nodes_;          // by ContextNodeId
    CostPool costs_;
    std::vector<CostId> free_costs_;  // zeros
    std::vector<ContextRoot> roots_;
    std::vector<ContextNodeId> root_nodes_;  // the same order
    std::vector<Step> steps_;
    std::vector<std::uint32_t> arc_steps_;  // by ArcId; 0: not known yet
    std::vector<Latest> latest_;            // by ArcId
    std::uint32_t made_ = 0;                // nodes that count
    std::uint64_t folds_ = 0;
    boost::unordered_flat_map<StepKey, std::uint32_t, StepHash> step_numbers_;
    boost::unordered_flat_map<std::uint64_t, ContextNodeId, KeyHash> children_;  // where a step leads to, back as well
};

}  // namespace bd
