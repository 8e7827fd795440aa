// SPDX-License-Identifier: GPL-2.0-or-later
//
// A simple hardware prefetcher for the LL, like Callgrind's: it looks at the lines that L1 misses ask
// for, keeps apart eight streams by the page of 4 KiB they lie in, and when three lines of a stream have followed each
// other, upwards or downwards, wants the line five further on. Time plays no part: what is prefetched is there at once.
//
// The line at which a stream turns, or jumps, starts it anew in either direction.

#pragma once

#include <array>
#include <cstdint>

#include "engine/base/types.h"

namespace bd {

class StreamPrefetcher {
public:
    // `line_bits`: log2 of the LL's line size.
    explicit StreamPrefetcher(unsigned line_bits) : line_bits_(line_bits) {}

    // `line` is looked for. Returns the line to be fetched on that occasion; kNoLine: none.
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
        std::int64_t run = 0;    // how many steps of one line it has made, downwards below 0
    };

    unsigned line_bits_;
    std::array<Stream, kStreams> streams_{};
};

}  // namespace bd
