// SPDX-License-Identifier: GPL-2.0-or-later
//
// D1's data misses by LRU stack distance, inclusively: for each function, and each pair of a function and one that it
// calls, the misses while these were open. Misses are noted by their node in the calling context tree. When there are
// many notes, they are summed up along the tree's paths.

#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/types.h"
#include "engine/costs/context_tree.h"
#include "engine/why/distances.h"

namespace bd {

// `callee` null: all misses of the function; else those within its calls of `callee`. A miss counts once, however often
// the function or the call is on its path.
struct InclusiveKey {
    const Context* function = nullptr;
    const Context* callee = nullptr;
    unsigned bucket = 0;
    bool operator==(const InclusiveKey&) const = default;
};

class PathDistances {
public:
    // With null for `tree`, nothing is noted.
    explicit PathDistances(const ContextTree* tree) : tree_(tree) {}

    void add(ContextNodeId node, unsigned bucket, bool misses_ll) {
        if (notes_.size() >= kMostNotes) sum_up();
        DistanceCount& count = notes_[std::uint64_t{index_of(node)} << kBucketBits | bucket];
        ++count.misses;
        count.ll_misses += misses_ll;
    }

    // Adds what has been noted to the sums.
    void sum_up();
    // Calls function(key, count) for all sums, in no particular order.
    template <class Function>
    void for_each(Function function) const {
        for (const auto& [key, count] : sums_) function(key, count);
    }

    void clear();
    // Drops the sums of functions of one guest thread.
    void drop(std::uint32_t thread);

private:
    static constexpr unsigned kBucketBits = 8;
    static constexpr std::size_t kMostNotes = std::size_t{1} << 18;
    // With more sums, those of calls are dropped for good; if that is not enough, all are.
    static constexpr std::size_t kMostSums = std::size_t{1} << 19;

    using Histogram = std::vector<std::pair<unsigned, DistanceCount>>;  // by bucket
    struct KeyHash {
        std::size_t operator()(const InclusiveKey& key) const {
            const auto number = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
            return (number(key.function) * 31 + number(key.callee)) * 257 + key.bucket;
        }
    };
    class Walk;

    void add_sums(const Context* function, const Context* callee, const Histogram& histogram);

    const ContextTree* const tree_;
    boost::unordered_flat_map<std::uint64_t, DistanceCount> notes_;  // by node and bucket
    boost::unordered_flat_map<InclusiveKey, DistanceCount, KeyHash> sums_;
    bool has_callees_ = true;
    bool has_functions_ = true;
};

}  // namespace bd
