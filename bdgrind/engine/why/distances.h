// SPDX-License-Identifier: GPL-2.0-or-later
//
// D1's data misses by instruction and LRU stack distance: a histogram for each, in steps of a quarter power of two.

#pragma once

#include <bit>
#include <cstdint>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/types.h"

namespace bd {

struct DistanceCount {
    std::uint64_t misses = 0;
    std::uint64_t ll_misses = 0;  // of these
};

class Distances {
public:
    // 0 is for first touches. Bucket b >= 1 has the distances d with b = 1 + floor(4 * log2(d)), and the first one has
    // d = 0, too: so a cache of 2^k lines, which has what lies fewer lines back, misses whole buckets.
    static unsigned bucket_of(std::uint32_t distance) {
        const std::uint64_t number = distance == 0 ? 1 : distance;
        const auto log = static_cast<unsigned>(std::bit_width(number)) - 1;
        const std::uint64_t scaled = number << 31 >> log;  // from 2^31 on
        return 1 + 4 * log + (scaled >= kQuarter) + (scaled >= kHalf) + (scaled >= kThreeQuarters);
    }
    static constexpr unsigned kFirstTouch = 0;

    // A line that the instruction with these costs missed; or, where there are data objects, these costs of it.
    void add(CostId instruction, unsigned bucket, bool misses_ll) {
        DistanceCount& count = counts_[std::uint64_t{index_of(instruction)} << kBucketBits | bucket];
        ++count.misses;
        count.ll_misses += misses_ll;
    }

    // function(instruction, bucket, count) for all, in no order.
    template <class Function>
    void for_each(Function function) const {
        for (const auto& [key, count] : counts_) function(instruction_of(key), bucket_of_key(key), count);
    }

    void clear() { counts_.clear(); }
    // Drops those of instructions that are `meant`.
    template <class IsMeant>
    void drop_if(IsMeant is_meant) {
        boost::unordered::erase_if(counts_, [&](const auto& entry) { return is_meant(instruction_of(entry.first)); });
    }

private:
    static constexpr unsigned kBucketBits = 8;
    // 2^31 times 2^(1/4), 2^(1/2) and 2^(3/4), rounded up: none of them is a whole number.
    static constexpr std::uint64_t kQuarter = 2553802834;
    static constexpr std::uint64_t kHalf = 3037000500;
    static constexpr std::uint64_t kThreeQuarters = 3611622603;

    static CostId instruction_of(std::uint64_t key) { return CostId{static_cast<std::uint32_t>(key >> kBucketBits)}; }
    static unsigned bucket_of_key(std::uint64_t key) { return static_cast<unsigned>(key & ((1u << kBucketBits) - 1)); }

    boost::unordered_flat_map<std::uint64_t, DistanceCount> counts_;  // by instruction and bucket
};

}  // namespace bd
