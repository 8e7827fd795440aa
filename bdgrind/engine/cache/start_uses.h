// SPDX-License-Identifier: GPL-2.0-or-later
//
// The uses of the lines of a cache when a chunk of the trace began, for those who ask, later, for the use at a position
// in the chunk. In small caches, all are copied when a chunk begins. In large ones, the cache saves each before it
// changes; so no further chunk may begin until all has been asked about this one.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bd {

template <class Use>
class StartUses {
public:
    // Whether a cache of so many lines is small.
    static constexpr bool are_copied(std::uint32_t lines) { return lines <= 4096; }

    // The chunk begins. `Lines`: an L1Cache.
    template <class Lines>
    void start(Lines& lines) {
        saved_.clear();
        if (are_copied(lines.size())) lines.copy_uses(&copies_);
    }
    // In a large cache: the use in `slot` is about to change for the first time in this chunk.
    void save(std::uint32_t slot, const Use& use) { saved_.push_back({slot, use}); }

    // The use in `slot` when the chunk began.
    template <class Lines>
    Use of(std::uint32_t slot, Lines& lines) const {
        if (are_copied(lines.size())) return copies_[slot];
        const auto saved = std::ranges::find(saved_, slot, &Saved::slot);
        return saved == saved_.end() ? static_cast<const Use&>(lines.use_of(slot)) : saved->use;
    }

private:
    struct Saved {
        std::uint32_t slot;
        Use use;
    };

    std::vector<Use> copies_;   // by slot
    std::vector<Saved> saved_;  // in the order in which they changed
};

}  // namespace bd
