// SPDX-License-Identifier: GPL-2.0-or-later
//
// A set-associative cache: the lines in it, and for each line a Use, which is defined by the user of this class. The
// index of a line does not change as long as the line stays.
//
// Caches of up to 16 ways, which are nearly all, keep the tags of a set in one line of the host's cache: 32 bits of
// each tag, which are compared all at once. Mostly these suffice, as line numbers of guests rarely have more. The order
// of use is in the same host line if there is room. Caches of up to 32 ways, as in servers, use two host lines. Others
// are searched way by way.
//
// Replacement is mostly LRU, for which there is a fast path; a FIFO has the same order, in which hits change nothing.

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "engine/base/check.h"
#include "engine/base/geometry.h"
#include "engine/base/types.h"
#include "engine/base/zeroed_array.h"
#include "engine/cache/lru_order.h"
#include "engine/cache/page_placement.h"
#include "engine/cache/replacement_states.h"

namespace bd {

// A `Use` of zero bytes must be valid.
template <class Use>
class CacheLines {
public:
    static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

    struct Insertion {
        std::uint32_t index;
        LineNumber evicted;  // the line that was there before; kNoLine: none
    };

    // `pages`: where lines lie in memory, if not at their addresses; must live as long.
    explicit CacheLines(const CacheGeometry& geometry, PagePlacement* pages = nullptr)
        : ways_(geometry.ways),
          sets_(static_cast<std::size_t>(geometry.sets())),
          pages_(pages != nullptr && pages->is_used() ? pages : nullptr),
          line_bits_(geometry.line_bits()),
          set_mask_(pages_ == nullptr && geometry.index == SetIndex::kBits && std::has_single_bit(sets_) ? sets_ - 1
                                                                                                         : 0),
          hash_bits_(geometry.index == SetIndex::kHash ? static_cast<unsigned>(std::countr_zero(sets_)) : 0),
          policy_(geometry.replacement.policy),
          is_small_lru_(policy_ == ReplacementPolicy::kLru && ways_ <= kFewWays),
          is_fast_(is_small_lru_ && (pages_ == nullptr || !pages_->has_order())),
          lines_(static_cast<std::size_t>(geometry.lines()) + 1),
          tag_lines_(ways_ <= kFewWays ? 1 : 2),
          tags_(ways_ <= kTaggedWays ? sets_ * tag_lines_ : 0),
          few_order_(ways_ > kWaysBesideOrder && ways_ <= kFewWays ? sets_ : 0),
          order_(ways_ <= kFewWays ? 0 : size()),
          states_(geometry.replacement, sets_, ways_) {
        BD_CHECK(geometry_error(geometry) == nullptr);
    }

    std::size_t set_of(LineNumber line) const {
        if (__builtin_expect(set_mask_ == 0, 0)) return set_slowly(line);
        return static_cast<std::size_t>(static_cast<std::uint64_t>(line) & set_mask_);
    }

    // The line in a slot; kNoLine if it is empty.
    LineNumber operator[](std::uint32_t index) const { return line_of(lines_[index].tag); }
    Use& use_of(std::uint32_t index) { return lines_[index].use; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(sets_ * ways_); }

    // Whether `line` is at `index`. The index size() is valid, too, and has no line.
    bool has(std::uint32_t index, LineNumber line) const { return lines_[index].tag == tag_of(line); }

    // The index of `line`, or kAbsent. Does not count as a use.
    std::uint32_t find(LineNumber line) const {
        const std::size_t set = set_of(line);
        return ways_ <= kTaggedWays ? find_by_tag(set, line) : find_in_many(set, line);
    }

    // Uses `line` if it is there, and returns its index; else kAbsent.
    std::uint32_t use(LineNumber line) {
        if (__builtin_expect(!is_fast_, 0)) return use_slowly(line);
        const std::size_t set = set_of(line);
        const std::uint32_t index = find_by_tag(set, line);
        if (index != kAbsent) order_of(set).use(static_cast<unsigned>(index - set * ways_));
        return index;
    }

