// SPDX-License-Identifier: GPL-2.0-or-later
//
// Misses of D1, summed up by the instruction that missed, the one that had loaded the line before, the one whose miss
// had evicted it, the scope that carries the reuse, and the cause. There are at most kMostRows sums. Before there are
// more, the rarer half is merged with sums that lack the evicting instruction; if that is not enough, the loading one;
// and at last the missing one, too, which leaves only sums by cause.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/base/row_table.h"
#include "engine/base/types.h"

namespace bd {

struct ReuseKey {
    CostId missed = kNoCost;  // the instruction that missed; kNoCost: any
    CostId loaded_by = kNoCost;
    CostId evicted_by = kNoCost;
    std::uint32_t scope = 0;  // its number; 0: none
    std::uint32_t cause = 0;  // a number that the caller chooses

    std::uint64_t hash() const {
        std::uint64_t mixed = std::uint64_t{index_of(loaded_by)} << 32 | index_of(missed);
        mixed = (mixed * 0x9e3779b97f4a7c15 ^ (std::uint64_t{scope} << 32 | index_of(evicted_by)) ^ cause << 30) *
                0xff51afd7ed558ccd;
        return mixed ^ mixed >> 32;
    }
    bool operator==(const ReuseKey&) const = default;
};

struct ReuseSum {
    ReuseKey key;
    std::uint64_t misses = 0;
    std::uint64_t ll_misses = 0;  // those that also missed LL
    std::uint64_t distance = 0;   // the sum of their LRU stack distances
};

class ReuseSums {
public:
    static constexpr std::size_t kMostRows = 1u << 16;

    explicit ReuseSums(std::size_t most_rows = kMostRows) : most_rows_(most_rows) {}

    // Counts `times` misses, each at `distance` (an LRU stack distance in lines).
    [[gnu::always_inline]] void add(const ReuseKey& key, std::uint64_t distance, bool misses_ll, std::uint64_t times) {
        ReuseSum& sum = rows_[find_or_make(key)];
        sum.misses += times;
        if (misses_ll) sum.ll_misses += times;
        sum.distance += distance * times;
    }

    // In the order in which they were added, except for sums that have been merged.
    const RowTable<ReuseSum>& all() const { return rows_; }

    void clear();
    // Drops the sums of all missing instructions for which is_meant(instruction) holds.
    template <class IsMeant>
    void drop_if(IsMeant is_meant) {
        const RowTable<ReuseSum> before = std::exchange(rows_, {});
        for (const ReuseSum& sum : before) {
            if (sum.key.missed == kNoCost || !is_meant(sum.key.missed)) rows_.add(hash_of(sum.key), sum);
        }
    }

private:
    enum class Forgotten { kEvicted, kLoaded, kMissed };

    static std::uint32_t hash_of(const ReuseKey& key) { return static_cast<std::uint32_t>(key.hash()); }
    [[gnu::always_inline]] std::uint32_t find(const ReuseKey& key) const {
        return rows_.find(hash_of(key), [&key](const ReuseSum& sum) { return sum.key == key; });
    }
    [[gnu::always_inline]] std::uint32_t find_or_make(const ReuseKey& key) {
        const std::uint32_t row = find(key);
        return __builtin_expect(row != rows_.kNone, 1) ? row : make(key);
    }
    [[gnu::noinline]] std::uint32_t make(const ReuseKey& key);
    void fold();
    void forget(Forgotten what);

    std::size_t most_rows_;
    RowTable<ReuseSum> rows_;
};

}  // namespace bd
