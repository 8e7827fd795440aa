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

struct GroupRange {
    static constexpr GroupId kNotAsked{~std::uint32_t{0}};

    Address begin;
    Address end;  // behind it
    GroupId group = kNotAsked;
    const MappedObject* mapped = nullptr;  // from which the group is made when it is first asked for

    Address last() const { return end - 1; }
    bool has(Address address) const { return address - begin < end - begin; }
};

class GroupRanges {
public:
    // Removes what is known about [begin, end). Returns whether anything was.
    bool remove(Address begin, Address end);
    // Adds ranges, sorted by address. What was there before must have been removed.
    void add(std::span<const GroupRange> added);

    // The range at an address, valid until the next change; null if nothing is known.
    GroupRange* find(Address address) {
        const std::uint32_t index = recent(address);
        if (index < ranges_.size() && ranges_[index].has(address)) return &ranges_[index];
        return search(address);
    }

    // The first address from `address` on about which nothing is known.
    Address end_of_known(Address address) const {
        auto range = std::ranges::lower_bound(ranges_, address, {}, &GroupRange::last);
        for (; range != ranges_.end() && range->begin <= address; ++range) address = range->end;
        return address;
    }

    // Calls use(range, begin, end) for the known parts of [begin, end), from low to high addresses.
    template <class Use>
    void for_each_part(Address begin, Address end, Use use) {
        auto range = std::ranges::lower_bound(ranges_, begin, {}, &GroupRange::last);
        for (; range != ranges_.end() && range->begin < end; ++range) {
            use(*range, std::max(begin, range->begin), std::min(end, range->end));
        }
    }

private:
    GroupRange* search(Address address);
    // The index of the range that the latest address in this 4 KiB page was found in, if it has not moved since.
    std::uint32_t& recent(Address address) { return recent_[static_cast<std::size_t>(address >> 12) % recent_.size()]; }

    std::vector<GroupRange> ranges_;  // by address; there may be thousands, as each variable is a range
    std::array<std::uint32_t, 256> recent_{};
};

}  // namespace bd