    // Puts `line`, which must be absent, in an empty slot of its set, or else where the policy says.
    Insertion insert(LineNumber line) {
        const std::size_t set = set_of(line);
        const std::size_t way = is_small_lru_ ? order_of(set).use_oldest(ways_) : take_way(set);
        const auto index = static_cast<std::uint32_t>(set * ways_ + way);
        return {index, replace(set, index, line)};
    }

    // For callers that keep the order of use themselves: puts `line`, which must be absent, at `index`, which must be
    // in its `set`. Returns the line that was there before; kNoLine: none.
    LineNumber replace(std::size_t set, std::uint32_t index, LineNumber line) {
        if (ways_ <= kTaggedWays) {
            short_tag_at(set, index - set * ways_) = short_tag(line);
            if (__builtin_expect(!fits_short_tag(line), 0)) has_long_tags_ = true;
        }
        return line_of(std::exchange(lines_[index].tag, tag_of(line)));
    }

    std::uint32_t ways() const { return ways_; }
    std::size_t sets() const { return sets_; }

    // Calls function(index) for each line. Sets without lines are passed over by their tags, as the kernel would have
    // to supply a page for every few of them: in a small program, that took a third as long as everything else.
    template <class Function>
    void for_each(Function function) {
        const bool has_all_tags = ways_ <= kTaggedWays && !has_long_tags_;
        std::uint32_t index = 0;
        for (std::size_t set = 0; set < sets_; ++set) {
            if (has_all_tags && ways_with(set, 0) == all_ways()) {
                index += ways_;
                continue;
            }
            for (const std::uint32_t end = index + ways_; index < end; ++index) {
                if (lines_[index].tag != 0) function(index);
            }
        }
    }

    // Empties a slot; with all others of its set, or else the next line may not get it.
    void clear(std::uint32_t index) {
        lines_[index].tag = 0;
        if (ways_ <= kTaggedWays) short_tag_at(index / ways_, index % ways_) = 0;
        if (!has_order()) states_.clear(index / ways_, index % ways_);
    }

    // The same, and the next line of its set that is inserted goes there.
    void remove(std::uint32_t index) {
        clear(index);
        if (!has_order()) return;
        const std::size_t set = index / ways_;
        const auto way = static_cast<std::uint16_t>(index % ways_);
        if (ways_ <= kFewWays) {
            order_of(set).make_oldest(way, ways_);
        } else {
            std::uint16_t* const order = &order_[set * ways_];
            std::uint16_t* const at = std::find(order, order + ways_, way);
            std::rotate(at, at + 1, order + ways_);
        }
    }

    // Prefetch, on the host, what a look-up of `line` reads first; and then, once that has come, the rest: the line
    // itself, or the one that it will replace. (These functions must be inlined, as gcc drops calls of functions that
    // only prefetch.)
    [[gnu::always_inline]] void host_prefetch_set(LineNumber line) const {
        if (ways_ > kTaggedWays) return;
        const std::size_t set = set_of(line);
        __builtin_prefetch(&tags_[set * tag_lines_]);
        if (ways_ <= kFewWays) return;
        __builtin_prefetch(&tags_[set * tag_lines_ + 1]);
        __builtin_prefetch(&order_[set * ways_]);
    }
    [[gnu::always_inline]] void host_prefetch_line(LineNumber line) const {
        if (ways_ > kTaggedWays) return;
        const std::size_t set = set_of(line);
        const unsigned found = ways_with(set, short_tag(line));
        const unsigned way = found != 0 ? static_cast<unsigned>(std::countr_zero(found)) : oldest(set);
        __builtin_prefetch(&lines_[set * ways_ + way], 1);
    }

private:
    static constexpr std::uint32_t kFewWays = LruOrder::kMostWays;
    static constexpr std::uint32_t kTaggedWays = 2 * kFewWays;
    static constexpr std::uint32_t kWaysBesideOrder = 14;

    struct Line {
        std::uint64_t tag;  // see tag_of
        [[no_unique_address]] Use use;
    };

