// SPDX-License-Identifier: GPL-2.0-or-later
//
// D1's data misses by instruction and LRU stack distance: a histogram for each, in steps of a quarter power of two.

#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/base/row_table.h"
#include "engine/base/types.h"

namespace bd {

struct DistanceCount {
    std::uint64_t misses = 0;
    std::uint64_t ll_misses = 0;  // of these
};

class Distances {
public:
    // Bucket 0 has the first touches. Bucket b >= 1 has the distances d with b = 1 + floor(4 * log2(d)); bucket 1 also
    // has d = 0. A cache of 2^k lines misses at distances of 2^k and more, which is a number of whole buckets.
    static unsigned bucket_of(std::uint32_t distance) {
        const std::uint64_t number = distance == 0 ? 1 : distance;
        const auto log = static_cast<unsigned>(std::bit_width(number)) - 1;
        const std::uint64_t scaled = number << 31 >> log;  // from 2^31 on
        return 1 + 4 * log + (scaled >= kQuarter) + (scaled >= kHalf) + (scaled >= kThreeQuarters);
    }
    static constexpr unsigned kFirstTouch = 0;

    // Counts a miss of one line. `instruction` has the costs of the instruction that missed it; with data objects, its
    // costs for the group that the line belongs to.
    void add(CostId instruction, unsigned bucket, bool misses_ll) {
        const std::uint64_t key = std::uint64_t{index_of(instruction)} << kBucketBits | bucket;
        Row*& recent = recent_[hash_of(key) % kRecent];
        if (recent == nullptr || recent->key != key) recent = &find_or_make(key);
        ++recent->count.misses;
        recent->count.ll_misses += misses_ll;
    }

    // Calls function(instruction, bucket, count) for all counts, in no particular order.
    template <class Function>
    void for_each(Function function) const {
        for (const Row& row : counts_) function(instruction_of(row.key), bucket_of_key(row.key), row.count);
    }

    void clear() {
        counts_.clear();
        recent_ = {};
    }
    // Drops the counts of all instructions for which is_meant(instruction) holds.
    template <class IsMeant>
    void drop_if(IsMeant is_meant) {
        const RowTable<Row> before = std::exchange(counts_, {});
        recent_ = {};
        for (const Row& row : before) {
            if (!is_meant(instruction_of(row.key))) counts_.add(hash_of(row.key), row);
        }
    }

private:
    static constexpr unsigned kBucketBits = 8;
    // 2^31 times 2^(1/4), 2^(1/2) and 2^(3/4), rounded up: none of them is a whole number.
    static constexpr std::uint64_t kQuarter = 2553802834;
    static constexpr std::uint64_t kHalf = 3037000500;
    static constexpr std::uint64_t kThreeQuarters = 3611622603;

    static CostId instruction_of(std::uint64_t key) { return CostId{static_cast<std::uint32_t>(key >> kBucketBits)}; }
    static unsigned bucket_of_key(std::uint64_t key) { return static_cast<unsigned>(key & ((1u << kBucketBits) - 1)); }

    struct Row {
        std::uint64_t key;  // instruction and bucket
        DistanceCount count;
    };
    static std::uint32_t hash_of(std::uint64_t key) {
        return static_cast<std::uint32_t>(key * 0x9e3779b97f4a7c15 >> 32);
    }

    [[gnu::noinline]] Row& find_or_make(std::uint64_t key) {
        const std::uint32_t hash = hash_of(key);
        std::uint32_t row = counts_.find(hash, [key](const Row& other) { return other.key == key; });
        if (row == counts_.kNone) row = counts_.add(hash, {key, {}});
        return counts_[row];
    }

    static constexpr std::size_t kRecent = 1024;

    RowTable<Row> counts_;
    std::array<Row*, kRecent> recent_{};  // by hash: the row used last; rows of `counts_` never move
};

}  // namespace bd
