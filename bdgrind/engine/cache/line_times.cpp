// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/line_times.h"

#include <utility>

namespace bd {

void LineTimes::clear() {
    slots_ = std::vector<Slot>(kFewestSlots);
    regions_ = 0;
}

// Where it is, or the free slot that it would have.
std::size_t LineTimes::find(std::uint64_t key) const {
    std::size_t slot = slot_for(key);
    while (slots_[slot].key != key && slots_[slot].key != 0) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
}

[[gnu::noinline]] TouchTime* LineTimes::find_or_make(std::uint64_t key) {
    const std::size_t found = find(key);
    if (slots_[found].key == key) return slots_[found].times.get();
    if (++regions_ * 2 > slots_.size()) {
        std::vector<Slot> fewer(slots_.size() * 2);
        slots_.swap(fewer);
        for (Slot& slot : fewer) {
            if (slot.key != 0) slots_[find(slot.key)] = std::move(slot);
        }
    }
    Slot& slot = slots_[find(key)];
    slot.key = key;
    slot.times = std::make_unique<TouchTime[]>(kRegionLines);
    return slot.times.get();
}

}  // namespace bd
