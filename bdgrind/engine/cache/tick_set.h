// SPDX-License-Identifier: GPL-2.0-or-later
//
// A set of ticks (points in time, counted from 0) that can count its ticks later than a given one. It has a bit for
// each tick, and the numbers of ticks in each 2^6, 2^10, 2^14, 2^18 and 2^22, so that adding, removing and counting
// take the same time for any number of ticks. (In a prototype, this was faster than a tree and than sorted blocks.)

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "engine/base/check.h"
#include "engine/base/types.h"

namespace bd {

// A sum of counts. It has as many parts as the processor adds at once.
#if defined(__SSE2__)
class CountSum {
public:
    // Adds those of 16 counts whose masks have all bits set.
    template <class Count>
    [[gnu::always_inline]] void add(const Count* counts, const Count* mask) {
        for (std::size_t i = 0; i < sizeof(Count); ++i) {
            const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(counts) + i);
            const __m128i wanted = _mm_loadu_si128(reinterpret_cast<const __m128i*>(mask) + i);
            sums_ = _mm_add_epi32(sums_, added(_mm_and_si128(some, wanted), Count{}));
        }
    }
    std::uint32_t total() const {
        const __m128i halves = _mm_add_epi32(sums_, _mm_srli_si128(sums_, 8));
        return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_add_epi32(halves, _mm_srli_si128(halves, 4))));
    }

private:
    static __m128i added(__m128i counts, std::uint8_t) { return _mm_sad_epu8(counts, _mm_setzero_si128()); }
    static __m128i added(__m128i counts, std::uint16_t) { return _mm_madd_epi16(counts, _mm_set1_epi16(1)); }
    static __m128i added(__m128i counts, std::uint32_t) { return counts; }

    __m128i sums_ = _mm_setzero_si128();
};
#else
class CountSum {
public:
    template <class Count>
    void add(const Count* counts, const Count* mask) {
        for (std::size_t i = 0; i < 16; ++i) total_ += static_cast<Count>(counts[i] & mask[i]);
    }
    std::uint32_t total() const { return total_; }

private:
    std::uint32_t total_ = 0;
};
#endif

// Counts in groups of 16. Counts of 16 bits must be below 2^15.
template <class Count>
class GroupedCounts {
public:
    void reset(std::size_t size) { counts_.assign(rounded(size), 0); }
    void grow(std::size_t size) { counts_.resize(rounded(size)); }
    Count& operator[](std::size_t index) { return counts_[index]; }
    Count operator[](std::size_t index) const { return counts_[index]; }

    [[gnu::always_inline]] void host_prefetch(std::size_t index) const {
        __builtin_prefetch(counts_.data() + index, 1);
    }

    // Adds the counts behind `index` in its group. Reads the whole group, as a loop of varying length would be
    // mispredicted.
    [[gnu::always_inline]] void add_behind(std::size_t index, CountSum* sum) const {
        sum->add(&counts_[index & ~(kInGroup - 1)], &kMasks[kInGroup - 1 - index % kInGroup]);
    }

private:
    static constexpr std::size_t kInGroup = 16;
    static std::size_t rounded(std::size_t size) { return (size + kInGroup - 1) & ~(kInGroup - 1); }

    // As many zeros as counts in a group, then ones.
    static constexpr std::array<Count, 2 * kInGroup> kMasks = [] {
        std::array<Count, 2 * kInGroup> masks{};
        for (std::size_t i = kInGroup; i < masks.size(); ++i) masks[i] = static_cast<Count>(~Count{0});
        return masks;
    }();

    std::vector<Count> counts_;
};

// Renumbers the ticks of a set from 1 on, in their order.
class TickRanks {
public:
    // `words`: a bit for each tick.
    explicit TickRanks(std::vector<std::uint64_t> words);

    // The number of ticks of the set before `tick`.
    std::uint64_t before(std::uint64_t tick) const {
        if (tick / 64 >= words_.size()) return size_;
        const auto word = static_cast<std::size_t>(tick / 64);
        return ranks_[word] + ones(words_[word] & ((std::uint64_t{1} << tick % 64) - 1));
    }
    // The new time of a tick of the set; of any other time, that of the last tick before it.
    TouchTime renumbered(TouchTime time) const { return static_cast<TouchTime>(before(std::uint64_t{time} + 1)); }

    std::uint64_t size() const { return size_; }

