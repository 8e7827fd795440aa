// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/why/reuse_sums.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace bd {

std::uint32_t ReuseSums::make(const ReuseKey& key) {
    if (rows_.size() >= most_rows_) {
        fold();
        const std::uint32_t row = find(key);
        if (row != rows_.kNone) return row;
    }
    return rows_.add(hash_of(key), {key});
}

void ReuseSums::clear() {
    rows_.clear();
}

// Until a quarter of them are free.
void ReuseSums::fold() {
    for (const Forgotten what : {Forgotten::kEvicted, Forgotten::kLoaded, Forgotten::kMissed}) {
        if (rows_.size() > most_rows_ / 4 * 3) forget(what);
    }
}

void ReuseSums::forget(Forgotten what) {
    std::vector<std::uint64_t> counts;
    counts.reserve(rows_.size());
    for (const ReuseSum& sum : rows_) counts.push_back(sum.misses);
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>((counts.size() - 1) / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    const RowTable<ReuseSum> before = std::exchange(rows_, {});
    for (const ReuseSum& sum : before) {
        ReuseKey key = sum.key;
        if (sum.misses <= *middle) {
            key.evicted_by = kNoCost;
            if (what != Forgotten::kEvicted) key.loaded_by = kNoCost;
            if (what == Forgotten::kMissed) {
                key.missed = kNoCost;
                key.scope = 0;
            }
        }
        ReuseSum& kept = rows_[find_or_make(key)];
        kept.misses += sum.misses;
        kept.ll_misses += sum.ll_misses;
        kept.distance += sum.distance;
    }
}

}  // namespace bd
