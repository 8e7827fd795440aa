// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/why/reuse_sums.h"

#include <algorithm>
#include <utility>

namespace bd {

std::uint32_t ReuseSums::find_or_make(const ReuseKey& key) {
    const auto known = by_key_.find(key);
    if (known != by_key_.end()) return known->second;
    if (rows_.size() >= most_rows_) fold();
    const auto [entry, is_new] = by_key_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
    if (is_new) rows_.push_back({key});
    return entry->second;
}

void ReuseSums::clear() {
    rows_.clear();
    by_key_.clear();
}

// Until a quarter of them are free.
void ReuseSums::fold() {
    for (const Forgotten what : {Forgotten::kDrivenOut, Forgotten::kLoaded, Forgotten::kMissed}) {
        if (rows_.size() > most_rows_ / 4 * 3) forget(what);
    }
}

void ReuseSums::forget(Forgotten what) {
    std::vector<std::uint64_t> counts;
    for (const ReuseSum& sum : rows_) counts.push_back(sum.misses);
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>((counts.size() - 1) / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    const std::vector<ReuseSum> before = std::exchange(rows_, {});
    by_key_.clear();
    for (const ReuseSum& sum : before) {
        ReuseKey key = sum.key;
        if (sum.misses <= *middle) {
            key.driven_out_by = kNoCost;
            if (what != Forgotten::kDrivenOut) key.loaded_by = kNoCost;
            if (what == Forgotten::kMissed) {
                key.missed = kNoCost;
                key.scope = 0;
            }
        }
        const auto [entry, is_new] = by_key_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
        if (is_new) rows_.push_back({key});
        ReuseSum& kept = rows_[entry->second];
        kept.misses += sum.misses;
        kept.ll_misses += sum.ll_misses;
        kept.distance += sum.distance;
    }
}

void ReuseSums::note_rows() {
    by_key_.clear();
    for (std::size_t i = 0; i < rows_.size(); ++i) by_key_.emplace(rows_[i].key, static_cast<std::uint32_t>(i));
}

}  // namespace bd