    struct TagsBesideOrder {
        std::uint32_t of_way[kWaysBesideOrder];
        LruOrder order;
    };
    union alignas(64) Tags {
        std::uint32_t of_way[kFewWays];  // see short_tag; 0: none
        TagsBesideOrder beside;          // with up to kWaysBesideOrder ways
    };
    static_assert(sizeof(Tags) == 64);

    LruOrder& order_of(std::size_t set) {
        return ways_ <= kWaysBesideOrder ? tags_[set].beside.order : few_order_[set];
    }
    const LruOrder& order_of(std::size_t set) const { return const_cast<CacheLines*>(this)->order_of(set); }

    unsigned oldest(std::size_t set) const {
        return ways_ <= kFewWays ? order_of(set).oldest(ways_) : order_[set * ways_ + ways_ - 1];
    }
    std::uint32_t& short_tag_at(std::size_t set, std::size_t way) {
        return tags_[set * tag_lines_ + way / kFewWays].of_way[way % kFewWays];
    }

    // Tags are stored such that zero bytes mean an empty slot.
    static std::uint64_t tag_of(LineNumber line) { return static_cast<std::uint64_t>(line) + 1; }
    static LineNumber line_of(std::uint64_t tag) { return LineNumber{tag - 1}; }

    // Different lines have different short tags, unless one of them does not fit.
    static std::uint32_t short_tag(LineNumber line) { return static_cast<std::uint32_t>(tag_of(line)); }
    static bool fits_short_tag(LineNumber line) { return tag_of(line) >> 32 == 0; }

    // Inlined, like what it calls: 2 % of the replay, 3 % with an L2, that gcc would not see by itself.
    [[gnu::always_inline]] std::uint32_t find_by_tag(std::size_t set, LineNumber line) const {
        for (unsigned ways = ways_with(set, short_tag(line)); ways != 0; ways &= ways - 1) {
            const auto index = static_cast<std::uint32_t>(set * ways_ + static_cast<unsigned>(std::countr_zero(ways)));
            if (__builtin_expect(fits_short_tag(line) && !has_long_tags_, 1) || has(index, line)) return index;
        }
        return kAbsent;
    }

    // A bit for each way that has this tag.
    [[gnu::always_inline]] unsigned ways_with(std::size_t set, std::uint32_t tag) const {
        unsigned ways = ways_of_line_with(tags_[set * tag_lines_], tag);
        if (ways_ > kFewWays) ways |= ways_of_line_with(tags_[set * tag_lines_ + 1], tag) << kFewWays;
        return ways & all_ways();
    }
    // Of up to kTaggedWays.
    unsigned all_ways() const { return (2u << (ways_ - 1)) - 1; }
    static unsigned ways_of_line_with(const Tags& tags, std::uint32_t tag) {
#if defined(__SSE2__)
        const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
        const auto* quarters = reinterpret_cast<const __m128i*>(tags.of_way);
        const auto equal = [&](int quarter) { return _mm_cmpeq_epi32(quarters[quarter], wanted); };
        return static_cast<unsigned>(_mm_movemask_epi8(
            _mm_packs_epi16(_mm_packs_epi32(equal(0), equal(1)), _mm_packs_epi32(equal(2), equal(3)))));
#else
        unsigned ways = 0;
        for (unsigned way = 0; way < kFewWays; ++way) ways |= (tags.of_way[way] == tag ? 1u : 0u) << way;
        return ways;
#endif
    }

    std::uint32_t find_in_many(std::size_t set, LineNumber line) const {
        const std::size_t first = set * ways_;
        for (std::uint32_t way = 0; way < ways_; ++way) {
            if (lines_[first + way].tag == tag_of(line)) return static_cast<std::uint32_t>(first + way);
        }
        return kAbsent;
    }

