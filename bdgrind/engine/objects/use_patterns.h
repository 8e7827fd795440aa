// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which bytes of heap blocks were used: when a line leaves D1, how its bytes were used is counted for the blocks that
// they belong to, as a pattern. How often each byte was loaded and used, and which were used together, follows from the
// patterns; the reader folds them by the size of an element.

#pragma once

#include <cstdint>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/objects/object_groups.h"

namespace bd {

// Some bytes of a block that were in one line.
struct UsePattern {
    std::uint64_t used;  // a bit for each of them, the lowest first
    GroupId group;
    std::uint32_t offset;  // of the first one, in its block
    std::uint32_t bytes;   // how many, at most 64

    bool operator==(const UsePattern&) const = default;
};

class UsePatterns {
public:
    // Of each block, so many bytes from its beginning are looked at; and there are so many patterns. The rest is in
    // ObjectGroup::unmapped.
    static constexpr std::uint64_t kMostOffset = 1u << 16;
    static constexpr std::size_t kMostPatterns = 1u << 19;

    explicit UsePatterns(ObjectGroups& groups) : groups_(groups) {}

    void add(GroupId group, std::uint64_t offset, unsigned bytes, std::uint64_t used) {
        const auto unmapped = [&] { ++groups_[group].unmapped; };
        if (offset >= kMostOffset) return unmapped();
        const UsePattern pattern{used, group, static_cast<std::uint32_t>(offset), bytes};
        if (counts_.size() < kMostPatterns) {
            ++counts_[pattern];
            return;
        }
        const auto found = counts_.find(pattern);
        if (found == counts_.end()) return unmapped();
        ++found->second;
    }

    const auto& all() const { return counts_; }
    void clear() { counts_.clear(); }

private:
    struct Hash {
        std::size_t operator()(const UsePattern& pattern) const {
            const std::uint64_t place =
                std::uint64_t{static_cast<std::uint32_t>(pattern.group)} << 32 | pattern.offset << 6 | pattern.bytes;
            return static_cast<std::size_t>((pattern.used ^ place * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd >> 13);
        }
    };

    ObjectGroups& groups_;
    boost::unordered_flat_map<UsePattern, std::uint64_t, Hash> counts_;
};

}  // namespace bd
