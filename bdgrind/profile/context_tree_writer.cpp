// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/context_tree_writer.h"

#include <algorithm>
#include <numeric>

#include "profile/binary_column.h"

namespace bd {
namespace {

// A column is as wide as the largest value of a block needs; fewer nodes make more of these, and more heads.
constexpr std::size_t kBlockNodes = 4096;
static_assert(kBlockNodes <= kMostColumnValues);

bool has_counts(const ContextTree::Node& node, ConstCosts costs) {
    return node.calls != 0 || std::ranges::any_of(costs, [](std::uint64_t count) { return count != 0; });
}

// Calls use(id) for each node that belongs to a thread (0: to any), parents first.
template <class Use>
void for_each_node(const ContextTree& tree, std::uint32_t thread, Use use) {
    std::vector<bool> meant(tree.nodes().size());
    for (std::uint32_t id = 1; id < tree.nodes().size(); ++id) {
        const ContextTree::Node& node = tree.nodes()[id];
        meant[id] =
            thread == 0 || (tree.is_root(node) ? tree.root_of(node).thread == thread : meant[index_of(node.parent)]);
        if (meant[id]) use(id);
    }
}

}  // namespace

ContextTreeWriter::ContextTreeWriter(TextOutput& out, const Engine& engine, bool compat_events)
    : out_(out), engine_(engine), tree_(*engine.context_tree()), events_{engine.events(), compat_events} {}

void ContextTreeWriter::write(const RunDescription& run) {
    choose_nodes(run.thread);
    collect_names();
    const ContextTreeRules& rules = tree_.rules();
    out_ << "contexts: 1\n";
    write_process(out_, run);
    write_descriptions(out_, run);
    out_ << "recursion: " << (rules.recursion == ContextRecursion::kFolded ? "folded" : "apart")
         << "\nlimit: " << rules.most_nodes << '\n';
    write_events(out_, events_);
    out_ << "columns: depth function calls" << (rules.by_site ? " file line address" : "") << '\n';
    write_names();
    write_nodes();
}

// In preorder; siblings in the order in which they were first called.
void ContextTreeWriter::choose_nodes(std::uint32_t thread) {
    std::vector<std::uint32_t> meant;
    for_each_node(tree_, thread, [&](std::uint32_t id) { meant.push_back(id); });
    std::vector<std::uint32_t> first_child(tree_.nodes().size());  // of what is written; those of 0 are the roots
    std::vector<std::uint32_t> next_sibling(tree_.nodes().size());
    std::vector<std::uint64_t> costs(engine_.events().width());
    for (auto id = meant.rbegin(); id != meant.rend(); ++id) {
        const ContextTree::Node& node = tree_.nodes()[*id];
        tree_.get_costs(node, costs);
        if (first_child[*id] == 0 && !has_counts(node, costs)) continue;
        next_sibling[*id] = first_child[index_of(node.parent)];
        first_child[index_of(node.parent)] = *id;
    }
    std::uint32_t depth = 0;
    for (std::uint32_t id = first_child[0]; id != 0;) {
        nodes_.push_back(id);
        depths_.push_back(depth);
        if (depth == 0) roots_.push_back(id);
        if (first_child[id] != 0) {
            id = first_child[id];
            ++depth;
            continue;
        }
        while (id != 0 && next_sibling[id] == 0) {
            id = index_of(tree_.nodes()[id].parent);
            --depth;
        }
        if (id != 0) id = next_sibling[id];
    }
}

void ContextTreeWriter::collect_names() {
    for (const std::uint32_t id : nodes_) {
        const ContextTree::Node& node = tree_.nodes()[id];
        if (tree_.is_root(node) || tree_.is_other(node)) continue;
        const ContextTree::Step& step = tree_.steps()[node.step];
        if (step.site) names_.add(*place(step).file);
        names_.add(*step.context);
    }
}

void ContextTreeWriter::write_names() {
    names_.write(out_, engine_);
    out_ << "roots: " << roots_.size() << '\n';
    for (const std::uint32_t id : roots_) {
        const ContextRoot& root = tree_.root_of(tree_.nodes()[id]);
        if (root.is_handler) {
            out_ << "signal " << root.signal << ' ' << root.thread << '\n';
        } else {
            out_ << "thread " << root.thread << '\n';
        }
    }
    out_ << "nodes:\n";
}

ContextTreeWriter::Place ContextTreeWriter::place(const ContextTree::Step& step) const {
    const Block& block = *step.site.from->block;
    const Exit& exit = block.exits()[step.site.exit];
    const Instruction& caller = block.instructions()[exit.instructions - 1u];
    return {caller.file, caller.line, exit.branch_address() - block.load_bias};
}

void ContextTreeWriter::write_nodes() {
    const std::size_t width = engine_.events().width();
    std::vector<std::uint64_t> totals(width);
    std::uint64_t calls = 0;
    for (std::size_t done = 0; done < nodes_.size();) {
        const std::size_t count = std::min(kBlockNodes, nodes_.size() - done);
        const Piece piece{std::span(nodes_).subspan(done, count), std::span(depths_).subspan(done, count)};
        write_binary(out_, count, 2);
        calls += write_paths(piece);
        add(totals, write_costs(piece));
        done += count;
    }
    write_binary(out_, 0, 2);
    write_binary(out_, nodes_.size(), kTotalBytes);
    write_binary(out_, calls, kTotalBytes);
    for (std::size_t event = 0; event < width; ++event) {
        if (events_.has(event)) write_binary(out_, totals[event], kTotalBytes);
    }
}

// Returns the sum of the calls.
std::uint64_t ContextTreeWriter::write_paths(const Piece& piece) {
    const auto write = [&](auto value_of) {
        values_.clear();
        for (const std::uint32_t id : piece.nodes) values_.push_back(value_of(tree_.nodes()[id]));
        write_column(out_, values_);
        return std::accumulate(values_.begin(), values_.end(), std::uint64_t{0});
    };
    values_.assign(piece.depths.begin(), piece.depths.end());
    write_column(out_, values_);
    write([&](const ContextTree::Node& node) -> std::uint64_t {
        if (tree_.is_root(node)) return root_number_++;
        return tree_.is_other(node) ? 0 : names_[*tree_.steps()[node.step].context];
    });
    const std::uint64_t calls = write([](const ContextTree::Node& node) { return node.calls; });
    if (!tree_.rules().by_site) return calls;
    const auto write_place = [&](auto value_of) {
        write([&](const ContextTree::Node& node) -> std::uint64_t {
            const bool is_function = !tree_.is_root(node) && !tree_.is_other(node);
            if (!is_function || !tree_.steps()[node.step].site) return 0;
            return value_of(place(tree_.steps()[node.step]));
        });
    };
    write_place([&](const Place& place) { return names_[*place.file]; });
    write_place([](const Place& place) { return place.line; });
    write_place([](const Place& place) { return place.address; });
    return calls;
}

// Returns the sums, by event.
std::vector<std::uint64_t> ContextTreeWriter::write_costs(const Piece& piece) {
    const std::size_t width = engine_.events().width();
    rows_.resize(piece.nodes.size() * width);
    for (std::size_t i = 0; i < piece.nodes.size(); ++i) {
        tree_.get_costs(tree_.nodes()[piece.nodes[i]], Costs(&rows_[i * width], width));
    }
    std::vector<std::uint64_t> sums(width);
    for (std::size_t event = 0; event < width; ++event) {
        if (!events_.has(event)) continue;
        values_.clear();
        for (std::size_t i = event; i < rows_.size(); i += width) values_.push_back(rows_[i]);
        write_column(out_, values_);
        sums[event] = std::accumulate(values_.begin(), values_.end(), std::uint64_t{0});
    }
    return sums;
}

std::vector<std::uint64_t> costs_of_other_paths(const Engine& engine, std::uint32_t thread) {
    const ContextTree& tree = *engine.context_tree();
    std::vector<std::uint64_t> sums(engine.events().width());
    std::vector<std::uint64_t> costs(sums.size());
    for_each_node(tree, thread, [&](std::uint32_t id) {
        const ContextTree::Node& node = tree.nodes()[id];
        if (!tree.is_other(node)) return;
        tree.get_costs(node, costs);
        add(sums, costs);
    });
    return sums;
}

}  // namespace bd
