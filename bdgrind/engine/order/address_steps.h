// SPDX-License-Identifier: GPL-2.0-or-later
//
// The distances between successive addresses that one instruction accesses.

#pragma once

#include <cstdint>

#include "engine/base/types.h"
#include "engine/order/frequent_steps.h"

namespace bd {

struct StepCounts {
    // Steps within a run of a loop.
    std::uint32_t same = 0;      // 0 bytes
    std::uint32_t near = 0;      // less than a line
    std::uint32_t forward = 0;   // a line or more, and equal to the step before or after
    std::uint32_t backward = 0;  // the same, towards lower addresses
    std::uint32_t far = 0;       // all others
    std::uint32_t runs = 0;      // how many runs of equal steps there are
    FrequentSteps frequent;      // without those of 0 bytes
};

class AddressSteps {
public:
    // `run`: the number of the loop's run, not 0. There is no step from one run to the next. Returns whether this is
    // the first address of the run.
    bool add(Address address, std::uint32_t run, std::uint32_t line_bytes) {
        const bool is_first = run != run_;
        if (is_first) {
            run_ = run;
            goes_on_ = false;
            was_far_ = false;
        } else {
            add_step(static_cast<std::int64_t>(address - address_), line_bytes);
        }
        address_ = address;
        return is_first;
    }

    const StepCounts& counts() const { return counts_; }
    // The next address is still compared with the latest one.
    void clear_counts() {
        counts_ = {};
        was_far_ = false;
        goes_on_ = false;
    }

private:
    void add_step(std::int64_t bytes, std::uint32_t line_bytes) {
        const bool is_equal = bytes == step_;
        if (!is_equal || !goes_on_) ++counts_.runs;
        step_ = bytes;
        goes_on_ = true;
        const bool was_far = was_far_;
        was_far_ = false;
        if (bytes == 0) {
            ++counts_.same;
            return;
        }
        counts_.frequent.add(bytes);
        const auto line = static_cast<std::int64_t>(line_bytes);
        if (bytes < line && bytes > -line) {
            ++counts_.near;
            return;
        }
        std::uint32_t& constant = bytes > 0 ? counts_.forward : counts_.backward;
        if (is_equal) {
            ++constant;
            if (was_far) {  // that step was the first of several equal ones
                ++constant;
                --counts_.far;
            }
        } else {
            ++counts_.far;
            was_far_ = true;
        }
    }

    StepCounts counts_;
    Address address_ = 0;
    std::int64_t step_ = 0;  // the latest one, perhaps of an earlier run of the loop; 0: or there was none
    std::uint32_t run_ = 0;
    bool goes_on_ = false;  // whether a run of equal steps may go on
    bool was_far_ = false;  // whether the latest step was counted in `far`
};

}  // namespace bd
