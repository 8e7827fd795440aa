// SPDX-License-Identifier: GPL-2.0-or-later
//
// Maps every cache line ever asked for to a value. The table is allocated in leaves of 4,096 lines, as programs touch
// neighbouring lines.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/types.h"

namespace bd {

template <class Value>
class LineTable {
public:
    LineTable() : slots_(kFewestSlots) {}

    // The line's value; Value{} the first time. The reference stays valid until clear().
    [[gnu::always_inline]] Value& operator[](LineNumber line) {
        const auto number = static_cast<std::uint64_t>(line);
        const std::uint64_t key = (number >> kLeafBits) + 1;
        const Slot& slot = slots_[slot_for(key)];
        Value* const leaf = __builtin_expect(slot.key == key, 1) ? slot.values.get() : find_or_make(key);
        return leaf[number & (kLeafLines - 1)];
    }

    // Calls function(value) for every value other than Value{}.
    template <class Function>
    void for_each(Function function) {
        for (const Slot& slot : slots_) {
            if (slot.key == 0) continue;
            for (std::size_t i = 0; i < kLeafLines; ++i) {
                if (slot.values[i] != Value{}) function(slot.values[i]);
            }
        }
    }

    void clear() {
        slots_ = std::vector<Slot>(kFewestSlots);
        leaves_ = 0;
    }

    // Prefetches what operator[] reads of this line, if the first look-up finds its leaf.
    [[gnu::always_inline]] void host_prefetch(LineNumber line) const {
        const auto number = static_cast<std::uint64_t>(line);
        const std::uint64_t key = (number >> kLeafBits) + 1;
        const Slot& slot = slots_[slot_for(key)];
        if (slot.key == key) __builtin_prefetch(slot.values.get() + (number & (kLeafLines - 1)), 1);
    }

private:
    static constexpr unsigned kLeafBits = 12;
    static constexpr std::size_t kLeafLines = std::size_t{1} << kLeafBits;
    static constexpr std::size_t kFewestSlots = 64;

    struct Slot {
        std::uint64_t key = 0;  // 0: free
        std::unique_ptr<Value[]> values;
    };

    // The slot to look in first; a leaf that finds it taken is in the next free slot.
    std::size_t slot_for(std::uint64_t key) const {
        return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15 >> 32) & (slots_.size() - 1);
    }
    std::size_t find(std::uint64_t key) const {
        std::size_t slot = slot_for(key);
        while (slots_[slot].key != key && slots_[slot].key != 0) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }
    [[gnu::noinline]] Value* find_or_make(std::uint64_t key) {
        std::size_t slot = find(key);
        if (slots_[slot].key == 0) {
            if (2 * ++leaves_ > slots_.size()) {
                std::vector<Slot> before(2 * slots_.size());
                before.swap(slots_);
                for (Slot& old : before) {
                    if (old.key != 0) slots_[find(old.key)] = std::move(old);
                }
                slot = find(key);
            }
            slots_[slot].key = key;
            slots_[slot].values = std::make_unique<Value[]>(kLeafLines);
        }
        return slots_[slot].values.get();
    }

    std::vector<Slot> slots_;  // a power of two in number; at least half are free
    std::size_t leaves_ = 0;
};

}  // namespace bd
