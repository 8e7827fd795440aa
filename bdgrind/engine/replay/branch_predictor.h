// SPDX-License-Identifier: GPL-2.0-or-later
//
// How well branches are predicted, by the predictors that Cachegrind's manual describes: 16384 two-bit counters for
// conditional branches, found by the branch's address and by how the latest branches went; 512 targets for indirect
// ones, found by the low nine bits of the address. Returns are always predicted, so they are not asked about.
//
// The manual leaves open how much history there is. Seven bits of it below seven of the address give the counts of
// Cachegrind and Callgrind.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/base/types.h"

namespace bd {

class BranchPredictor {
public:
    // The instruction at `branch` is executed. Both learn from it, and return whether they had predicted it.
    bool conditional(Address branch, bool taken) {
        const std::uint64_t index = (significant_bits(branch) << kHistoryBits | history_) % counters_.size();
        std::uint8_t& counter = counters_[static_cast<std::size_t>(index)];
        const bool predicted = taken == (counter > kMost / 2);
        if (taken && counter < kMost) ++counter;
        if (!taken && counter > 0) --counter;
        history_ = (history_ << 1 | (taken ? 1u : 0u)) % (1u << kHistoryBits);
        return predicted;
    }
    bool indirect(Address branch, Address target) {
        Address& last = targets_[static_cast<std::size_t>(significant_bits(branch) % targets_.size())];
        const bool predicted = last == target;
        last = target;
        return predicted;
    }

private:
    static constexpr unsigned kIndexBits = 14;
    static constexpr unsigned kHistoryBits = 7;
    static constexpr unsigned kMost = 3;

    // Bits that are the same in all instruction addresses would waste room.
#if defined(__aarch64__)
    static std::uint64_t significant_bits(Address branch) {
        return branch >> 2;
    }
#else
    static std::uint64_t significant_bits(Address branch) {
        return branch;
    }
#endif

    std::array<std::uint8_t, std::size_t{1} << kIndexBits> counters_{};  // the upper half predicts: taken
    std::array<Address, 512> targets_{};
    std::uint32_t history_ = 0;  // of all conditional branches, the latest in bit 0; 1: taken
};

}  // namespace bd
