// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which of the lines that leave D1 are looked at, as programs lose millions of them: each of the first ones; then, by
// chance, one of eight on average, which counts eight times. So what is known of any object is without bias, however
// its lines take turns with others. The chance is the same in each run.

#pragma once

#include <cstdint>
#include <utility>

namespace bd {

class LineSample {
public:
    static constexpr std::uint32_t kLookedAtFirst = 1u << 17;
    static constexpr std::uint32_t kOneIn = 8;

    // Whether the line that leaves now is looked at.
    [[gnu::always_inline]] bool take_next() {
        if (__builtin_expect(--to_go_ != 0, 1)) return false;
        weight_ = first_ != 0 ? 1 : kOneIn;
        if (first_ != 0) --first_;
        to_go_ = first_ != 0 ? 1 : std::exchange(gap_after_, next_gap());
        return true;
    }
    // How many lines that one stands for which was taken last.
    std::uint32_t weight() const { return weight_; }
    // Whether the line that leaves as the nth from now on, 1 to 15, will be taken, as far as that is known: not of the
    // third one that is taken from now on.
    bool will_take(std::uint32_t nth) const { return to_go_ == nth || to_go_ + gap_after_ == nth || first_ != 0; }

private:
    // From 1 to 15, all alike, so 8 on average. Knuth's linear congruential generator, whose upper bits are good.
    std::uint32_t next_gap() {
        random_ = random_ * 6364136223846793005 + 1442695040888963407;
        return static_cast<std::uint32_t>(((random_ >> 32) * (2 * kOneIn - 1)) >> 32) + 1;
    }

    std::uint64_t random_ = 1;
    std::uint32_t first_ = kLookedAtFirst;  // so many more are looked at one by one
    std::uint32_t to_go_ = 1;               // the next one that is looked at is so many further on
    std::uint32_t gap_after_ = next_gap();  // and the one after that so many behind it, once not all are
    std::uint32_t weight_ = 1;
};

}  // namespace bd
