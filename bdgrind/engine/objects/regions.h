// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is mapped where: ranges of addresses that do not overlap, each with an object group. They rarely change.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/objects/object_groups.h"

namespace bd {

struct Region {
    static constexpr GroupId kNotAsked{~std::uint32_t{0}};

    Address begin;
    Address end;  // behind it
    GroupId group = kNotAsked;
    const MappedObject* mapped = nullptr;  // from which the group is made when it is first asked for

    bool has(Address address) const { return address - begin < end - begin; }
};

class Regions {
public:
    // Removes what is known about [begin, end). Returns whether anything was.
    bool remove(Address begin, Address end);
    // Adds regions, sorted by address. What was there before must have been removed.
    void add(std::span<const Region> added);

    // The region at an address, valid until the next change; null if nothing is known.
    Region* find(Address address) {
        const std::uint32_t index = recent(address);
        if (index < regions_.size() && regions_[index].has(address)) return &regions_[index];
        return search(address);
    }

    // The first address from `address` on about which nothing is known.
    Address end_of_known(Address address) const {
        auto region = std::ranges::lower_bound(regions_, address, {}, [](const Region& each) { return each.end - 1; });
        for (; region != regions_.end() && region->begin <= address; ++region) address = region->end;
        return address;
    }

    // Calls use(region, begin, end) for the known parts of [begin, end), from low to high addresses.
    template <class Use>
    void for_each_part(Address begin, Address end, Use use) {
        auto region = std::ranges::lower_bound(regions_, begin, {}, [](const Region& each) { return each.end - 1; });
        for (; region != regions_.end() && region->begin < end; ++region) {
            use(*region, std::max(begin, region->begin), std::min(end, region->end));
        }
    }

private:
    Region* search(Address address);
    // The index of the region that the latest address in this 4 KiB page was found in, if it has not moved since.
    std::uint32_t& recent(Address address) { return recent_[static_cast<std::size_t>(address >> 12) % recent_.size()]; }

    std::vector<Region> regions_;  // by address; there may be thousands, as each variable is a region
    std::array<std::uint32_t, 256> recent_{};
};

}  // namespace bd
