// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which bytes of heap blocks and variables were used: when a line leaves D1, how its bytes were used is counted for the
// objects that they belong to, as a pattern, apart by who had loaded the line. How often each byte was loaded and used,
// by whom, and which were used together, follows from the patterns; the reader folds them by the size of an element.

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/types.h"
#include "engine/objects/line_sample.h"
#include "engine/objects/object_groups.h"

namespace bd {

// Some bytes of an object that were in one line. In whole words, as it is looked up again and again: halves that were
// just put together could only be compared once they have arrived in memory.
class UsePattern {
public:
    constexpr UsePattern() = default;
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

    // All bits of it depend on all bits of the pattern.
    std::uint64_t hash() const {
        std::uint64_t mixed = used_ ^ who_ * 0xc2b2ae3d27d4eb4f ^ where_ * 0x9e3779b97f4a7c15;
        mixed = (mixed ^ mixed >> 32) * 0xff51afd7ed558ccd;
        return mixed ^ mixed >> 32;
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

    // As many as a table of them can tell apart, with those that only say who loaded the line.
    static constexpr unsigned kPlaceBits = 22;
    static constexpr std::size_t kMostPlaces = (std::size_t{1} << kPlaceBits) - 1;

    explicit UsePatterns(std::size_t most_places = kMostPlaces) : most_places_(most_places), slots_(kFewestSlots) {}

    // Whether the line that leaves D1 now is looked at: what add() is told until the next call is about that one.
    [[gnu::always_inline]] bool take_line() {
        if (!sample_.take_next()) return false;
        if (__builtin_expect(weight_ != sample_.weight(), 0)) change_weight();
        return true;
    }
    // Whether the line that leaves D1 as the nth from now on will be looked at, as far as that is known.
    bool will_take_line(std::uint32_t nth) const { return sample_.will_take(nth); }
    // Lines of which nothing is known, as there were too many different ones.
    std::uint64_t left_out() const { return left_out_; }
    // One of so many lines was looked at, at the end; 1: all were.
    std::uint32_t one_in() const { return weight_; }

    // Bytes from `offset` on of an object of `size` bytes.
    [[gnu::always_inline]] void add(CostId loaded_by, GroupId group, std::uint64_t size, std::uint64_t offset,
                                    unsigned bytes, std::uint64_t used) {
        const bool is_known = is_looked_at(size, offset);
        added_[added_count_] = {is_known ? used : 0, loaded_by, group,
                                is_known ? static_cast<std::uint32_t>(offset) : 0, is_known ? bytes : 0};
        if (++added_count_ == added_.size()) count_added();
    }

    // Before anybody reads.
    void settle() { count_added(); }

    // In the order in which they came.
    std::span<const PatternCount> all() const {
        BD_CHECK(added_count_ == 0);
        return counts_;
    }
    void clear();
    // Drops those of lines that were loaded by whoever `is_meant`.
    template <class IsMeant>
    void drop_if(IsMeant is_meant) {
        BD_CHECK(added_count_ == 0);
        std::erase_if(counts_, [&](const PatternCount& count) { return is_meant(count.pattern.loaded_by()); });
        note_places();
    }

private:
    static constexpr unsigned kPageBits = 12;
    static constexpr std::uint32_t kFewestSlots = 1024;
    static constexpr std::size_t kMostAdded = 64;

    // Of four bytes, as they are to stay in the host's caches: the upper bits of a pattern's hash, as the lower ones
    // choose the slot, and its place in counts_, from 1; 0: there is none.
    struct Slot {
        Slot() = default;
        Slot(std::uint64_t hash, std::size_t place) : bits(tag_of(hash) | static_cast<std::uint32_t>(place)) {}

        static std::uint32_t tag_of(std::uint64_t hash) {
            return static_cast<std::uint32_t>(hash >> (32 + kPlaceBits)) << kPlaceBits;
        }
        std::uint32_t place() const { return bits & ((1u << kPlaceBits) - 1); }
        // Whether what has this hash may be there. (It says so of a free one, too.)
        bool may_be(std::uint64_t hash) const { return (bits ^ tag_of(hash)) >> kPlaceBits == 0; }

        std::uint32_t bits = 0;
    };

    // Of a large object the first page, and others that are spread by a hash: what goes through it in regular strides
    // comes by as many of them as of the others.
    static bool is_looked_at(std::uint64_t size, std::uint64_t offset) {
        if (size <= kMostWhole) return true;
        const auto one_in_bits = static_cast<unsigned>(std::bit_width((size - 1) / kMostWhole));
        const std::uint64_t page = offset >> kPageBits;
        return page * 0x9e3779b97f4a7c15 >> (64 - one_in_bits) == 0 && offset >> 32 == 0;
    }
    // Where what has this hash is looked for first.
    std::size_t slot_for(std::uint64_t hash) const { return static_cast<std::size_t>(hash) & slot_mask_; }

    [[gnu::noinline]] void count_added();
    void change_weight();
    void count(const UsePattern& pattern, std::uint64_t hash);
    void add_first(const UsePattern& pattern, std::uint64_t hash);
    void note_place(std::uint64_t hash, std::size_t place);
    void note_places();

    const std::size_t most_places_;
    // A list and a table of places in it need less memory than a table of the patterns.
    std::vector<PatternCount> counts_;
    std::size_t slot_mask_ = kFewestSlots - 1;
    std::vector<Slot> slots_;  // a power of two of them, by hash; what finds its slot taken is in the next free one
    LineSample sample_;
    std::uint32_t weight_ = 1;  // what each is counted for that is added
    std::uint64_t left_out_ = 0;
    // What has not been counted yet.
    std::array<UsePattern, kMostAdded> added_{};
    std::size_t added_count_ = 0;
};

}  // namespace bd
