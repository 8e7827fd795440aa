// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/use_patterns.h"

#include <algorithm>
#include <utility>

namespace bd {

// There may be many megabytes of patterns, which come in no order. So some are counted at once, while the host fetches
// the slots and then the counts of all of them.
void UsePatterns::count_added() {
    std::array<std::uint64_t, kMostAdded> hashes;
    const std::span<const UsePattern> added{added_.data(), std::exchange(added_count_, 0)};
    for (std::size_t i = 0; i < added.size(); ++i) {
        hashes[i] = added[i].hash();
        __builtin_prefetch(&slots_[slot_for(hashes[i])]);
    }
    for (std::size_t i = 0; i < added.size(); ++i) {
        const Slot slot = slots_[slot_for(hashes[i])];
        if (slot.place() != 0) __builtin_prefetch(&counts_[slot.place() - 1]);
    }
    for (std::size_t i = 0; i < added.size(); ++i) count(added[i], hashes[i]);
}

void UsePatterns::change_weight() {
    count_added();
    weight_ = sample_.weight();
}

void UsePatterns::count(const UsePattern& pattern, std::uint64_t hash) {
    for (std::size_t at = slot_for(hash); slots_[at].place() != 0; at = (at + 1) & slot_mask_) {
        if (!slots_[at].may_be(hash)) continue;
        PatternCount& known = counts_[slots_[at].place() - 1];
        if (known.pattern != pattern) continue;
        known.times += weight_;
        return;
    }
    add_first(pattern, hash);
}

void UsePatterns::add_first(const UsePattern& pattern, std::uint64_t hash) {
    if (counts_.size() >= kMostPatterns && pattern.bytes() != 0) {
        const UsePattern other{0, pattern.loaded_by(), pattern.group(), 0, 0};
        count(other, other.hash());
        return;
    }
    if (counts_.size() >= most_places_) {
        left_out_ += weight_;
        return;
    }
    counts_.push_back({pattern, weight_});
    // Half of the slots stay free, so that most patterns are where they are looked for first.
    if (counts_.size() > slots_.size() / 2) {
        slots_.resize(slots_.size() * 2);
        slot_mask_ = slot_mask_ * 2 + 1;
        note_places();
    } else {
        note_place(hash, counts_.size());
    }
}

void UsePatterns::note_place(std::uint64_t hash, std::size_t place) {
    std::size_t at = slot_for(hash);
    while (slots_[at].place() != 0) at = (at + 1) & slot_mask_;
    slots_[at] = {hash, place};
}

void UsePatterns::note_places() {
    std::ranges::fill(slots_, Slot{});
    for (std::size_t place = 1; place <= counts_.size(); ++place) note_place(counts_[place - 1].pattern.hash(), place);
}

void UsePatterns::clear() {
    sample_ = {};
    weight_ = 1;
    left_out_ = 0;
    added_count_ = 0;
    counts_.clear();
    note_places();
}

}  // namespace bd
