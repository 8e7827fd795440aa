// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds variables where all that anybody answers is which of them has an address, and where that one begins: Valgrind's
// core neither lists them nor tells their sizes.

#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/types.h"

namespace bd {

struct FoundVariable {
    Address begin = 0;
    std::uint64_t size = 0;      // bytes
    const char* name = nullptr;  // null: there is none
};

// `ask(address)` says which variable has the address; of the size it says nothing. The name is good until the next
// question.
template <class Ask>
class VariableSearch {
public:
    explicit VariableSearch(Ask ask) : ask_(ask) {}

    // The first that has a byte of the range. It may begin before that and end behind it.
    //
    // The longer it finds nothing, the larger are its steps, as there is no time to look at each byte of 1 GiB that has
    // no symbols. What it may miss there are variables that all lie within one step.
    FoundVariable first(Address begin, Address end) const {
        Address gap = begin;      // no variable since then
        Address unasked = begin;  // behind the last question
        for (Address at = begin; at < end;) {
            const FoundVariable found = ask_(at);
            if (found.name == nullptr) {
                unasked = at + 1;
                at = next(gap, at, end);
            } else if (unasked < found.begin) {
                gap = at = unasked;  // others may lie in the last step
            } else {
                return {found.begin, end_of(found.begin, at) - found.begin, ask_(at).name};
            }
        }
        return {};
    }

private:
    static constexpr Address kLeastStep = 4;  // most variables are aligned to that
    static constexpr Address kParts = 4096;   // a step is such a part of the gap before it

    static Address next(Address gap, Address at, Address end) {
        const Address step = std::max(kLeastStep, (at - gap) / kParts);
        return std::min((at + step) / kLeastStep * kLeastStep, end);
    }

    bool has(Address begin, Address address) const {
        const FoundVariable there = ask_(address);
        return there.name != nullptr && there.begin == begin;
    }

    // From an address that the variable has.
    Address end_of(Address begin, Address address) const {
        Address known = address;
        Address step = 4;
        while (step < ~known && has(begin, known + step)) {
            known += step;
            step *= 2;
        }
        Address end = known + std::min(step, ~known);
        while (end - known > 1) {
            const Address middle = known + (end - known) / 2;
            (has(begin, middle) ? known : end) = middle;
        }
        return end;
    }

    Ask ask_;
};

}  // namespace bd
