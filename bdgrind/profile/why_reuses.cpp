// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/why_reuses.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/cache/reuse.h"
#include "profile/why_section.h"

namespace bd {
namespace {

std::uint64_t number_of(Cause cause) {
    switch (cause) {
        case Cause::kFirst:
            return 1;
        case Cause::kCapacity:
            return 2;
        case Cause::kConflict:
            return 3;
        case Cause::kNone:
            break;
    }
    return 0;
}

}  // namespace

void ReuseSection::collect(WhyPlaces* places, WhyScopes* scopes, NameLists* names) const {
    for (const ReuseSum& sum : sums_) {
        if (!has(sum.key, *places)) continue;
        for (const CostId place : {sum.key.missed, sum.key.loaded_by, sum.key.evicted_by}) {
            if (place != kNoCost) places->use(place, names);
        }
        if (sum.key.scope != 0) scopes->use(scopes_[sum.key.scope - 1], names);
    }
}

void ReuseSection::write(TextOutput& out, const WhyPlaces& places, const WhyScopes& scopes) const {
    constexpr std::size_t kKeys = 5;
    using Row = std::array<std::uint64_t, kKeys + 3>;
    std::vector<Row> rows;
    for (const ReuseSum& sum : sums_) {
        const ReuseKey& key = sum.key;
        if (!has(key, places)) continue;
        rows.push_back({places[key.missed], places[key.loaded_by], places[key.evicted_by],
                        key.scope == 0 ? 0 : scopes[scopes_[key.scope - 1]], number_of(static_cast<Cause>(key.cause)),
                        sum.misses, sum.ll_misses, sum.distance});
    }
    std::ranges::sort(rows);
    // One place may have several costs.
    std::vector<Row> sums;
    for (const Row& row : rows) {
        if (sums.empty() || !std::equal(row.begin(), row.begin() + kKeys, sums.back().begin())) {
            sums.push_back(row);
        } else {
            for (std::size_t i = kKeys; i < row.size(); ++i) sums.back()[i] += row[i];
        }
    }
    write_section(out, "reuses: place before evictor scope cause misses llmisses distance", sums);
}

}  // namespace bd
