// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lines of different sizes: which of them share bytes, and what the use of one says about another.

#pragma once

#include <cstdint>

#include "engine/base/types.h"
#include "engine/cache/l1_cache.h"

namespace bd {

// `kCommonLines`: whether all lines have the same size. `Use`: that of a line.
template <bool kCommonLines, class Use>
struct LineOverlap {
    using Mask = MaskOfLine<kCommonLines>;

    // Adds the use of a line of 1 << `bits` bytes to that of another one, of 1 << `to_bits`, for the bytes that both
    // have.
    static void merge(unsigned bits, LineNumber line, const Use& from, unsigned to_bits, LineNumber to_line, Use& to) {
        if constexpr (kCommonLines) {
            to.add(from);
        } else {
            const Mask bytes = from.bytes.moved(distance(bits, line, to_bits, to_line)) & Mask::range(0, 1u << to_bits);
            if (!bytes.empty()) to.touch(bytes, from.accesses);
        }
    }
    // `bytes` of a line of 1 << `bits` bytes, without those that are in the other line, too.
    static Mask without(Mask bytes, unsigned bits, LineNumber line, unsigned other_bits, LineNumber other) {
        if constexpr (kCommonLines) {
            return {};
        } else {
            return bytes.without(Mask::range(0, 1u << other_bits).moved(distance(other_bits, other, bits, line)));
        }
    }
    // The distance from the beginning of the other line to that of `line`, in bytes.
    static int distance(unsigned bits, LineNumber line, unsigned other_bits, LineNumber other) {
        return static_cast<int>(static_cast<std::int64_t>(first_byte(bits, line) - first_byte(other_bits, other)));
    }

    // The first and the last byte of a line of 1 << `bits` bytes.
    static Address first_byte(unsigned bits, LineNumber line) { return static_cast<Address>(line) << bits; }
    static Address last_byte(unsigned bits, LineNumber line) {
        return first_byte(bits, line) + ((Address{1} << bits) - 1);
    }

    // The lines of 1 << `other_bits` bytes that share bytes with a line of 1 << `bits` bytes.
    template <class Function>
    static void for_each_line(unsigned bits, LineNumber line, unsigned other_bits, Function function) {
        if constexpr (kCommonLines) {
            function(line);
        } else {
            for_each_line_between(first_byte(bits, line), last_byte(bits, line), other_bits, function);
        }
    }
    template <class Function>
    static void for_each_line_between(Address first, Address last, unsigned bits, Function function) {
        for (Address number = first >> bits; number <= last >> bits; ++number) function(LineNumber{number});
    }
};

}  // namespace bd
