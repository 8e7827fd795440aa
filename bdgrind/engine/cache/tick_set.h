// SPDX-License-Identifier: GPL-2.0-or-later
//
// A set of ticks, points of a time that is counted from 0, which tells how many of its ticks are later than a given
// one. A bit for each tick, and counts of the ticks in each 2^6, 2^12, 2^18 and 2^24, so that adding, removing and
// counting take the same time for any number of ticks. (In a prototype, that won against a tree and against sorted
// blocks.)

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/types.h"

namespace bd {

// Counts of kBits bits each, packed in words.
template <unsigned kBits>
class PackedCounts {
public:
    void reset(std::size_t size) { words_.assign((size + kInWord - 1) / kInWord, 0); }
    void grow(std::size_t size) { words_.resize((size + kInWord - 1) / kInWord); }

    void increment(std::size_t index) { words_[index / kInWord] += one(index); }
    void decrement(std::size_t index) { words_[index / kInWord] -= one(index); }
    std::uint64_t operator[](std::size_t index) const { return words_[index / kInWord] >> shift(index) & kMask; }

    // The sum of the counts behind `index` that are in the same 64 of them.
    std::uint64_t sum_behind(std::size_t index) const {
        std::size_t word = index / kInWord;
        const std::size_t end = (index | 63) / kInWord + 1;
        // Twice, as all bits of a word are too many for one shift.
        std::uint64_t sum = in_lanes(words_[word] >> shift(index) >> kBits);
        for (++word; word < end; ++word) sum += in_lanes(words_[word]);
        return sum_of_lanes(sum);
    }

private:
    static constexpr std::size_t kInWord = 64 / kBits;
    static constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;
    // Every other count, with room for the sum of 64.
    static constexpr std::uint64_t kLanes = ~std::uint64_t{0} / ((std::uint64_t{1} << kBits) + 1);

    static unsigned shift(std::size_t index) { return static_cast<unsigned>(index % kInWord) * kBits; }
    static std::uint64_t one(std::size_t index) { return std::uint64_t{1} << shift(index); }
    static std::uint64_t in_lanes(std::uint64_t word) { return (word & kLanes) + (word >> kBits & kLanes); }
    static std::uint64_t sum_of_lanes(std::uint64_t lanes) {
        for (unsigned bits = 32; bits >= 2 * kBits; bits /= 2) lanes += lanes >> bits;
        return lanes & ((std::uint64_t{1} << 2 * kBits) - 1);
    }

    std::vector<std::uint64_t> words_;
};

// What all ticks of a set have become that were then counted anew, from 1 on: only their order matters.
class TickRanks {
public:
    // `words`: a bit for each tick.
    explicit TickRanks(std::vector<std::uint64_t> words);

    // How many ticks of the set come before `tick`.
    std::uint64_t before(std::uint64_t tick) const {
        if (tick / 64 >= words_.size()) return size_;
        const auto word = static_cast<std::size_t>(tick / 64);
        return ranks_[word] + ones(words_[word] & ((std::uint64_t{1} << tick % 64) - 1));
    }
    // A tick of the set, or a point of time behind one: anew.
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
    // `capacity`: it takes ticks below that.
    explicit TickSet(std::uint64_t capacity) { clear(capacity); }

    void clear(std::uint64_t capacity);
    std::uint64_t capacity() const { return words_.size() * std::uint64_t{64}; }
    std::uint64_t size() const { return size_; }

    // A tick that is not in the set. Where it is beyond the capacity, there is more from then on.
    void insert(std::uint64_t tick) {
        if (__builtin_expect(tick >= capacity(), 0)) grow(tick);
        const std::size_t word = word_of(tick);
        words_[word] |= std::uint64_t{1} << tick % 64;
        by_word_.increment(word);
        by_64_words_.increment(word >> 6);
        ++by_4096_words_[word >> 12];
        ++by_top_[word >> 18];
        ++size_;
    }
    // One that is.
    void remove(std::uint64_t tick) {
        const std::size_t word = word_of(tick);
        BD_DCHECK(words_[word] >> tick % 64 & 1);
        words_[word] &= ~(std::uint64_t{1} << tick % 64);
        by_word_.decrement(word);
        by_64_words_.decrement(word >> 6);
        --by_4096_words_[word >> 12];
        --by_top_[word >> 18];
        --size_;
    }

    // How many ticks of the set are later than this one, which must be below the capacity.
    std::uint64_t count_behind(std::uint64_t tick) const {
        const std::size_t word = word_of(tick);
        std::uint64_t count = TickRanks::ones(words_[word] >> tick % 64 >> 1) + by_word_.sum_behind(word) +
                              by_64_words_.sum_behind(word >> 6);
        const std::size_t end =
            ((word >> 12 | 63) + 1 < by_4096_words_.size()) ? (word >> 12 | 63) + 1 : by_4096_words_.size();
        for (std::size_t i = (word >> 12) + 1; i < end; ++i) count += by_4096_words_[i];
        for (std::size_t i = (word >> 18) + 1; i < by_top_.size(); ++i) count += by_top_[i];
        return count;
    }

    // Hands over what it has, and is good for nothing until it is cleared.
    TickRanks take_ranks() { return TickRanks(std::move(words_)); }

    // Asks the host's memory for what these three read first.
    [[gnu::always_inline]] void host_prefetch(std::uint64_t tick) const {
        if (tick < capacity()) __builtin_prefetch(&words_[word_of(tick)], 1);
    }

private:
    static std::size_t word_of(std::uint64_t tick) { return static_cast<std::size_t>(tick / 64); }
    void grow(std::uint64_t tick);

    std::uint64_t size_ = 0;
    std::vector<std::uint64_t> words_;  // a bit for each tick
    PackedCounts<8> by_word_;           // ticks in each word,
    PackedCounts<16> by_64_words_;      // in each 64 of them,
    std::vector<std::uint32_t> by_4096_words_;
    std::vector<std::uint64_t> by_top_;  // and in each 2^18 words
};

}  // namespace bd
