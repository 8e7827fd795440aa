// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/tick_set.h"

#include <algorithm>

namespace bd {
namespace {

// Whole groups of words.
constexpr std::uint64_t kStep = std::uint64_t{1} << 12;

std::uint64_t rounded(std::uint64_t capacity) {
    return std::max((capacity + kStep - 1) / kStep, std::uint64_t{1}) * kStep;
}

}  // namespace

TickRanks::TickRanks(std::vector<std::uint64_t> words) : words_(std::move(words)), ranks_(words_.size()) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
        ranks_[i] = static_cast<std::uint32_t>(size_);
        size_ += ones(words_[i]);
    }
}

void TickSet::clear(std::uint64_t capacity) {
    const auto words = static_cast<std::size_t>(rounded(capacity) / 64);
    size_ = 0;
    words_.assign(words, 0);
    by_word_.reset(words);
    by_2_4_words_.reset((words >> 4) + 1);
    by_2_8_words_.reset((words >> 8) + 1);
    by_2_12_words_.reset((words >> 12) + 1);
    by_2_16_words_.assign((words >> 16) + 1, 0);
}

void TickSet::insert_first(std::uint64_t last) {
    BD_CHECK(size_ == 0 && last < capacity());
    for (std::size_t word = 0; word <= word_of(last); ++word) {
        std::uint64_t ticks = ~std::uint64_t{0};
        if (word == word_of(last)) ticks >>= 63 - last % 64;
        if (word == 0) ticks &= ~std::uint64_t{1};
        const std::uint64_t count = TickRanks::ones(ticks);
        words_[word] = ticks;
        by_word_[word] = static_cast<std::uint8_t>(count);
        by_2_4_words_[word >> 4] = static_cast<std::uint16_t>(by_2_4_words_[word >> 4] + count);
        by_2_8_words_[word >> 8] = static_cast<std::uint16_t>(by_2_8_words_[word >> 8] + count);
        by_2_12_words_[word >> 12] += static_cast<std::uint32_t>(count);
        by_2_16_words_[word >> 16] += static_cast<std::uint32_t>(count);
    }
    size_ = last;
}

void TickSet::grow(std::uint64_t tick) {
    const auto words = static_cast<std::size_t>(rounded(std::max(tick + 1, capacity() * 2)) / 64);
    words_.resize(words);
    by_word_.grow(words);
    by_2_4_words_.grow((words >> 4) + 1);
    by_2_8_words_.grow((words >> 8) + 1);
    by_2_12_words_.grow((words >> 12) + 1);
    by_2_16_words_.resize((words >> 16) + 1);
}

}  // namespace bd
