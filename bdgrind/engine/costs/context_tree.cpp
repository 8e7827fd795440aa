// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/context_tree.h"

#include <algorithm>

#include "engine/base/narrow.h"

namespace bd {
namespace {

// Of a rank: calls of the node are open, or of one below it.
constexpr std::uint64_t kOpen = std::uint64_t{1} << 63;

// What a path costs: instructions count for as much as all misses and losses.
struct WeightedEvent {
    Event event;
    std::uint64_t weight;
};
constexpr WeightedEvent kWeightedEvents[]{{Event::kIr, 8},   {Event::kI1mr, 1},    {Event::kD1mr, 1},
                                          {Event::kD1mw, 1}, {Event::kILmr, 1},    {Event::kDLmr, 1},
                                          {Event::kDLmw, 1}, {Event::kSpLoss1, 1}, {Event::kSpLoss2, 1}};
// A whole of which there are shares: whole numbers, so that the order in which they are added does not matter.
constexpr std::uint64_t kWhole = std::uint64_t{1} << 56;
static_assert(16 * kWhole < kOpen);  // all weights together

}  // namespace

ContextTree::ContextTree(const ContextTreeRules& rules, const ArcTable& arcs, std::size_t width,
                         ContextNodeKeeper* keeper)
    : rules_(rules), arcs_(arcs), keeper_(keeper), costs_(width) {
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

ContextNodeId ContextTree::find_or_make(ContextNodeId& parent, std::uint32_t step) {
    if (is_other(nodes_[index_of(parent)])) return parent;
    if (const auto found = children_.find(key(parent, step)); found != children_.end()) return found->second;
    ContextNodeId child = kNoContextNode;
    if (rules_.recursion == ContextRecursion::kFolded) child = on_path(parent, *steps_[step].context);
    if (child == kNoContextNode) {
        if (made_ == rules_.most_nodes && keeper_ != nullptr) {
            parent = keeper_->fold_context_tree()[index_of(parent)];
            if (is_other(nodes_[index_of(parent)])) return parent;
        }
        if (made_ == rules_.most_nodes) return other_below(parent);
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

ContextNodeId ContextTree::other_below(ContextNodeId parent) {
    ContextNodeId& other = children_[key(parent, kOther)];
    if (other == kNoContextNode) other = make(parent, kOther);
    return other;
}

CostId ContextTree::make_costs() {
    if (free_costs_.empty()) return costs_.make();
    const CostId id = free_costs_.back();
    free_costs_.pop_back();
    return id;
}

std::vector<ContextNodeId> ContextTree::fold(std::span<const ContextNodeId> open) {
    const std::vector<bool> stays = costliest(open, std::size_t{rules_.most_nodes} * 7 / 8);
    // Steps that lead back are found again when they are taken.
    children_.clear();
    std::ranges::fill(latest_, Latest{});
    std::vector<ContextNodeId> now(nodes_.size());
    // In place: what is folded takes the place of an "other" node at most, and a node has no higher number than before.
    std::uint32_t count = 1;
    const auto move = [&](const Node& node) {
        nodes_[count] = node;
        return ContextNodeId{count++};
    };
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
        Node node = nodes_[i];
        if (is_root(node)) {
            now[i] = move(node);
            continue;
        }
        node.parent = now[index_of(node.parent)];
        if (is_other(nodes_[index_of(node.parent)])) {
            now[i] = node.parent;
            move_counts(node, nodes_[index_of(node.parent)]);
            continue;
        }
        if (!stays[i]) node.step = kOther;
        ContextNodeId& same = children_[key(node.parent, node.step)];
        if (same == kNoContextNode) {
            same = move(node);
        } else {
            move_counts(node, nodes_[index_of(same)]);
        }
        now[i] = same;
    }
    nodes_.resize(count);
    for (ContextNodeId& root : root_nodes_) root = now[index_of(root)];
    made_ = static_cast<std::uint32_t>(std::ranges::count(stays, true));
    ++folds_;
    return now;
}

void ContextTree::move_counts(const Node& from, Node& to) {
    to.calls += from.calls;
    for (std::size_t i = 0; i < kRunningEvents; ++i) to.running[i] += from.running[i];
    if (from.costs == kNoCost) return;
    if (to.costs == kNoCost) {
        to.costs = from.costs;
        return;
    }
    add(costs_[to.costs], costs_[from.costs]);
    std::ranges::fill(costs_[from.costs], 0);
    free_costs_.push_back(from.costs);
}

// The nodes of functions that have the largest shares, so many at most, by id; a parent of one is another.
std::vector<bool> ContextTree::costliest(std::span<const ContextNodeId> open, std::size_t most) const {
    std::vector<std::uint64_t> ranks = shares();
    for (ContextNodeId id : open) {
        for (; id != kNoContextNode && ranks[index_of(id)] < kOpen; id = nodes_[index_of(id)].parent) {
            ranks[index_of(id)] += kOpen;
        }
    }
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
        if (!is_root(nodes_[i]) && !is_other(nodes_[i])) found.push_back(i);
    }
    if (found.size() > most) {
        std::ranges::nth_element(found, found.begin() + static_cast<std::ptrdiff_t>(most),
                                 [&](auto a, auto b) { return ranks[a] != ranks[b] ? ranks[a] > ranks[b] : a < b; });
        found.resize(most);
    }
    std::vector<bool> stays(nodes_.size());
    for (const std::uint32_t i : found) stays[i] = true;
    return stays;
}

// Of each node with all below it: its shares, added up.
std::vector<std::uint64_t> ContextTree::shares() const {
    std::vector<std::uint64_t> costs(costs_.width());
    std::vector<std::uint64_t> totals(costs.size());
    for (const Node& node : nodes_) {
        get_costs(node, costs);
        add(totals, costs);
    }
    std::vector<std::uint64_t> weights(costs.size());
    for (const auto& [event, weight] : kWeightedEvents) {
        const std::size_t at = column(event);
        if (at < totals.size() && totals[at] != 0) weights[at] = kWhole / totals[at] * weight;
    }
    std::vector<std::uint64_t> shares(nodes_.size());
    for (std::size_t i = nodes_.size() - 1; i != 0; --i) {
        get_costs(nodes_[i], costs);
        for (std::size_t at = 0; at < costs.size(); ++at) shares[i] += costs[at] * weights[at];
        shares[index_of(nodes_[i].parent)] += shares[i];
    }
    return shares;
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
    stats.bytes = nodes_.capacity() * sizeof(Node) + costs_.bytes() + free_costs_.capacity() * sizeof(CostId) +
                  steps_.capacity() * sizeof(Step) + arc_steps_.capacity() * sizeof(std::uint32_t) +
                  latest_.capacity() * sizeof(Latest) + children_.bucket_count() * (sizeof(*children_.begin()) + 1) +
                  step_numbers_.bucket_count() * (sizeof(*step_numbers_.begin()) + 1);
    return stats;
}

}  // namespace bd
