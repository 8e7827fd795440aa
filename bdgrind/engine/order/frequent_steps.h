// SPDX-License-Identifier: GPL-2.0-or-later
//
// The most frequent of many steps, in constant space (Space-Saving: Metwally, Agrawal and El Abbadi, 2005).

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace bd {

class FrequentSteps {
public:
    static constexpr std::size_t kKept = 6;

    struct Step {
        std::int64_t bytes;
        std::uint32_t times;      // how often it came, at most
        std::uint32_t inherited;  // the part of `times` that may have been other steps
        std::uint32_t at_least() const { return times - inherited; }
    };

    void add(std::int64_t bytes) {
        for (std::size_t i = 0; i < kKept; ++i) {
            Step& step = steps_[i];
            if (step.times == 0) {
                step = {bytes, 1, 0};
                return;
            }
            if (step.bytes != bytes) continue;
            ++step.times;
            move_up(i);
            return;
        }
        Step& rarest = steps_[kKept - 1];
        rarest = {bytes, rarest.times + 1, rarest.times};
        move_up(kKept - 1);
    }

    // In descending order of `times`, which is 0 where there have been fewer steps.
    const std::array<Step, kKept>& kept() const { return steps_; }

private:
    void move_up(std::size_t i) {
        for (; i != 0 && steps_[i - 1].times < steps_[i].times; --i) std::swap(steps_[i], steps_[i - 1]);
    }

    std::array<Step, kKept> steps_{};
};

}  // namespace bd
