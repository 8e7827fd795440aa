// SPDX-License-Identifier: GPL-2.0-or-later
//
// An L1 cache, I1 or D1: the lines that it holds, and the use of each.
//
// Which line leaves follows from the times of the lines' latest uses: nearly all accesses hit, and only misses need it.
// That goes for policies with trees as for LRU, as a node leads away from the half that was used last.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/geometry.h"
#include "engine/base/random_numbers.h"
#include "engine/base/types.h"
#include "engine/cache/byte_mask.h"
#include "engine/cache/cache_lines.h"
#include "engine/cache/cache_traits.h"
#include "engine/program/block.h"

namespace bd {

template <bool kCommonLines>
using MaskOfLine = ByteMask<kCommonLines ? 1 : kMaxLineBytes / 64>;
template <CacheTraits kTraits>
using LineMask = MaskOfLine<kTraits.common_lines>;

// The use of a line: the bytes, and the number of accesses. Empty without kTraits.line_use.
template <CacheTraits kTraits>
struct LineUse {
    void add(const LineUse&) {}
    void touch(LineMask<kTraits>, std::uint64_t) {}
};
template <CacheTraits kTraits>
requires(kTraits.line_use) struct LineUse<kTraits> {
    LineMask<kTraits> bytes{};
    std::uint64_t accesses = 0;

    void add(const LineUse& other) { touch(other.bytes, other.accesses); }
    void touch(LineMask<kTraits> more_bytes, std::uint64_t more_accesses) {
        bytes |= more_bytes;
        accesses += more_accesses;
    }
};

// `Use` must have touch() as above. The times of uses must differ; 0 is before the first use.
template <CacheTraits kTraits, class Use, class TimeOfUse = std::uint64_t>
class L1Cache {
public:
    using Mask = LineMask<kTraits>;
    using Time = TimeOfUse;

    static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

    // Its replacement must be one that follows_from_times().
    explicit L1Cache(const CacheGeometry& geometry)
        : lines_(with_lru(geometry)),
          next_(lines_.sets()),
          bits_(geometry.line_bits()),
          policy_(geometry.replacement.policy),
          random_(geometry.replacement.seed) {
        BD_CHECK(geometry.replacement.follows_from_times());
        if constexpr (kTimesApart) times_.resize(lines_.size());
        if (policy_ == ReplacementPolicy::kFifo) loaded_.resize(lines_.size());
        for (std::uint32_t set = 0; set < next_.size(); ++set) next_[set].index = set * lines_.ways();
    }

    unsigned line_bits() const { return kTraits.common_lines ? 6 : bits_; }
    unsigned line_bytes() const { return 1u << line_bits(); }
    std::uint32_t size() const { return lines_.size(); }

    // The line in a slot; kNoLine if it is empty.
    LineNumber operator[](std::uint32_t index) const { return lines_[index]; }
    Use& use_of(std::uint32_t index) { return lines_.use_of(index); }
    Time& time_of(std::uint32_t index) {
        if constexpr (kTimesApart) {
            return times_[index];
        } else {
            return lines_.use_of(index).time;
        }
    }
    // With kTraits.why: the times of all slots. After changing them, call changed_times().
    std::span<Time> times() requires(kTraits.why) { return times_; }
    void changed_times() requires(kTraits.why) {
        for (std::size_t set = 0; set < next_.size(); ++set) next_[set] = find_oldest(set);
    }

    // Copies the uses of all slots.
    void copy_uses(std::vector<Use>* to) {
        to->resize(size());
        for (std::uint32_t slot = 0; slot < size(); ++slot) (*to)[slot] = use_of(slot);
    }

    // Cuts an access at the borders of lines: calls function(line, offset in the line, bytes) in order.
    template <class Function>
    void for_each_part(Address address, std::uint32_t size, Function function) const {
        for (const Address end = address + size; address < end;) {
            const auto offset = static_cast<unsigned>(address & (line_bytes() - 1));
            const auto bytes = static_cast<unsigned>(std::min<Address>(line_bytes() - offset, end - address));
            function(LineNumber{address >> line_bits()}, offset, bytes);
            address += bytes;
        }
    }

    // Whether a group of accesses, the first of which is at `address`, lies within one line (and has a mask).
    [[gnu::always_inline]] bool is_within(Address address, const AccessGroup& group) const {
        return offset_of(address - group.before) + std::uint64_t{group.span} <= line_bytes() &&
               (kTraits.common_lines || group.span <= 64);
    }

    // The slot of a group of accesses, the first of which is at `address`, if the group lies within one line and that
    // line is where its hint says; else kAbsent. Does not count as a use. Never finds line 0, as address 0 may stand
    // for an access that did not happen; requires a cache of more than one line.
    [[gnu::always_inline]] std::uint32_t guess(Address address, const AccessGroup& group) const {
        if (__builtin_expect(!is_within(address, group), 0)) return kAbsent;
        return guess(LineNumber{address >> line_bits()});
    }
    // The same for a line.
    [[gnu::always_inline]] std::uint32_t guess(LineNumber line) const {
        const std::uint32_t index = hints_[static_cast<std::uint64_t>(line) % kHints];
        return __builtin_expect(lines_.has(index, line), 1) ? index : kAbsent;
    }

    // The bytes that such a group touches in its line.
    [[gnu::always_inline]] Mask bytes_of(Address address, const AccessGroup& group) const {
        return Mask::of(group.bytes, offset_of(address - group.before), group.span);
    }

    // The slot of a line; kAbsent if it is not in the cache. Does not count as a use.
    std::uint32_t find(LineNumber line) {
        const std::uint32_t index = lines_.find(line);
        if (index != kAbsent) hint(line, index);
        return index;
    }

