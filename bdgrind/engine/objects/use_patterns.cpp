// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/use_patterns.h"

namespace bd {

void UsePatterns::add_first(const UsePattern& pattern) {
    UsePattern kept = pattern;
    if (counts_.size() >= kMostPatterns) {
        kept = UsePattern(0, pattern.loaded_by(), pattern.group(), 0, 0);
        if (const auto found = places_.find(kept); found != places_.end()) {
            ++counts_[*found].times;
            return;
        }
    }
    counts_.push_back({kept, 1});
    places_.insert(static_cast<std::uint32_t>(counts_.size() - 1));
}

void UsePatterns::clear() {
    counts_.clear();
    places_.clear();
}

void UsePatterns::note_places() {
    places_.clear();
    for (std::uint32_t place = 0; place < counts_.size(); ++place) places_.insert(place);
}

}  // namespace bd
