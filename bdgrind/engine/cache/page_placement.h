// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where pages lie in simulated memory: which frame has a page. Caches behind the first level choose the sets of their
// lines by that. Lines keep the numbers of their virtual addresses otherwise, as each page has a frame of its own.

#pragma once

#include <cstdint>

#include "engine/base/geometry.h"
#include "engine/base/line_table.h"
#include "engine/base/types.h"

namespace bd {

class PagePlacement {
public:
    explicit PagePlacement(const PageRules& rules) : rules_(rules) {}

    // Whether frames are not simply the pages.
    bool is_used() const { return rules_.frames != PageFrames::kVirtual; }
    // Whether touch() must be told of each line before it is looked up.
    bool has_order() const { return rules_.frames == PageFrames::kContiguous; }

    // A line of 1 << `line_bits` bytes is about to be looked up. If it is the first of its page, that gets a frame.
    void touch(LineNumber line, unsigned line_bits) {
        std::uint32_t& frame = frames_[LineNumber{page_of(line, line_bits)}];
        if (frame == 0) frame = ++touched_;
    }

    // The number of the line that is in this one's place in memory.
    std::uint64_t physical(LineNumber line, unsigned line_bits) {
        const unsigned bits = kBasePageBits - line_bits;
        const std::uint64_t within = static_cast<std::uint64_t>(line) & ((std::uint64_t{1} << bits) - 1);
        return frame_of(page_of(line, line_bits)) << bits | within;
    }

private:
    static constexpr unsigned kFrameBits = 40;  // addresses in memory have 52 then

    static std::uint64_t page_of(LineNumber line, unsigned line_bits) {
        return static_cast<std::uint64_t>(line) >> (kBasePageBits - line_bits);
    }

    // That of a page which was not touched yet may be any.
    std::uint64_t frame_of(std::uint64_t page) {
        if (rules_.frames == PageFrames::kContiguous) return frames_[LineNumber{page}];
        std::uint64_t mixed = page + (rules_.seed + 1) * 0x9e3779b97f4a7c15;
        mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
        return (mixed ^ mixed >> 31) >> (64 - kFrameBits);
    }

    PageRules rules_;
    LineTable<std::uint32_t> frames_;  // by page, from 1 on, of kContiguous
    std::uint32_t touched_ = 0;
};

}  // namespace bd
