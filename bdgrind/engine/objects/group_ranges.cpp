// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/group_ranges.h"

#include <algorithm>

#include "engine/base/check.h"

namespace bd {

bool GroupRanges::remove(Address begin, Address end) {
    if (begin >= end) return false;
    const auto first = std::ranges::lower_bound(ranges_, begin, {}, &GroupRange::last);
    auto last = first;
    std::vector<GroupRange> kept;
    for (; last != ranges_.end() && last->begin < end; ++last) {
        if (last->begin < begin) kept.push_back({last->begin, begin, last->group, last->mapped});
        if (last->end > end) kept.push_back({end, last->end, last->group, last->mapped});
    }
    const bool was_known = first != last;
    const auto at = ranges_.erase(first, last);
    ranges_.insert(at, kept.begin(), kept.end());
    return was_known;
}

void GroupRanges::add(std::span<const GroupRange> added) {
    if (added.empty()) return;
    const auto at = std::ranges::lower_bound(ranges_, added.front().begin, {}, &GroupRange::begin);
    BD_CHECK(at == ranges_.end() || added.back().end <= at->begin);
    ranges_.insert(at, added.begin(), added.end());
}

GroupRange* GroupRanges::search(Address address) {
    const auto above = std::ranges::upper_bound(ranges_, address, {}, &GroupRange::begin);
    if (above == ranges_.begin() || !above[-1].has(address)) return nullptr;
    recent(address) = static_cast<std::uint32_t>(above - 1 - ranges_.begin());
    return &above[-1];
}

}  // namespace bd
