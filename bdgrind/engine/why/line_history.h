// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who had loaded a line the last time, and whose miss drove it out then: of each line that has left D1, in eight bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/line_table.h"
#include "engine/base/types.h"

namespace bd {

class LineHistory {
public:
    struct Past {
        CostId loaded_by = kNoCost;  // kNoCost: not charged then
        CostId driven_out_by = kNoCost;
    };

    explicit LineHistory(std::size_t d1_lines) : loaded_by_(d1_lines) {}

    // `line` is loaded into a slot of D1 instead of `evicted`, which may be kNoLine. Returns what is known of it.
    [[gnu::always_inline]] Past load(LineNumber line, std::uint32_t slot, LineNumber evicted, CostId by) {
        const CostId loaded_by = std::exchange(loaded_by_[slot], by);
        if (evicted != kNoLine) past_[evicted] = {loaded_by, by};
        return past_[line];
    }

    // Asks the host's memory for what that reads.
    [[gnu::always_inline]] void host_prefetch(LineNumber line) const { past_.host_prefetch(line); }

private:
    LineTable<Past> past_;
    std::vector<CostId> loaded_by_;  // what is in D1 now, by slot
};

}  // namespace bd
