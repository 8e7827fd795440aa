// SPDX-License-Identifier: GPL-2.0-or-later

#include <array>

#include "choice.h"
#include "engine/sharing/coherence_marks.h"
#include "scenario.h"

namespace bd::test {

Scenario with_cores(const Scenario& plain, unsigned seed) {
    Choice choice(seed);
    const auto below = [&](std::uint64_t limit) { return choice.below(limit); };
    Scenario scenario = plain;
    scenario.records.clear();
    scenario.cores = static_cast<std::uint32_t>(choice.chance(25) ? kMostCores : choice.between(1, 3));
    const auto mark = [&](Marker marker, const std::array<Word, kMarkerValues>& values) {
        scenario.records.push_back(marker_record(marker, values[0], values[1], values[2]));
    };
    for (const Scenario::Record& record : plain.records) {
        scenario.records.push_back(record);
        // Threads may use one processor only, now and then another one.
        if (record.is_marker && record.marker == Marker::kThread && choice.chance(30)) {
            scenario.records.back().values[1] = choice.between(1, 200);
        }
        // Now and then what no trace has: an access that is not there, and something that stands behind no block.
        while (below(record.is_marker ? 20 : 4) == 0) {
            const std::size_t accesses = record.addresses.size();
            const std::size_t access = below(accesses + 1);
            CoherenceMark what{.access = static_cast<std::uint16_t>(access),
                               .core = static_cast<std::uint8_t>(below(4)),
                               .invalidated = static_cast<std::uint8_t>(below(3)),
                               .transferred = below(2) == 0,
                               .lost = below(2) == 0,
                               .is_write = below(2) == 0,
                               .is_atomic = below(2) == 0,
                               .is_followed = below(2) == 0,
                               .bytes = static_cast<std::uint32_t>(1 + below(8))};
            what.address = access < accesses ? record.addresses[access] : 0x1000 + below(0x1000);
            mark(Marker::kCoherence, what.to_values());
            if (below(2) == 0) continue;
            mark(Marker::kCoreUse, CoreUseMark{.line = what.address & ~Address{63},
                                               .core = static_cast<std::uint8_t>(below(4)),
                                               .kind = static_cast<SharingKind>(below(4)),
                                               .read = choice.any(),
                                               .written = choice.any()}
                                       .to_values());
        }
    }
    return scenario;
}

}  // namespace bd::test