    // guess() will not find the line in this slot until find() has found it again.
    void forget_hint(std::uint32_t index) {
        std::uint16_t& hint = hints_[static_cast<std::uint64_t>(lines_[index]) % kHints];
        if (hint == index) hint = static_cast<std::uint16_t>(lines_.size());
    }

    // The slot for a line that is not in the cache, and is about to be loaded: that of the line of its set that leaves.
    std::uint32_t slot_for(LineNumber line) {
        const std::size_t set = lines_.set_of(line);
        if (__builtin_expect(policy_ != ReplacementPolicy::kLru, 0)) return choose(set);
        const Oldest& next = next_[set];
        return time_of(next.index) == next.time ? next.index : find_oldest(set).index;
    }
    // Puts the line into that slot. Returns the line that it replaces; kNoLine if the slot was empty.
    LineNumber replace(std::uint32_t index, LineNumber line, Time now) {
        const std::size_t set = lines_.set_of(line);
        const LineNumber evicted = lines_.replace(set, index, line);
        time_of(index) = now;
        if (__builtin_expect(policy_ == ReplacementPolicy::kLru, 1)) {
            next_[set] = find_oldest(set);
        } else if (policy_ == ReplacementPolicy::kFifo) {
            loaded_[index] = ++loads_;
        }
        hint(line, index);
        return evicted;
    }

    // The slot of a line; kAbsent if it is not in the cache. Leaves hints as they are.
    std::uint32_t look_for(LineNumber line) const { return lines_.find(line); }

    // Empties a slot.
    void clear(std::uint32_t index) { lines_.clear(index); }
    // The same while other lines stay: the next line of its set will go there.
    void remove(std::uint32_t index) {
        lines_.clear(index);
        time_of(index) = 0;
        next_[index / lines_.ways()] = {index, 0};
    }

private:
    // With kTraits.why, each miss reads all times, so they are in one array. Otherwise, it reads at most those of a
    // set, which are beside the lines.
    static constexpr bool kTimesApart = kTraits.why;
    struct TimedUse : Use {
        Time time;
    };
    struct NoTimes {};

    struct Oldest {
        std::uint32_t index = 0;
        Time time = 0;
    };

    unsigned offset_of(Address address) const { return static_cast<unsigned>(address) & (line_bytes() - 1); }

    Oldest find_oldest(std::size_t set) {
        const auto first = static_cast<std::uint32_t>(set * lines_.ways());
        return lines_.ways() == 8 ? oldest_of(first, 8) : oldest_of(first, lines_.ways());
    }
    [[gnu::always_inline]] Oldest oldest_of(std::uint32_t first, std::uint32_t count) {
        Oldest oldest{first, time_of(first)};
#pragma GCC unroll 8
        for (std::uint32_t index = first + 1; index < first + count; ++index) {
            const Time time = time_of(index);
            const bool is_older = time < oldest.time;
            oldest.index = is_older ? index : oldest.index;
            oldest.time = is_older ? time : oldest.time;
        }
        return oldest;
    }

    // As slot_for() does, by another policy than LRU.
    [[gnu::noinline, gnu::cold]] std::uint32_t choose(std::size_t set) {
        const std::uint32_t ways = lines_.ways();
        const auto first = static_cast<std::uint32_t>(set * ways);
        for (std::uint32_t index = first; index < first + ways; ++index) {
            if (lines_[index] == kNoLine) return index;
        }
        if (policy_ == ReplacementPolicy::kRandom) return first + random_.below(ways);
        if (policy_ == ReplacementPolicy::kTreePlru) return leaf(first, ways);
        if (policy_ == ReplacementPolicy::kFifo) {
            const auto begin = loaded_.begin() + first;
            return first + static_cast<std::uint32_t>(std::min_element(begin, begin + ways) - begin);
        }
        std::uint32_t oldest = first;
        for (std::uint32_t tree = first + kTreeWays; tree < first + ways; tree += kTreeWays) {
            if (latest_use(tree, kTreeWays) < latest_use(oldest, kTreeWays)) oldest = tree;
        }
        return leaf(oldest, kTreeWays);
    }
    // The slot that a tree of the ways in `count` slots leads to, when each of them has a line.
    std::uint32_t leaf(std::uint32_t first, std::uint32_t count) {
        while (count > 1) {
            count /= 2;
            if (latest_use(first, count) > latest_use(first + count, count)) first += count;
        }
        return first;
    }
    Time latest_use(std::uint32_t first, std::uint32_t count) {
        Time latest = 0;
        for (std::uint32_t index = first; index < first + count; ++index) latest = std::max(latest, time_of(index));
        return latest;
    }

    static CacheGeometry with_lru(CacheGeometry geometry) {
        geometry.replacement = {};
        return geometry;
    }

    void hint(LineNumber line, std::uint32_t index) {
        if (__builtin_expect(line == LineNumber{0}, 0)) index = lines_.size();
        hints_[static_cast<std::uint64_t>(line) % kHints] = static_cast<std::uint16_t>(index);
    }

    CacheLines<std::conditional_t<kTimesApart, Use, TimedUse>> lines_;
    [[no_unique_address]] std::conditional_t<kTimesApart, std::vector<Time>, NoTimes> times_;
    std::vector<Oldest> next_;  // by set: the oldest line at the latest miss; it still is unless it was used since
    unsigned bits_;
    ReplacementPolicy policy_;
    RandomNumbers random_;
    std::vector<std::uint64_t> loaded_;  // by slot, of a FIFO: how many lines had been loaded then
    std::uint64_t loads_ = 0;

    // The slots where lines may be: of the lines that share a hint, that of the one found or loaded last.
    static constexpr std::size_t kHints = 8192;
    std::array<std::uint16_t, kHints> hints_{};
};

}  // namespace bd
