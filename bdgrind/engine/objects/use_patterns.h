// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which bytes of heap blocks and variables were used: when a line leaves D1, how its bytes were used is counted for the
// objects that they belong to, as a pattern, apart by who had loaded the line. How often each byte was loaded and used,
// by whom, and which were used together, follows from the patterns; the reader folds them by the size of an element.

#pragma once

#include <bit>
#include <cstdint>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/types.h"
#include "engine/objects/object_groups.h"

namespace bd {

// Some bytes of an object that were in one line.
struct UsePattern {
    std::uint64_t used;    // a bit for each of them, the lowest first
    CostId loaded_by;      // the costs of the instruction that loaded the line
    GroupId group;         // whose bytes they are
    std::uint32_t offset;  // of the first one, in its object
    std::uint32_t bytes;   // how many, at most 64; 0: lines of which nothing else is known

    bool operator==(const UsePattern&) const = default;
};

class UsePatterns {
public:
    // Objects of at most so many bytes are looked at from end to end. Of larger ones it is some pages, of so many bytes
    // together, more or less: else there would be a pattern for each of their elements. And there are so many patterns.
    static constexpr std::uint64_t kMostWhole = 1u << 16;
    static constexpr std::size_t kMostPatterns = 1u << 19;

    // Bytes from `offset` on of an object of `size` bytes.
    void add(CostId loaded_by, GroupId group, std::uint64_t size, std::uint64_t offset, unsigned bytes,
             std::uint64_t used) {
        UsePattern pattern{0, loaded_by, group, 0, 0};
        if (is_looked_at(size, offset)) pattern = {used, loaded_by, group, static_cast<std::uint32_t>(offset), bytes};
        if (counts_.size() < kMostPatterns) {
            ++counts_[pattern];
            return;
        }
        const auto found = counts_.find(pattern);
        if (found == counts_.end()) pattern = {0, loaded_by, group, 0, 0};
        ++counts_[pattern];
    }

    const auto& all() const { return counts_; }
    void clear() { counts_.clear(); }
    // Drops those of lines that were loaded by whoever `is_meant`.
    template <class IsMeant>
    void drop_if(IsMeant is_meant) {
        boost::unordered::erase_if(counts_, [&](const auto& entry) { return is_meant(entry.first.loaded_by); });
    }

private:
    static constexpr unsigned kPageBits = 12;

    struct Hash {
        std::size_t operator()(const UsePattern& pattern) const {
            const std::uint64_t place =
                std::uint64_t{static_cast<std::uint32_t>(pattern.group)} << 32 | pattern.offset << 6 | pattern.bytes;
            const std::uint64_t who = index_of(pattern.loaded_by) * 0xc2b2ae3d27d4eb4f;
            return static_cast<std::size_t>((pattern.used ^ who ^ place * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd >>
                                            13);
        }
    };

    // Of a large object the first page, and others that are spread by a hash: what goes through it in regular strides
    // comes by as many of them as of the others.
    static bool is_looked_at(std::uint64_t size, std::uint64_t offset) {
        if (size <= kMostWhole) return true;
        const auto one_in_bits = static_cast<unsigned>(std::bit_width((size - 1) / kMostWhole));
        const std::uint64_t page = offset >> kPageBits;
        return page * 0x9e3779b97f4a7c15 >> (64 - one_in_bits) == 0 && offset >> 32 == 0;
    }

    boost::unordered_flat_map<UsePattern, std::uint64_t, Hash> counts_;
};

}  // namespace bd
