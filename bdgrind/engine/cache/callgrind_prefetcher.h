// SPDX-License-Identifier: GPL-2.0-or-later
//
// A simple hardware prefetcher for LL: that of --simulate-hwpref, like Callgrind's. It looks at the lines that L1
// misses request, and separates eight streams by their pages of 4 KiB. When three lines of a stream follow each other,
// upwards or downwards, it prefetches the line five further on. Time plays no part: prefetched lines are there at once.
//
// A line at which a stream turns or jumps starts it anew, in either direction.

#pragma once

#include <array>
#include <cstdint>

#include "engine/base/types.h"

namespace bd {

class CallgrindPrefetcher {
public:
    // `line_bits`: log2 of the LL's line size.
    explicit CallgrindPrefetcher(unsigned line_bits) : line_bits_(line_bits) {}

    // Notes that `line` is looked up. Returns the line to be prefetched; kNoLine: none.
    LineNumber on_lookup(LineNumber line) {
        const auto number = static_cast<std::uint64_t>(line);
        Stream& stream = streams_[(number << line_bits_ >> kPageBits) % kStreams];
        const std::uint64_t step = number - stream.last;
        if (step == 0) return kNoLine;
        stream.last = number;
        if (step == 1 && stream.run >= 0) {
            if (++stream.run >= kLongRun) return LineNumber{number + kDistance};
        } else if (step == ~std::uint64_t{0} && stream.run <= 0) {
            if (--stream.run <= -kLongRun && number >= kDistance) return LineNumber{number - kDistance};
        } else {
            stream.run = 0;
        }
        return kNoLine;
    }

    void clear() { streams_ = {}; }

private:
    static constexpr unsigned kPageBits = 12;
    static constexpr std::size_t kStreams = 8;
    static constexpr std::int64_t kLongRun = 2;  // steps
    static constexpr std::uint64_t kDistance = 5;

    struct Stream {
        std::uint64_t last = 0;  // line
        std::int64_t run = 0;    // the number of consecutive steps of one line; negative: downwards
    };

    unsigned line_bits_;
    std::array<Stream, kStreams> streams_{};
};

}  // namespace bd
