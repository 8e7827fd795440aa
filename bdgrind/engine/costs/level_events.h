// SPDX-License-Identifier: GPL-2.0-or-later
//
// The events of each level of caches, so that what happens at a level is charged in one way for all of them.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/base/level.h"
#include "engine/costs/events.h"

namespace bd {

// What missed.
enum class Missed : std::uint8_t { kFetch, kRead, kWrite };

struct LevelEvents {
    std::array<Event, 3> misses;         // by Missed
    std::array<Event, 2> first_touches;  // of code, of data
    std::array<Event, 2> conflicts;      // of code, of data
    std::array<Event, 5> use_of_lines;   // that have left, in the order of UseColumn
    std::array<Event, 5> use_of_data;    // of these, the lines that accesses to data have loaded
};

inline constexpr ByLevel<LevelEvents> kLevelEvents{{{
    {
        .misses = {Event::kI1mr, Event::kD1mr, Event::kD1mw},
        .first_touches = {Event::kI1first, Event::kD1first},
        .conflicts = {Event::kI1conf, Event::kD1conf},
        .use_of_lines = {Event::kAcCost1, Event::kSpLoss1, Event::kEvLine1, Event::kUsByte1, Event::kAccess1},
        .use_of_data = {Event::kAcCostD1, Event::kSpLossD1, Event::kEvLineD1, Event::kUsByteD1, Event::kAccessD1},
    },
    {
        .misses = {Event::kI2mr, Event::kD2mr, Event::kD2mw},
        .first_touches = {Event::kI2first, Event::kD2first},
        .conflicts = {Event::kI2conf, Event::kD2conf},
        .use_of_lines = {Event::kAcCostL2, Event::kSpLossL2, Event::kEvLineL2, Event::kUsByteL2, Event::kAccessL2},
        .use_of_data = {Event::kAcCostD2, Event::kSpLossD2, Event::kEvLineD2, Event::kUsByteD2, Event::kAccessD2},
    },
    {
        .misses = {Event::kILmr, Event::kDLmr, Event::kDLmw},
        .first_touches = {Event::kILfirst, Event::kDLfirst},
        .conflicts = {Event::kILconf, Event::kDLconf},
        .use_of_lines = {Event::kAcCost2, Event::kSpLoss2, Event::kEvLine2, Event::kUsByte2, Event::kAccess2},
        .use_of_data = {Event::kAcCostDL, Event::kSpLossDL, Event::kEvLineDL, Event::kUsByteDL, Event::kAccessDL},
    },
}}};

// Misses of LL that evicted a line which had to be written to memory, by Missed.
inline constexpr std::array<Event, 3> kDirtyMisses{Event::kILdmr, Event::kDLdmr, Event::kDLdmw};

// Lines that were prefetched into a level behind L1, and used there or not.
constexpr std::size_t prefetch_column(Level level, bool is_code, bool is_used) {
    constexpr Event kLast[2][2]{{Event::kDPfLoss, Event::kDPfUse}, {Event::kIPfLoss, Event::kIPfUse}};
    constexpr Event kMiddle[2][2]{{Event::kDPfLossL2, Event::kDPfUseL2}, {Event::kIPfLossL2, Event::kIPfUseL2}};
    return column((level == Level::kL2 ? kMiddle : kLast)[is_code][is_used]);
}

// The use of lines that have left a level, counted from the column of the first of these events: five of all lines, and
// behind them the same five of lines with data.
enum UseColumn : std::size_t { kRareUse, kUnusedBytes, kLinesEvicted, kUsedBytes, kAccesses, kUseColumns };

constexpr bool has_use_columns(const LevelEvents& events) {
    const std::size_t first = column(events.use_of_lines[0]);
    for (std::size_t i = 0; i < kUseColumns; ++i) {
        if (column(events.use_of_lines[i]) != first + i) return false;
        if (column(events.use_of_data[i]) != first + kUseColumns + i) return false;
    }
    return true;
}
static_assert(std::ranges::all_of(kLevelEvents.of_levels, has_use_columns));

constexpr std::size_t first_use_column(Level level) {
    return column(kLevelEvents[level].use_of_lines[0]);
}

}  // namespace bd
