// SPDX-License-Identifier: GPL-2.0-or-later
//
// Branch prediction in the most literal way: docs/simulation.md.

#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "engine/base/types.h"

namespace bd::test {

class NaiveBranches {
public:
    // The instruction at `branch` branched, or did not. Returns whether that was mispredicted.
    bool mispredicts_conditional(Address branch, bool taken) {
        std::string index;  // in binary digits
        for (int bit = 6; bit >= 0; --bit) index += (number_of(branch) >> bit & 1) != 0 ? '1' : '0';
        index += history_;
        int& counter = counters_[index];
        const bool mispredicted = (counter >= 2) != taken;
        counter = std::clamp(counter + (taken ? 1 : -1), 0, 3);
        history_ = history_.substr(1) + (taken ? '1' : '0');
        return mispredicted;
    }

    // The instruction at `branch` jumped to `target`, which it had computed.
    bool mispredicts_indirect(Address branch, Address target) {
        Address& predicted = targets_[number_of(branch) % 512];
        const bool mispredicted = predicted != target;
        predicted = target;
        return mispredicted;
    }

private:
    // Instructions that all have four bytes are numbered by the word that they are in.
    static Address number_of(Address instruction) {
#if defined(__aarch64__)
        return instruction / 4;
#else
        return instruction;
#endif
    }

    std::map<std::string, int> counters_;  // how far conditional branches tend to be taken, 0 to 3
    std::string history_ = "0000000";      // of them, the latest last; 1: taken
    std::map<Address, Address> targets_;   // of indirect branches
};

}  // namespace bd::test
