// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a line that leaves a level adds to the sums that stand in the columns of UseColumn.

#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/cache/cache_sink.h"
#include "engine/costs/level_events.h"

namespace bd {

class UseSums {
public:
    [[gnu::always_inline]] explicit UseSums(const EvictEvent& event)
        : rarity_(rarity_of(event.accesses)),
          accesses_(event.accesses),
          used_bytes_(event.used_bytes),
          unused_bytes_(event.line_bytes - event.used_bytes),
          is_data_(event.target.loaded_by == Reference::kData) {}

    // Adds them `times` times to those of all lines and, if data has loaded the line, to the same of data.
    [[gnu::always_inline]] void add_to(std::uint64_t* counts, std::uint64_t times) const {
        add(counts, times);
        if (is_data_) add(counts + kUseColumns, times);
    }

private:
    // A line that was never touched (only a prefetch does that) is as bad as one touched once.
    static std::uint64_t rarity_of(std::uint64_t accesses) {
        return accesses > 1000 ? 0 : 1000u / std::max(static_cast<unsigned>(accesses), 1u);
    }
    [[gnu::always_inline]] void add(std::uint64_t* use, std::uint64_t times) const {
        use[kRareUse] += times * rarity_;
        use[kUnusedBytes] += times * unused_bytes_;
        use[kLinesEvicted] += times;
        use[kUsedBytes] += times * used_bytes_;
        use[kAccesses] += times * accesses_;
    }

    std::uint64_t rarity_;
    std::uint64_t accesses_;
    std::uint64_t used_bytes_;
    std::uint64_t unused_bytes_;
    bool is_data_;
};

}  // namespace bd
