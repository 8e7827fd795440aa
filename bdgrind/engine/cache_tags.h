// SPDX-License-Identifier: GPL-2.0-or-later
//
// The tags of one set-associative cache with least-recently-used replacement. It says which lines are in the cache
// and where; what is known about a line is kept by others under the line's index, which does not change as long as
// the line stays.

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/check.h"
#include "engine/geometry.h"
#include "engine/types.h"
#include "engine/zeroed_array.h"

namespace bd {

class CacheTags {
public:
    static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

    struct Place {
        std::uint32_t index;
        LineNumber evicted;  // what was there before; kNoLine: nothing, or `line` itself on a hit
    };

    explicit CacheTags(const CacheGeometry& geometry)
        : ways_(geometry.ways),
          sets_(geometry.sets()),
          set_mask_((sets_ & (sets_ - 1)) == 0 ? sets_ - 1 : 0),
          tags_(geometry.lines()),
          order_(geometry.lines()) {
        BD_CHECK(geometry_error(geometry) == nullptr);
    }

    bool has_power_of_two_sets() const { return set_mask_ != 0 || sets_ == 1; }

    std::uint64_t set_of(LineNumber line) const {
        const auto number = static_cast<std::uint64_t>(line);
        return has_power_of_two_sets() ? number & set_mask_ : number % sets_;
    }

    // kNoLine if there is none.
    LineNumber operator[](std::uint32_t index) const { return line(tags_[index]); }
    std::uint32_t size() const { return static_cast<std::uint32_t>(tags_.size()); }

    // Where `line` is, or kAbsent. Does not count as a use.
    std::uint32_t find(LineNumber line) const {
        const std::uint64_t first = set_of(line) * ways_;
        for (std::uint32_t way = 0; way < ways_; ++way) {
            if (tags_[first + way] == tag(line)) return static_cast<std::uint32_t>(first + way);
        }
        return kAbsent;
    }

    // Uses `line` if it is there and returns its index, else kAbsent.
    std::uint32_t use(LineNumber line) {
        const std::uint64_t first = set_of(line) * ways_;
        std::uint16_t* order = &order_[first];
        if (tags_[first + order[0]] == tag(line)) return static_cast<std::uint32_t>(first + order[0]);
        for (std::uint32_t way = 0; way < ways_; ++way) {
            if (tags_[first + way] != tag(line)) continue;
            std::uint32_t rank = 1;
            while (order[rank] != way) ++rank;
            make_first(order, rank);
            return static_cast<std::uint32_t>(first + way);
        }
        return kAbsent;
    }

    // Puts `line`, which must be absent, in the place of the least recently used line of its set.
    Place insert(LineNumber line) {
        const std::uint64_t first = set_of(line) * ways_;
        std::uint16_t* order = &order_[first];
        if (ways_ > 1 && order[0] == order[1]) {  // still zeros
            for (std::uint32_t way = 0; way < ways_; ++way) order[way] = static_cast<std::uint16_t>(way);
        }
        make_first(order, ways_ - 1);
        const auto index = static_cast<std::uint32_t>(first + order[0]);
        return {index, CacheTags::line(std::exchange(tags_[index], tag(line)))};
    }

    void clear(std::uint32_t index) { tags_[index] = 0; }

    std::size_t bytes() const { return tags_.size() * (sizeof tags_[0] + sizeof order_[0]); }

private:
    // Stored so that zero bytes mean an empty place.
    static std::uint64_t tag(LineNumber line) { return static_cast<std::uint64_t>(line) + 1; }
    static LineNumber line(std::uint64_t tag) { return LineNumber{tag - 1}; }

    static void make_first(std::uint16_t* order, std::uint32_t rank) {
        const std::uint16_t way = order[rank];
        std::copy_backward(order, order + rank, order + rank + 1);
        order[0] = way;
    }

    std::uint32_t ways_;
    std::uint64_t sets_;
    std::uint64_t set_mask_;  // 0 if the number of sets is 1 or not a power of two
    ZeroedArray<std::uint64_t> tags_;
    ZeroedArray<std::uint16_t> order_;  // per set: its ways, most recently used first; all 0 before the first use
};

}  // namespace bd
