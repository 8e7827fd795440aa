// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/sharing/core_loads.h"

#include <bit>

namespace bd {

[[gnu::noinline]] void CoreLoads::add(std::uint8_t core, std::uint32_t* touched, bool misses, bool is_new_to_core,
                                      std::uint64_t before, const Charged& charged) {
    if (*touched == 0) {
        *touched = 1 + row_of(core, charged.instruction, charged.group);
        ++rows_[*touched - 1].pages;
    }
    if (!charged.is_counted) return;
    if (is_new_to_core) {
        CoreLoad& row = rows_[row_of(core, charged.instruction, charged.group)];
        const int others = std::popcount(before);
        ++(others == 0 ? row.lines : others == 1 ? row.second : row.further);
    }
    if (!misses) return;
    std::vector<std::pair<std::uint8_t, std::uint64_t>>& counts = rows_[*touched - 1].misses;
    for (auto& [missing, count] : counts) {
        if (missing == core) {
            ++count;
            return;
        }
    }
    counts.emplace_back(core, 1);
}

std::uint32_t CoreLoads::row_of(std::uint8_t core, CostId instruction, std::uint32_t group) {
    const std::uint64_t key = (std::uint64_t{index_of(instruction)} << 32 | group) * 0x9e3779b97f4a7c15 ^ core;
    const auto hash = static_cast<std::uint32_t>(key * 0xff51afd7ed558ccd >> 32);
    const std::uint32_t row = rows_.find(hash, [&](const CoreLoad& each) {
        return each.core == core && each.instruction == instruction && each.group == group;
    });
    if (row != rows_.kNone) return row;
    const bool is_rest = instruction == kNoCost && group == 0;
    if (!is_rest && rows_.size() >= most_rows_) return row_of(core, kNoCost, 0);
    return rows_.add(hash, {.core = core, .instruction = instruction, .group = group, .misses = {}});
}

}  // namespace bd
