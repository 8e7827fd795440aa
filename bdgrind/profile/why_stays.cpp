// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/why_stays.h"

#include <algorithm>
#include <array>

#include "profile/why_section.h"

namespace bd {

void StaySection::collect(WhyPlaces* places, NameLists* names) const {
    for (const StaySum& sum : sums_) {
        if (sum.key.loaded_by != kNoCost) places->use(sum.key.loaded_by, names);
    }
}

void StaySection::write(TextOutput& out, const WhyPlaces& places) const {
    using Row = std::array<std::uint64_t, 6>;
    std::vector<Row> rows;
    for (const StaySum& sum : sums_) {
        if (sum.key.loaded_by != kNoCost && !places.has(sum.key.loaded_by)) continue;
        rows.push_back({places[sum.key.loaded_by], sum.key.group < groups_.size() ? groups_[sum.key.group] : 0,
                        sum.stays, sum.unused, sum.late, sum.never});
    }
    std::ranges::sort(rows);
    std::vector<Row> sums;
    for (const Row& row : rows) {
        if (sums.empty() || sums.back()[0] != row[0] || sums.back()[1] != row[1]) {
            sums.push_back(row);
        } else {
            for (std::size_t i = 2; i < row.size(); ++i) sums.back()[i] += row[i];
        }
    }
    write_section(out, "stays: place group lines unused late never", sums);
}

}  // namespace bd
