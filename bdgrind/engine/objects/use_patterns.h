// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which bytes of heap blocks and variables were used. When a line leaves D1, the use of its bytes is counted as a
// pattern, for each object in the line and by the instruction that loaded the line. From the patterns follow how often
// each byte was loaded and used, by which code, and which bytes were used together; the reader of the profile folds
// them by the size of an element.

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

// The bytes of an object that were in one line, and which of them were used. Stored in whole words, as it is looked up
// again and again, and the host can compare halves that were just written only once they have reached its caches.
class UsePattern {
public:
    constexpr UsePattern() = default;
    constexpr UsePattern(std::uint64_t used, CostId loaded_by, GroupId group, std::uint32_t offset, std::uint32_t bytes)
        : used_(used),
          who_(std::uint64_t{index_of(loaded_by)} << 32 | static_cast<std::uint32_t>(group)),
          where_(std::uint64_t{offset} << 32 | bytes) {}

    // The cost vector of the instruction that loaded the line.
    CostId loaded_by() const { return CostId{static_cast<std::uint32_t>(who_ >> 32)}; }
    // The group that the bytes belong to.
    GroupId group() const { return GroupId{static_cast<std::uint32_t>(who_)}; }
    // The offset of the first byte in its object.
    std::uint32_t offset() const { return static_cast<std::uint32_t>(where_ >> 32); }
    // The number of bytes, at most 64; 0: nothing but the group and the loading instruction is known.
    std::uint32_t bytes() const { return static_cast<std::uint32_t>(where_); }
    // The bytes used: a bit for each byte, the lowest first.
    std::uint64_t used() const { return used_; }

    bool operator==(const UsePattern&) const = default;

    // Each bit of the hash depends on all bits of the pattern.
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
    // Objects of at most this many bytes are looked at from end to end; of larger ones, some pages of about this many
    // bytes together, or there would be a pattern for each of their elements.
    static constexpr std::uint64_t kMostWhole = 1u << 16;
    static constexpr std::size_t kMostPatterns = 1u << 19;

    // The most patterns that a table has room for, with those that say only who loaded the line.
    static constexpr unsigned kPlaceBits = 22;
    static constexpr std::size_t kMostPlaces = (std::size_t{1} << kPlaceBits) - 1;

    explicit UsePatterns(std::size_t most_places = kMostPlaces) : most_places_(most_places), slots_(kFewestSlots) {}

    // Whether the line that leaves D1 now is in the sample. If so, calls of add() up to the next call of this are about
    // that line.
    [[gnu::always_inline]] bool take_line() {
        if (!sample_.take_next()) return false;
        if (__builtin_expect(weight_ != sample_.weight(), 0)) change_weight();
        return true;
    }
    // Whether the nth line to leave D1 from now on will be in the sample: see LineSample::will_take().
    bool will_take_line(std::uint32_t nth) const { return sample_.will_take(nth); }
    // The number of lines that are not counted, as there were too many different patterns.
    std::uint64_t left_out() const { return left_out_; }
    // At the end, one in this many lines was in the sample; 1: all were.
    std::uint32_t one_in() const { return weight_; }

    // Adds bytes [offset, offset + bytes) of an object of `size` bytes; at most 64. `used`: a bit for each of them, the
    // lowest first.
    [[gnu::always_inline]] void add(CostId loaded_by, GroupId group, std::uint64_t size, std::uint64_t offset,
                                    unsigned bytes, std::uint64_t used) {
        const bool is_known = is_looked_at(size, offset);
        added_[added_count_] = {is_known ? used : 0, loaded_by, group,
                                is_known ? static_cast<std::uint32_t>(offset) : 0, is_known ? bytes : 0};
        if (++added_count_ == added_.size()) count_added();
    }

    // To be called before the patterns are read.
    void settle() { count_added(); }

    // In the order in which they were first added.
    std::span<const PatternCount> all() const {
        BD_CHECK(added_count_ == 0);
        return counts_;
    }
    void clear();
    // Drops the patterns of lines for whose loading cost vector is_meant(CostId) holds.
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

    // Four bytes, so that slots stay in the host's caches: the upper bits of a pattern's hash, as the lower ones choose
    // the slot, and its index in counts_, from 1; 0: free.
    struct Slot {
        Slot() = default;
        Slot(std::uint64_t hash, std::size_t place) : bits(tag_of(hash) | static_cast<std::uint32_t>(place)) {}

        static std::uint32_t tag_of(std::uint64_t hash) {
            return static_cast<std::uint32_t>(hash >> (32 + kPlaceBits)) << kPlaceBits;
        }
        std::uint32_t place() const { return bits & ((1u << kPlaceBits) - 1); }
        // Whether a pattern with this hash may be here. (True of some free slots, too.)
        bool may_be(std::uint64_t hash) const { return (bits ^ tag_of(hash)) >> kPlaceBits == 0; }

        std::uint32_t bits = 0;
    };

    // Of a large object, the first page, and others chosen by a hash, so that regular strides meet as large a share of
    // these as of all pages.
    static bool is_looked_at(std::uint64_t size, std::uint64_t offset) {
        if (size <= kMostWhole) return true;
        const auto one_in_bits = static_cast<unsigned>(std::bit_width((size - 1) / kMostWhole));
        const std::uint64_t page = offset >> kPageBits;
        return page * 0x9e3779b97f4a7c15 >> (64 - one_in_bits) == 0 && offset >> 32 == 0;
    }
    // The slot to look in first.
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
    std::vector<Slot> slots_;  // by hash; a power of two in number. A pattern that finds its slot taken is in the next
    LineSample sample_;
    std::uint32_t weight_ = 1;  // the lines that each added pattern stands for
    std::uint64_t left_out_ = 0;
    // Added, but not counted yet.
    std::array<UsePattern, kMostAdded> added_{};
    std::size_t added_count_ = 0;
};

}  // namespace bd
