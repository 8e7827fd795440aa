// SPDX-License-Identifier: GPL-2.0-or-later

#include "naive_reuse.h"

#include <algorithm>

namespace bd::test {

void NaiveScope::jump_back(Address from, unsigned block, Address to, unsigned long now) {
    while (!loops.empty() && !loops.back().has(to)) loops.pop_back();
    if (!loops.empty() && loops.back().begin == to) {
        loops.back().end = std::max(loops.back().end, from);
    } else {
        Loop loop{block, to, from, entered};
        for (const Passed& each : passed) {
            if (each.address <= to) loop.entered = std::max(loop.entered, each.time);
        }
        loops.push_back(loop);
    }
    passed.push_back({to, now});
}

ReuseKey NaiveLines::load(Address line, std::optional<Address> evicted, const std::optional<InstructionKey>& who) {
    if (evicted) past_[*evicted] = {loaded_by_[*evicted], who};
    loaded_by_[line] = who;
    ReuseKey key;
    if (who) key.missed = *who;
    key.loaded_by = past_[line].loaded_by;
    key.evicted_by = past_[line].evicted_by;
    return key;
}

void NaiveLines::leave(Address begin, const std::string& used, const InstructionKey& loader) {
    stays_[begin].push_back({loader, used});
}

// What they used stays known.
void NaiveLines::forget_stays() {
    for (auto& [begin, stays] : stays_) {
        for (Stay& stay : stays) stay.counts = false;
    }
}

std::map<InstructionKey, StayCounts> NaiveLines::stays() const {
    std::map<InstructionKey, StayCounts> sums;
    for (const auto& [begin, stays] : stays_) {
        for (const Stay& stay : stays) {
            if (!stay.counts) continue;
            StayCounts& sum = sums[stay.loader];
            ++sum.stays;
            for (std::size_t i = 0; i < stay.used.size(); ++i) {
                if (stay.used[i] == '#') continue;
                ++sum.unused;
                const auto uses = [i](const Stay& other) { return other.used[i] == '#'; };
                const bool elsewhere = std::ranges::any_of(stays, uses);
                ++(elsewhere ? sum.late : sum.never);
            }
        }
    }
    return sums;
}

}  // namespace bd::test
