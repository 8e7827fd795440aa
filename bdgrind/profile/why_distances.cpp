// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/why_distances.h"

#include <algorithm>
#include <array>
#include <vector>

#include "profile/why_section.h"

namespace bd {

void DistanceSection::collect(WhyPlaces* places, NameLists* names) const {
    distances_.for_each([&](CostId instruction, unsigned, const DistanceCount&) { places->use(instruction, names); });
}

void DistanceSection::write(TextOutput& out, const WhyPlaces& places) const {
    using Row = std::array<std::uint64_t, 4>;
    std::vector<Row> rows;
    distances_.for_each([&](CostId instruction, unsigned bucket, const DistanceCount& count) {
        if (places.has(instruction)) rows.push_back({places[instruction], bucket, count.misses, count.ll_misses});
    });
    std::ranges::sort(rows);
    // One place may have several costs.
    std::vector<Row> sums;
    for (const Row& row : rows) {
        if (sums.empty() || sums.back()[0] != row[0] || sums.back()[1] != row[1]) {
            sums.push_back(row);
        } else {
            sums.back()[2] += row[2];
            sums.back()[3] += row[3];
        }
    }
    write_section(out, "distances: place bucket misses llmisses", sums);
}

}  // namespace bd