    // By the line's place in memory, with the lowest bits of its number mixed with all others if the index is hashed.
    [[gnu::noinline]] std::size_t set_slowly(LineNumber line) const {
        std::uint64_t number = static_cast<std::uint64_t>(line);
        if (pages_ != nullptr) number = pages_->physical(line, line_bits_);
        if (hash_bits_ != 0) {
            std::uint64_t pieces = 0;
            for (std::uint64_t rest = number >> hash_bits_; rest != 0; rest >>= hash_bits_) pieces ^= rest;
            number ^= pieces & ((std::uint64_t{1} << hash_bits_) - 1);
        }
        return static_cast<std::size_t>(number % sets_);
    }

    // Whether the ways of a set are in an order, as LRU and FIFO need it.
    bool has_order() const {
        return policy_ == ReplacementPolicy::kLru || policy_ == ReplacementPolicy::kFifo;
    }

    [[gnu::noinline]] std::uint32_t use_slowly(LineNumber line) {
        if (pages_ != nullptr && pages_->has_order()) pages_->touch(line, line_bits_);
        const std::size_t set = set_of(line);
        const std::uint32_t index = ways_ <= kTaggedWays ? find_by_tag(set, line) : find_in_many(set, line);
        if (index == kAbsent || policy_ == ReplacementPolicy::kFifo) return index;
        const auto way = static_cast<std::uint32_t>(index - set * ways_);
        if (is_small_lru_) {
            order_of(set).use(way);
        } else if (has_order()) {
            std::uint16_t* order = &order_[set * ways_];
            make_first(order, static_cast<std::size_t>(std::find(order, order + ways_, way) - order));
        } else {
            states_.use(set, way);
        }
        return index;
    }

    // The way for a line that is loaded.
    [[gnu::noinline]] std::size_t take_way(std::size_t set) {
        if (has_order()) {
            if (ways_ <= kFewWays) return order_of(set).use_oldest(ways_);
            std::uint16_t* order = &order_[set * ways_];
            if (order[0] == order[1]) {  // still zeros
                for (std::uint32_t i = 0; i < ways_; ++i) order[i] = static_cast<std::uint16_t>(i);
            }
            make_first(order, ways_ - 1);
            return order[0];
        }
        states_.before_load(set);
        std::uint32_t way = empty_way(set);
        if (way == ways_) way = states_.victim(set);
        states_.load(set, way);
        return way;
    }

    // The empty way of a set that is filled first; as many as there are if all are full.
    std::uint32_t empty_way(std::size_t set) const {
        const auto is_empty = [&](std::uint32_t way) { return lines_[set * ways_ + way].tag == 0; };
        if (ways_ <= kTaggedWays && ways_with(set, 0) == 0) return ways_;
        std::uint32_t way = 0;
        if (states_.fills_backwards()) {
            for (way = ways_; way != 0 && !is_empty(way - 1); --way) {}
            return way == 0 ? ways_ : way - 1;
        }
        while (way != ways_ && !is_empty(way)) ++way;
        return way;
    }

    static void make_first(std::uint16_t* order, std::size_t rank) {
        const std::uint16_t way = order[rank];
        std::copy_backward(order, order + rank, order + rank + 1);
        order[0] = way;
    }

    std::uint32_t ways_;
    std::size_t sets_;
    PagePlacement* pages_;  // null if lines lie at their addresses
    unsigned line_bits_;
    std::uint64_t set_mask_;  // 0 if the set is not just the lowest bits of a line's number
    unsigned hash_bits_;      // of a line's number that are mixed with all others; 0: none
    ReplacementPolicy policy_;
    bool is_small_lru_;                 // with up to kFewWays ways
    bool is_fast_;                      // that, and nothing is asked for that use() does not do
    ZeroedArray<Line> lines_;           // followed by an empty one
    std::size_t tag_lines_;             // host lines with the tags of a set
    ZeroedArray<Tags> tags_;            // by set and host line; empty with more than kTaggedWays ways
    ZeroedArray<LruOrder> few_order_;   // by set, with up to kFewWays ways; empty if the order is beside the tags
    ZeroedArray<std::uint16_t> order_;  // with more: the ways of each set, most recently used first; all 0 if unused
    ReplacementStates states_;          // of policies that have no order
    bool has_long_tags_ = false;        // whether there was a line that does not fit a short tag
};

}  // namespace bd
