// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/use_patterns.h"

#include <algorithm>
#include <utility>

namespace bd {

void UsePatterns::find_and_count(const Waiting& waiting) {
    for (std::uint32_t at = waiting.hash & slot_mask_; slots_[at].place != 0; at = (at + 1) & slot_mask_) {
        if (slots_[at].tag != waiting.tag) continue;
        PatternCount& known = counts_[slots_[at].place - 1];
        if (known.pattern != waiting.pattern) continue;
        ++known.times;
        return;
    }
    add_first(waiting);
}

void UsePatterns::add_first(const Waiting& waiting) {
    const UsePattern& pattern = waiting.pattern;
    if (counts_.size() >= kMostPatterns && pattern.bytes() != 0) {
        count(Waiting({0, pattern.loaded_by(), pattern.group(), 0, 0}));
        return;
    }
    counts_.push_back({pattern, 1});
    // One slot in eight stays free, so that a free one is found soon.
    if (counts_.size() > slots_.size() / 8 * 7) {
        slots_.resize(slots_.size() * 2);
        slot_mask_ = slot_mask_ * 2 + 1;
        note_places();
    } else {
        note_place(waiting, counts_.size());
    }
}

void UsePatterns::note_place(const Waiting& counted, std::size_t place) {
    std::uint32_t at = counted.hash & slot_mask_;
    while (slots_[at].place != 0) at = (at + 1) & slot_mask_;
    slots_[at] = {counted.tag, static_cast<std::uint32_t>(place)};
}

void UsePatterns::note_places() {
    std::ranges::fill(slots_, Slot{});
    for (std::size_t place = 1; place <= counts_.size(); ++place) {
        note_place(Waiting(counts_[place - 1].pattern), place);
    }
}

void UsePatterns::settle() {
    const std::uint64_t added = std::exchange(added_, 0);
    for (std::uint64_t i = added - std::min<std::uint64_t>(added, kWaiting); i < added; ++i) count(waiting_at(i));
}

void UsePatterns::clear() {
    added_ = 0;
    counts_.clear();
    note_places();
}

}  // namespace bd
