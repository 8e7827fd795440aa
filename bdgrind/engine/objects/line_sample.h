// SPDX-License-Identifier: GPL-2.0-or-later
//
// A sample of the lines that leave D1, of which there are millions: all of the first kLookedAtFirst lines; then, at
// random, one in kOneIn on average, which counts kOneIn times. So the sample is unbiased for every object, however its
// lines alternate with others. The random numbers are the same in each run.

#pragma once

#include <cstdint>
#include <utility>

#include "engine/base/random_numbers.h"

namespace bd {

class LineSample {
public:
    static constexpr std::uint32_t kLookedAtFirst = 1u << 17;
    static constexpr std::uint32_t kOneIn = 8;

    // Whether the line that leaves now is in the sample. To be called once for each line.
    [[gnu::always_inline]] bool take_next() {
        if (__builtin_expect(--to_go_ != 0, 1)) return false;
        weight_ = first_ != 0 ? 1 : kOneIn;
        if (first_ != 0) --first_;
        to_go_ = first_ != 0 ? 1 : std::exchange(gap_after_, next_gap());
        return true;
    }
    // The number of lines that the line taken last stands for.
    std::uint32_t weight() const { return weight_; }
    // Whether the nth line from now on, 1 to 15, will be taken. Known only for the next two lines that will be taken;
    // false for others.
    bool will_take(std::uint32_t nth) const { return to_go_ == nth || to_go_ + gap_after_ == nth || first_ != 0; }

private:
    // 1 to 15, equally likely, so 8 on average.
    std::uint32_t next_gap() { return random_.below(2 * kOneIn - 1) + 1; }

    RandomNumbers random_{1};
    std::uint32_t first_ = kLookedAtFirst;  // lines that are still taken one by one
    std::uint32_t to_go_ = 1;               // lines up to the next that is taken
    std::uint32_t gap_after_ = next_gap();  // lines from there to the one after that, once not all are taken
    std::uint32_t weight_ = 1;
};

}  // namespace bd
