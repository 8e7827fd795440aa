// SPDX-License-Identifier: GPL-2.0-or-later
//
// The bytes of a cache line that were touched, one bit per byte.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace bd {

// `kWords` 64-bit words serve lines of up to 64 * kWords bytes.
template <unsigned kWords>
class ByteMask {
public:
    // Bytes [first, first + size). Requires size >= 1 and first + size <= 64 * kWords.
    static constexpr ByteMask range(unsigned first, unsigned size) {
        ByteMask mask;
        if constexpr (kWords == 1) {
            mask.words_[0] = ((std::uint64_t{2} << (size - 1)) - 1) << first;
        } else {
            for (unsigned byte = first; byte < first + size;) {
                const unsigned bit = byte % 64;
                const unsigned here = std::min(64 - bit, first + size - byte);
                mask.words_[byte / 64] |= ((std::uint64_t{2} << (here - 1)) - 1) << bit;
                byte += here;
            }
        }
        return mask;
    }

    // The lowest `size` bits of `bytes`, moved to `first`. Requires the same, and size <= 64.
    static constexpr ByteMask of(std::uint64_t bytes, unsigned first, unsigned size) {
        ByteMask mask;
        if constexpr (kWords == 1) {
            mask.words_[0] = bytes << first;
        } else {
            const unsigned bit = first % 64;
            mask.words_[first / 64] = bytes << bit;
            if (bit + size > 64) mask.words_[first / 64 + 1] = bytes >> (64 - bit);
        }
        return mask;
    }

    constexpr ByteMask& operator|=(const ByteMask& other) {
        for (unsigned i = 0; i < kWords; ++i) words_[i] |= other.words_[i];
        return *this;
    }
    constexpr ByteMask operator&(const ByteMask& other) const {
        ByteMask both;
        for (unsigned i = 0; i < kWords; ++i) both.words_[i] = words_[i] & other.words_[i];
        return both;
    }

    constexpr ByteMask without(const ByteMask& other) const {
        ByteMask rest;
        for (unsigned i = 0; i < kWords; ++i) rest.words_[i] = words_[i] & ~other.words_[i];
        return rest;
    }

    // The mask moved by `bytes` towards higher (positive) or lower addresses; what leaves the mask is dropped.
    constexpr ByteMask moved(int bytes) const {
        ByteMask moved;
        for (unsigned from = 0; from < 64 * kWords; ++from) {
            const int to = static_cast<int>(from) + bytes;
            if (!test(from) || to < 0 || to >= static_cast<int>(64 * kWords)) continue;
            moved.words_[static_cast<unsigned>(to) / 64] |= std::uint64_t{1} << (to % 64);
        }
        return moved;
    }

    // 64 bytes, a bit for each.
    constexpr std::uint64_t word(unsigned index) const { return words_[index]; }

    constexpr bool test(unsigned byte) const { return (words_[byte / 64] >> (byte % 64) & 1) != 0; }

    // The number of touched bytes.
    constexpr unsigned count() const {
        unsigned count = 0;
        for (const std::uint64_t word : words_) count += ones(word);
        return count;
    }
    constexpr bool empty() const { return *this == ByteMask{}; }

    constexpr bool operator==(const ByteMask&) const = default;

private:
    // Without a processor's own instruction std::popcount is a call, at every eviction.
    static constexpr unsigned ones(std::uint64_t word) {
        word -= word >> 1 & 0x5555555555555555;
        word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
        word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
        return static_cast<unsigned>(word * 0x0101010101010101 >> 56);
    }

    std::array<std::uint64_t, kWords> words_{};
};

}  // namespace bd
