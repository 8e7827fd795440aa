// SPDX-License-Identifier: GPL-2.0-or-later
//
// The few instructions that a report is about. A profile by line does not say which of several inlined calls an
// instruction of a line belongs to; debug information does, if the instruction's address is known.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "profile/profile.h"

namespace bd {

class HotCode {
public:
    explicit HotCode(const Profile& profile);

    // Whether these costs have a notable share of what the program has executed, missed or never used.
    bool is_hot(ConstCosts costs) const { return reaches(costs, 1); }

    // Fills in those instructions and calls of function number `index` that are hot, with their addresses and without
    // jumps. Returns whether there are any.
    bool collect(std::size_t index, FunctionProfile* function) const;

private:
    // One event, or two that are added up.
    struct Limit {
        std::size_t first;
        std::size_t second;  // as `first`, if it is one event
        std::uint64_t least;
    };

    bool reaches(ConstCosts costs, std::uint64_t parts) const;
    void limit(Event first, Event second);

    const Profile& profile_;
    std::array<Limit, 4> limits_{};
    std::size_t limit_count_ = 0;
};

}  // namespace bd
