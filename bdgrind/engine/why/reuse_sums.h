// SPDX-License-Identifier: GPL-2.0-or-later
//
// Misses of lines in D1, summed up by who missed, who had loaded the line before, who had driven it out, which scope
// carries the reuse, and why it missed. There are not more sums than kMostRows: when there would be, the rarer half
// forgets who drove out, then who had loaded before, and at last who missed, which leaves but sums of each cause.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/types.h"

namespace bd {

struct ReuseKey {
    CostId missed = kNoCost;  // by this instruction; kNoCost: by any
    CostId loaded_by = kNoCost;
    CostId driven_out_by = kNoCost;
    std::uint32_t scope = 0;  // by number; 0: none
    std::uint32_t cause = 0;  // by a number that means nothing here

    std::uint64_t hash() const {
        std::uint64_t mixed = std::uint64_t{index_of(loaded_by)} << 32 | index_of(missed);
        mixed = (mixed * 0x9e3779b97f4a7c15 ^ (std::uint64_t{scope} << 32 | index_of(driven_out_by)) ^ cause << 30) *
                0xff51afd7ed558ccd;
        return mixed ^ mixed >> 32;
    }
    bool operator==(const ReuseKey&) const = default;
};

struct ReuseSum {
    ReuseKey key;
    std::uint64_t misses = 0;
    std::uint64_t ll_misses = 0;  // of these, by the same access to the same line
    std::uint64_t distance = 0;   // the sum of their LRU stack distances
};

class ReuseSums {
public:
    static constexpr std::size_t kMostRows = 1u << 16;

    explicit ReuseSums(std::size_t most_rows = kMostRows) : most_rows_(most_rows) {}

    [[gnu::always_inline]] void add(const ReuseKey& key, std::uint32_t distance, bool misses_ll) {
        const std::uint64_t hash = key.hash();
        std::uint32_t& recent = recent_[hash % kRecent];
        if (__builtin_expect(recent >= rows_.size() || rows_[recent].key != key, 0)) recent = find_or_make(key);
        ReuseSum& sum = rows_[recent];
        ++sum.misses;
        sum.ll_misses += misses_ll;
        sum.distance += distance;
    }

    // In the order in which they came, but where some have forgotten something.
    std::span<const ReuseSum> all() const { return rows_; }

    void clear();
    // Drops what was missed by whom `is_meant`.
    template <class IsMeant>
    void drop_if(IsMeant is_meant) {
        std::erase_if(rows_,
                      [&](const ReuseSum& sum) { return sum.key.missed != kNoCost && is_meant(sum.key.missed); });
        note_rows();
    }

private:
    static constexpr std::size_t kRecent = 4096;
    struct KeyHash {
        using is_avalanching = void;
        std::size_t operator()(const ReuseKey& key) const { return static_cast<std::size_t>(key.hash()); }
    };
    enum class Forgotten { kDrivenOut, kLoaded, kMissed };

    [[gnu::noinline]] std::uint32_t find_or_make(const ReuseKey& key);
    void fold();
    void forget(Forgotten what);
    void note_rows();

    std::size_t most_rows_;
    std::vector<ReuseSum> rows_;
    boost::unordered_flat_map<ReuseKey, std::uint32_t, KeyHash> by_key_;  // in rows_
    std::array<std::uint32_t, kRecent> recent_{};                         // by hash: where such a one was last
};

}  // namespace bd
