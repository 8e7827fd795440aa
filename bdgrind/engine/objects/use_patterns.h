// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which bytes of heap blocks and variables were used: when a line leaves D1, how its bytes were used is counted for the
// objects that they belong to, as a pattern, apart by who had loaded the line. How often each byte was loaded and used,
// by whom, and which were used together, follows from the patterns; the reader folds them by the size of an element.

#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "engine/base/types.h"
#include "engine/objects/object_groups.h"

namespace bd {

// Some bytes of an object that were in one line. In whole words, as it is looked up again and again: halves that were
// just put together could only be compared once they have arrived in memory.
class UsePattern {
public:
    constexpr UsePattern(std::uint64_t used, CostId loaded_by, GroupId group, std::uint32_t offset, std::uint32_t bytes)
        : used_(used),
          who_(std::uint64_t{index_of(loaded_by)} << 32 | static_cast<std::uint32_t>(group)),
          where_(std::uint64_t{offset} << 32 | bytes) {}

    // The costs of the instruction that loaded the line.
    CostId loaded_by() const { return CostId{static_cast<std::uint32_t>(who_ >> 32)}; }
    // Whose bytes they are.
    GroupId group() const { return GroupId{static_cast<std::uint32_t>(who_)}; }
    // Of the first one, in its object.
    std::uint32_t offset() const { return static_cast<std::uint32_t>(where_ >> 32); }
    // How many, at most 64; 0: lines of which nothing else is known.
    std::uint32_t bytes() const { return static_cast<std::uint32_t>(where_); }
    // A bit for each of them, the lowest first.
    std::uint64_t used() const { return used_; }

    bool operator==(const UsePattern&) const = default;

    std::size_t hash() const {
        const std::uint64_t mixed = used_ ^ who_ * 0xc2b2ae3d27d4eb4f ^ where_ * 0x9e3779b97f4a7c15;
        return static_cast<std::size_t>(mixed * 0xff51afd7ed558ccd >> 13);
    }

private:
    std::uint64_t used_;
    std::uint64_t who_;
    std::uint64_t where_;
};

struct PatternCount {
    UsePattern pattern;
    std::uint64_t times;
};

class UsePatterns {
public:
    // Objects of at most so many bytes are looked at from end to end. Of larger ones it is some pages, of so many bytes
    // together, more or less: else there would be a pattern for each of their elements. And there are so many patterns.
    static constexpr std::uint64_t kMostWhole = 1u << 16;
    static constexpr std::size_t kMostPatterns = 1u << 19;

    UsePatterns() = default;
    UsePatterns(const UsePatterns&) = delete;
    UsePatterns& operator=(const UsePatterns&) = delete;

    // Bytes from `offset` on of an object of `size` bytes.
    void add(CostId loaded_by, GroupId group, std::uint64_t size, std::uint64_t offset, unsigned bytes,
             std::uint64_t used) {
        const bool is_known = is_looked_at(size, offset);
        const UsePattern pattern(is_known ? used : 0, loaded_by, group,
                                 is_known ? static_cast<std::uint32_t>(offset) : 0, is_known ? bytes : 0);
        if (const auto found = places_.find(pattern); found != places_.end()) {
            ++counts_[*found].times;
        } else {
            add_first(pattern);
        }
    }

    // In the order in which they came.
    std::span<const PatternCount> all() const { return counts_; }
    void clear();
    // Drops those of lines that were loaded by whoever `is_meant`.
    template <class IsMeant>
    void drop_if(IsMeant is_meant) {
        std::erase_if(counts_, [&](const PatternCount& count) { return is_meant(count.pattern.loaded_by()); });
        note_places();
    }

private:
    static constexpr unsigned kPageBits = 12;

    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const UsePattern& pattern) const { return pattern.hash(); }
        std::size_t operator()(std::uint32_t place) const { return counts[place].pattern.hash(); }

        const std::vector<PatternCount>& counts;
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(std::uint32_t left, std::uint32_t right) const { return left == right; }
        bool operator()(const UsePattern& left, std::uint32_t right) const { return left == counts[right].pattern; }

        const std::vector<PatternCount>& counts;
    };

    // Of a large object the first page, and others that are spread by a hash: what goes through it in regular strides
    // comes by as many of them as of the others.
    static bool is_looked_at(std::uint64_t size, std::uint64_t offset) {
        if (size <= kMostWhole) return true;
        const auto one_in_bits = static_cast<unsigned>(std::bit_width((size - 1) / kMostWhole));
        const std::uint64_t page = offset >> kPageBits;
        return page * 0x9e3779b97f4a7c15 >> (64 - one_in_bits) == 0 && offset >> 32 == 0;
    }

    void add_first(const UsePattern& pattern);
    void note_places();

    // A list and a table of places in it need less memory than a table of the patterns.
    std::vector<PatternCount> counts_;
    boost::unordered_flat_set<std::uint32_t, Hash, Equal> places_{0, Hash{counts_}, Equal{counts_}};
};

}  // namespace bd
