// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is mapped where: ranges of addresses that do not overlap, each of an object group. They change seldom.

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
    const MappedObject* mapped = nullptr;  // what the group is made of when it is asked for

    bool has(Address address) const { return address - begin < end - begin; }
};

class Regions {
public:
    // Nothing is known of these addresses any more. True if something was.
    bool remove(Address begin, Address end);
    // They are in place of what was there, which must have been removed; sorted by address.
    void add(std::span<const Region> added);

    // Valid until the next change; null if nothing is known.
    Region* find(Address address) {
        const std::uint32_t index = recent(address);
        if (index < regions_.size() && regions_[index].has(address)) return &regions_[index];
        return search(address);
    }

    // The first byte from the address on of which nothing is known.
    Address end_of_known(Address address) const {
        auto region = std::ranges::lower_bound(regions_, address, {}, [](const Region& each) { return each.end - 1; });
        for (; region != regions_.end() && region->begin <= address; ++region) address = region->end;
        return address;
    }

    // Calls use(region, begin, end) for the parts of [begin, end) of which something is known, from low to high ones.
    template <class Use>
    void for_each_part(Address begin, Address end, Use use) {
        auto region = std::ranges::lower_bound(regions_, begin, {}, [](const Region& each) { return each.end - 1; });
        for (; region != regions_.end() && region->begin < end; ++region) {
            use(*region, std::max(begin, region->begin), std::min(end, region->end));
        }
    }

private:
    Region* search(Address address);
    // Where the region of the latest address in that 4 KiB page stands, or stood then.
    std::uint32_t& recent(Address address) { return recent_[static_cast<std::size_t>(address >> 12) % recent_.size()]; }

    std::vector<Region> regions_;  // by address; there are thousands, as variables are regions
    std::array<std::uint32_t, 256> recent_{};
};

}  // namespace bd
