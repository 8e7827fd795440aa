// SPDX-License-Identifier: GPL-2.0-or-later
//
// The addresses that one instruction accesses, one after the other: how far it is from each to the next.

#pragma once

#include <cstdint>

#include "engine/base/types.h"
#include "engine/order/frequent_steps.h"

namespace bd {

struct StepCounts {
    // Steps within a run of a loop.
    std::uint32_t same = 0;      // 0 bytes
    std::uint32_t near = 0;      // less than a line
    std::uint32_t forward = 0;   // a line or more, and as far as the step before or behind
    std::uint32_t backward = 0;  // the same towards lower addresses
    std::uint32_t far = 0;       // all others
    std::uint32_t runs = 0;      // of equal steps, each as long as it goes
    FrequentSteps frequent;      // but those of 0 bytes
};

class AddressSteps {
public:
    // `run`: of the loop, other than 0; there is no step from one run to the next. Returns whether it is the first
    // address of the run.
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
    // What comes next is compared with what came before all the same.
    void clear_counts() {
        counts_ = {};
        was_far_ = false;
        goes_on_ = false;
    }

private:
    void add_step(std::int64_t bytes, std::uint32_t line_bytes) {
        const bool is_equal = bytes == step_ && has_step_;
        if (!is_equal || !goes_on_) ++counts_.runs;
        step_ = bytes;
        has_step_ = true;
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
            if (was_far) {  // so that was the first of several
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
    std::int64_t step_ = 0;  // the latest, of an earlier run of the loop, too
    std::uint32_t run_ = 0;
    bool has_step_ = false;
    bool goes_on_ = false;  // a run of equal steps may go on
    bool was_far_ = false;  // the latest step was counted as such, and is the first of its length
};

}  // namespace bd
