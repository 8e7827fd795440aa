// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/why/path_distances.h"

#include <algorithm>

namespace bd {

// Visits all nodes that lead to a note, in preorder. When a node is left, what it has is added to its parent.
class PathDistances::Walk {
public:
    Walk(PathDistances& paths, const ContextTree& tree) : paths_(paths), tree_(tree) {}

    void run() {
        collect();
        for (std::uint32_t id = first_child_[0]; id != 0;) {
            enter(id);
            if (first_child_[id] != 0) {
                id = first_child_[id];
                continue;
            }
            while (id != 0) {
                leave(id);
                if (next_sibling_[id] != 0) break;
                id = index_of(tree_.nodes()[id].parent);
            }
            if (id != 0) id = next_sibling_[id];
        }
    }

private:
    using Call = std::pair<const Context*, const Context*>;
    struct CallHash {
        std::size_t operator()(const Call& call) const {
            const auto number = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
            return number(call.first) * 31 + number(call.second);
        }
    };
    struct Open {
        std::uint32_t id;
        const Context* function;  // null: not known
        Histogram histogram;      // so far
    };

    // The notes, by node, and a tree of the nodes above them, whose root is node 0.
    void collect() {
        for (const auto& [key, count] : paths_.notes_) notes_.emplace_back(key, count);
        std::ranges::sort(notes_, {}, [](const auto& note) { return note.first; });
        const std::size_t nodes = tree_.nodes().size();
        first_child_.resize(nodes);
        next_sibling_.resize(nodes);
        std::vector<bool> known(nodes);
        for (const auto& note : notes_) {
            for (auto id = static_cast<std::uint32_t>(note.first >> kBucketBits); id != 0 && !known[id];) {
                known[id] = true;
                const std::uint32_t parent = index_of(tree_.nodes()[id].parent);
                next_sibling_[id] = std::exchange(first_child_[parent], id);
                id = parent;
            }
        }
    }

    void enter(std::uint32_t id) {
        const ContextTree::Node& node = tree_.nodes()[id];
        const Context* const function = tree_.is_root(node) ? nullptr : tree_.steps()[node.step].context;
        if (function != nullptr) {
            ++open_functions_[function];
            if (caller() != nullptr) ++open_calls_[{caller(), function}];
        }
        open_.push_back({id, function, notes_of(id)});
    }

    void leave(std::uint32_t id) {
        Open left = std::move(open_.back());
        open_.pop_back();
        BD_CHECK_OP(left.id, ==, id);
        if (left.function != nullptr) {
            if (--open_functions_[left.function] == 0) paths_.add_sums(left.function, nullptr, left.histogram);
            if (caller() != nullptr && --open_calls_[{caller(), left.function}] == 0) {
                paths_.add_sums(caller(), left.function, left.histogram);
            }
        }
        if (!open_.empty()) add_to(open_.back().histogram, std::move(left.histogram));
    }

    const Context* caller() const { return open_.empty() ? nullptr : open_.back().function; }

    Histogram notes_of(std::uint32_t id) const {
        Histogram found;
        const auto begin = std::ranges::lower_bound(notes_, std::uint64_t{id} << kBucketBits, {},
                                                    [](const auto& note) { return note.first; });
        for (auto note = begin; note != notes_.end() && note->first >> kBucketBits == id; ++note) {
            found.emplace_back(static_cast<unsigned>(note->first & ((1u << kBucketBits) - 1)), note->second);
        }
        return found;
    }

    static void add_to(Histogram& sum, Histogram more) {
        if (sum.empty()) {
            sum = std::move(more);
            return;
        }
        Histogram both;
        both.reserve(sum.size() + more.size());
        auto other = more.begin();
        for (const auto& mine : sum) {
            for (; other != more.end() && other->first < mine.first; ++other) both.push_back(*other);
            both.push_back(mine);
            if (other == more.end() || other->first != mine.first) continue;
            both.back().second.misses += other->second.misses;
            both.back().second.ll_misses += other->second.ll_misses;
            ++other;
        }
        both.insert(both.end(), other, more.end());
        sum = std::move(both);
    }

    PathDistances& paths_;
    const ContextTree& tree_;
    std::vector<std::pair<std::uint64_t, DistanceCount>> notes_;  // by node and bucket
    std::vector<std::uint32_t> first_child_;
    std::vector<std::uint32_t> next_sibling_;
    std::vector<Open> open_;
    boost::unordered_flat_map<const Context*, std::uint32_t> open_functions_;
    boost::unordered_flat_map<Call, std::uint32_t, CallHash> open_calls_;
};

void PathDistances::sum_up() {
    if (notes_.empty()) return;
    if (has_functions_) Walk(*this, *tree_).run();
    notes_.clear();
}

void PathDistances::add_sums(const Context* function, const Context* callee, const Histogram& histogram) {
    for (const auto& [bucket, count] : histogram) {
        if (sums_.size() >= kMostSums) {
            if (has_callees_) {
                boost::unordered::erase_if(sums_, [](const auto& entry) { return entry.first.callee != nullptr; });
            } else {
                has_functions_ = false;
                sums_.clear();
            }
            has_callees_ = false;
        }
        if (!has_functions_ || (callee != nullptr && !has_callees_)) return;
        DistanceCount& sum = sums_[{function, callee, bucket}];
        sum.misses += count.misses;
        sum.ll_misses += count.ll_misses;
    }
}

void PathDistances::clear() {
    notes_.clear();
    sums_.clear();
}

void PathDistances::drop(std::uint32_t thread) {
    sum_up();
    boost::unordered::erase_if(sums_, [thread](const auto& entry) { return entry.first.function->thread() == thread; });
}

}  // namespace bd
