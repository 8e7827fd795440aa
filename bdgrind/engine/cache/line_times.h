// SPDX-License-Identifier: GPL-2.0-or-later
//
// The time of each line that has ever been touched, in four bytes: a table in regions, as programs touch neighbours.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/types.h"

namespace bd {

class LineTimes {
public:
    LineTimes() : slots_(kFewestSlots) {}

    // 0 for a line that is asked for for the first time. Valid until the next one is.
    [[gnu::always_inline]] TouchTime& operator[](LineNumber line) {
        const auto number = static_cast<std::uint64_t>(line);
        const std::uint64_t key = (number >> kRegionBits) + 1;
        const Slot& slot = slots_[slot_for(key)];
        TouchTime* const region = __builtin_expect(slot.key == key, 1) ? slot.times.get() : find_or_make(key);
        return region[index_of(number)];
    }

    // Asks the host's memory for what that reads, as far as the line's region is found at once.
    [[gnu::always_inline]] void host_prefetch(LineNumber line) const {
        const auto number = static_cast<std::uint64_t>(line);
        const std::uint64_t key = (number >> kRegionBits) + 1;
        const Slot& slot = slots_[slot_for(key)];
        if (slot.key == key) __builtin_prefetch(slot.times.get() + index_of(number), 1);
    }

    // All that are not 0.
    template <class Function>
    void for_each(Function function) {
        for (const Slot& slot : slots_) {
            if (slot.key == 0) continue;
            for (std::size_t i = 0; i < kRegionLines; ++i) {
                if (slot.times[i] != 0) function(slot.times[i]);
            }
        }
    }

    void clear();

private:
    static constexpr unsigned kRegionBits = 12;
    static constexpr std::size_t kRegionLines = std::size_t{1} << kRegionBits;
    static constexpr std::size_t kFewestSlots = 64;

    struct Slot {
        std::uint64_t key = 0;  // 0: free
        std::unique_ptr<TouchTime[]> times;
    };

    static std::size_t index_of(std::uint64_t number) { return static_cast<std::size_t>(number % kRegionLines); }
    // Where the region is looked for first; what finds its slot taken is in the next free one.
    std::size_t slot_for(std::uint64_t key) const {
        return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15 >> 32) & (slots_.size() - 1);
    }
    std::size_t find(std::uint64_t key) const;
    TouchTime* find_or_make(std::uint64_t key);

    std::vector<Slot> slots_;  // a power of two of them, half of them free at least
    std::size_t regions_ = 0;
};

}  // namespace bd
