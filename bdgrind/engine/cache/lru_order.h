// SPDX-License-Identifier: GPL-2.0-or-later
//
// The order in which the ways of a set were used: their numbers, four bits each, the most recently used first. Zero
// bytes stand for the order of their numbers.

#pragma once

#include <bit>
#include <cstdint>

namespace bd {

class LruOrder {
public:
    static constexpr unsigned kMostWays = 16;

    // Makes `way` the most recently used one.
    void use(unsigned way) {
        // The lowest zero among the differences is at the way's rank.
        const std::uint64_t differences = ways() ^ way * kOnes;
        const std::uint64_t zeros = (differences - kOnes) & ~differences & (kOnes << 3);
        move_to_front(static_cast<unsigned>(std::countr_zero(zeros)) / 4, way);
    }
    // Makes `way` the least recently used one of the first `count` ways.
    void make_oldest(unsigned way, unsigned count) {
        use(way);
        const std::uint64_t changed = (count == kMostWays ? 0 : std::uint64_t{1} << 4 * count) - 1;
        const std::uint64_t others = (ways() & changed) >> 4 | std::uint64_t{way} << 4 * (count - 1);
        ranks_ = ((ways() & ~changed) | others) ^ kInitial;
    }

    // The least recently used of the first `count` ways. No other ways may have been used.
    unsigned oldest(unsigned count) const { return static_cast<unsigned>(ways() >> 4 * (count - 1) & 0xf); }
    unsigned use_oldest(unsigned count) {
        const unsigned way = oldest(count);
        move_to_front(count - 1, way);
        return way;
    }

private:
    static constexpr std::uint64_t kOnes = 0x1111111111111111;
    static constexpr std::uint64_t kInitial = 0xfedcba9876543210;

    std::uint64_t ways() const { return ranks_ ^ kInitial; }

    void move_to_front(unsigned rank, unsigned way) {
        const std::uint64_t before = (std::uint64_t{1} << 4 * rank) - 1;
        const std::uint64_t after = ~before << 4;
        const std::uint64_t now = ways();
        ranks_ = ((now & after) | (now & before) << 4 | way) ^ kInitial;
    }

    std::uint64_t ranks_;
};

}  // namespace bd
