// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/regions.h"

#include <algorithm>

#include "engine/base/check.h"

namespace bd {

bool Regions::remove(Address begin, Address end) {
    if (begin >= end) return false;
    const auto first =
        std::ranges::lower_bound(regions_, begin, {}, [](const Region& region) { return region.end - 1; });
    auto last = first;
    std::vector<Region> kept;
    for (; last != regions_.end() && last->begin < end; ++last) {
        if (last->begin < begin) kept.push_back({last->begin, begin, last->group, last->mapped});
        if (last->end > end) kept.push_back({end, last->end, last->group, last->mapped});
    }
    const bool was_known = first != last;
    const auto at = regions_.erase(first, last);
    regions_.insert(at, kept.begin(), kept.end());
    return was_known;
}

void Regions::add(std::span<const Region> added) {
    if (added.empty()) return;
    const auto at = std::ranges::lower_bound(regions_, added.front().begin, {}, &Region::begin);
    BD_CHECK(at == regions_.end() || added.back().end <= at->begin);
    regions_.insert(at, added.begin(), added.end());
}

Region* Regions::search(Address address) {
    const auto above = std::ranges::upper_bound(regions_, address, {}, &Region::begin);
    if (above == regions_.begin() || !above[-1].has(address)) return nullptr;
    recent(address) = static_cast<std::uint32_t>(above - 1 - regions_.begin());
    return &above[-1];
}

}  // namespace bd
