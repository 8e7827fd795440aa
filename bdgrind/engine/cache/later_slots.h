// SPDX-License-Identifier: GPL-2.0-or-later
//
// Counts the slots of a cache that were touched later than a line that left it. As each miss asks for that, slots are
// not compared one by one: each group of eight has a floor, a time before which none of them was touched, and times
// only grow.

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "engine/base/types.h"

namespace bd {

class LaterSlots {
public:
    // `times`: those of the slots' last touches, below 2^31; 0: empty. None may be earlier than in the last call.
    [[gnu::always_inline]] std::uint64_t count(std::span<const TouchTime> times, TouchTime than) {
        const std::size_t parts = times.size() / kInPart;
        if (__builtin_expect(floors_.size() < parts * kGroups, 0)) start(parts);
        std::uint64_t later = times.size();
        for (std::size_t first = 0; first < parts; first += kAtOnce) {
            for (unsigned unsure = unsure_parts(&floors_[first * kGroups], than); unsure != 0; unsure &= unsure - 1) {
                const std::size_t part = first + static_cast<unsigned>(std::countr_zero(unsure));
                later -= count_earlier(&times[part * kInPart], than, &floors_[part * kGroups]);
            }
        }
        for (const TouchTime time : times.subspan(parts * kInPart)) later -= time <= than;
        return later;
    }

    // Forgets the floors, as times may have become earlier.
    void forget() { floors_.clear(); }

private:
    static constexpr std::size_t kGroups = 4;  // their floors are one vector
    static constexpr std::size_t kInGroup = 8;
    static constexpr std::size_t kInPart = kGroups * kInGroup;
    static constexpr std::size_t kAtOnce = 16;  // parts

    // The floors beyond the slots are such that they never count.
    void start(std::size_t parts) {
        floors_.assign((parts + kAtOnce - 1) / kAtOnce * kAtOnce * kGroups, ~TouchTime{0} >> 1);
        std::fill_n(floors_.begin(), parts * kGroups, 0);
    }

#if defined(__SSE2__)
    static __m128i four(const TouchTime* times) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(times));
    }
    // For four vectors of numbers with all bits or none: a vector of four numbers, with all bits if the vector has all.
    static __m128i are_all(__m128i first, __m128i second, __m128i third, __m128i fourth) {
        const __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(first, second), _mm_packs_epi32(third, fourth));
        return _mm_cmpeq_epi32(bytes, _mm_set1_epi32(-1));
    }

    // A bit for each of kAtOnce parts that has a floor which is not later.
    [[gnu::always_inline]] static unsigned unsure_parts(const TouchTime* floors, TouchTime than) {
        const __m128i time = _mm_set1_epi32(static_cast<int>(than));
        const auto are_later = [&](unsigned part) { return _mm_cmpgt_epi32(four(floors + part * kGroups), time); };
        const auto four_parts = [&](unsigned part) {
            return are_all(are_later(part), are_later(part + 1), are_later(part + 2), are_later(part + 3));
        };
        const __m128i sure = _mm_packs_epi16(_mm_packs_epi32(four_parts(0), four_parts(4)),
                                             _mm_packs_epi32(four_parts(8), four_parts(12)));
        return ~static_cast<unsigned>(_mm_movemask_epi8(sure)) & 0xffff;
    }
    static __m128i least(__m128i one, __m128i other) {
        const __m128i is_other = _mm_cmpgt_epi32(one, other);
        return _mm_or_si128(_mm_and_si128(is_other, other), _mm_andnot_si128(is_other, one));
    }
    // Counts the slots of a part that were not touched later, and raises its floors as far as possible: lines come back
    // after different times, and a floor that is just sufficient for one is not for the next. (chase: 20 % less
    // replay.)
    [[gnu::always_inline]] static unsigned count_earlier(const TouchTime* times, TouchTime than, TouchTime* floors) {
        const __m128i time = _mm_set1_epi32(static_cast<int>(than));
        __m128i later = _mm_setzero_si128();  // minus the number of later ones
        __m128i groups[kGroups];              // the minimum of each two
        for (std::size_t i = 0; i < kGroups; ++i) {
            const __m128i low = four(times + i * kInGroup);
            const __m128i high = four(times + i * kInGroup + kInGroup / 2);
            later = _mm_add_epi32(later, _mm_add_epi32(_mm_cmpgt_epi32(low, time), _mm_cmpgt_epi32(high, time)));
            groups[i] = least(low, high);
        }
        const __m128i first = least(_mm_unpacklo_epi32(groups[0], groups[1]), _mm_unpackhi_epi32(groups[0], groups[1]));
        const __m128i last = least(_mm_unpacklo_epi32(groups[2], groups[3]), _mm_unpackhi_epi32(groups[2], groups[3]));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(floors),
                         least(_mm_unpacklo_epi64(first, last), _mm_unpackhi_epi64(first, last)));
        later = _mm_add_epi32(later, _mm_srli_si128(later, 8));
        later = _mm_add_epi32(later, _mm_srli_si128(later, 4));
        return static_cast<unsigned>(static_cast<int>(kInPart) + _mm_cvtsi128_si32(later));
    }
#else
    static unsigned unsure_parts(const TouchTime* floors, TouchTime than) {
        unsigned unsure = 0;
        for (unsigned i = 0; i < kAtOnce * kGroups; ++i) unsure |= (floors[i] <= than ? 1u : 0u) << i / kGroups;
        return unsure;
    }
    static unsigned count_earlier(const TouchTime* times, TouchTime than, TouchTime* floors) {
        unsigned count = 0;
        for (std::size_t group = 0; group < kGroups; ++group) {
            const std::span<const TouchTime> here(times + group * kInGroup, kInGroup);
            for (const TouchTime time : here) count += time <= than;
            floors[group] = *std::min_element(here.begin(), here.end());
        }
        return count;
    }
#endif

    std::vector<TouchTime> floors_;  // by group; none of its slots has an earlier time
};

}  // namespace bd