    // Without a processor's own instruction std::popcount is a call.
    static std::uint64_t ones(std::uint64_t word) {
        word -= word >> 1 & 0x5555555555555555;
        word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
        return ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56;
    }

private:
    std::vector<std::uint64_t> words_;
    std::vector<std::uint32_t> ranks_;  // by word: how many ticks come before it
    std::uint64_t size_ = 0;
};

class TickSet {
public:
    // `capacity`: ticks below it can be inserted without growing.
    explicit TickSet(std::uint64_t capacity) { clear(capacity); }

    void clear(std::uint64_t capacity);
    std::uint64_t capacity() const { return words_.size() * std::uint64_t{64}; }
    std::uint64_t size() const { return size_; }

    // Adds a tick that is not in the set. Grows the capacity if need be.
    void insert(std::uint64_t tick) {
        if (__builtin_expect(tick >= capacity(), 0)) grow(tick);
        const std::size_t word = word_of(tick);
        words_[word] |= std::uint64_t{1} << tick % 64;
        ++by_word_[word];
        ++by_2_4_words_[word >> 4];
        ++by_2_8_words_[word >> 8];
        ++by_2_12_words_[word >> 12];
        ++by_2_16_words_[word >> 16];
        ++size_;
    }
    // Adds the ticks from 1 to `last` to an empty set, whose capacity must be greater.
    void insert_first(std::uint64_t last);
    // Removes a tick that is in the set.
    void remove(std::uint64_t tick) {
        const std::size_t word = word_of(tick);
        BD_DCHECK(words_[word] >> tick % 64 & 1);
        words_[word] &= ~(std::uint64_t{1} << tick % 64);
        --by_word_[word];
        --by_2_4_words_[word >> 4];
        --by_2_8_words_[word >> 8];
        --by_2_12_words_[word >> 12];
        --by_2_16_words_[word >> 16];
        --size_;
    }

    // The number of ticks in the set that are later than this one, which must be below the capacity.
    std::uint64_t count_behind(std::uint64_t tick) const {
        const std::size_t word = word_of(tick);
        CountSum sum;
        by_word_.add_behind(word, &sum);
        by_2_4_words_.add_behind(word >> 4, &sum);
        by_2_8_words_.add_behind(word >> 8, &sum);
        by_2_12_words_.add_behind(word >> 12, &sum);
        std::uint64_t count = TickRanks::ones(words_[word] >> tick % 64 >> 1) + sum.total();
        for (std::size_t i = (word >> 16) + 1; i < by_2_16_words_.size(); ++i) count += by_2_16_words_[i];
        return count;
    }

    // Whether count_behind(tick) is at least `limit`. Mostly decided by a few counts.
    bool has_behind(std::uint64_t tick, std::uint64_t limit) const {
        const std::size_t group = word_of(tick) >> 8;
        CountSum sum;
        by_2_8_words_.add_behind(group, &sum);
        by_2_12_words_.add_behind(group >> 4, &sum);
        std::uint64_t count = sum.total();
        for (std::size_t i = (group >> 8) + 1; i < by_2_16_words_.size(); ++i) count += by_2_16_words_[i];
        if (count >= limit) return true;
        return count + by_2_8_words_[group] >= limit && count_behind(tick) >= limit;
    }

    // The ranks of the ticks in the set and of those in `more` that are not 0. Afterwards, the set must be cleared.
    TickRanks take_ranks(std::span<const TouchTime> more = {}) {
        for (const TouchTime tick : more) {
            if (tick == 0) continue;
            if (word_of(tick) >= words_.size()) words_.resize(word_of(tick) + 1);
            words_[word_of(tick)] |= std::uint64_t{1} << tick % 64;
        }
        return TickRanks(std::move(words_));
    }

    // Prefetches what insert(), remove() and count_behind() need for a tick, which may be beyond the capacity.
    [[gnu::always_inline]] void host_prefetch(std::uint64_t tick) const {
        __builtin_prefetch(words_.data() + word_of(tick), 1);
        by_word_.host_prefetch(word_of(tick));
    }

private:
    static std::size_t word_of(std::uint64_t tick) { return static_cast<std::size_t>(tick / 64); }
    void grow(std::uint64_t tick);

    std::uint64_t size_ = 0;
    std::vector<std::uint64_t> words_;     // a bit for each tick
    GroupedCounts<std::uint8_t> by_word_;  // the number of ticks in each word,
    GroupedCounts<std::uint16_t> by_2_4_words_;
    GroupedCounts<std::uint16_t> by_2_8_words_;
    GroupedCounts<std::uint32_t> by_2_12_words_;
    std::vector<std::uint32_t> by_2_16_words_;  // and in each 2^16 words
};

}  // namespace bd
