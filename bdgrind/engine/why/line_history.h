// SPDX-License-Identifier: GPL-2.0-or-later
//
// For each line that has left D1: which instruction had loaded it, and which instruction's miss evicted it. To keep and
// use this takes longer than to count, so once there is enough of it for most programs, only one line in eight is
// followed: always the same ones, spread evenly over neighbouring lines.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/types.h"

namespace bd {

class LineHistory {
public:
    static constexpr std::uint64_t kOneIn = 8;

    struct Past {
        CostId loaded_by = kNoCost;  // kNoCost: not charged then
        CostId evicted_by = kNoCost;
    };

    // All lines are followed until count() has been called `whole` times; with 0, one in kOneIn is from the start.
    LineHistory(std::size_t d1_lines, std::uint64_t whole) : left_(whole), loaded_by_(d1_lines) {
        if (whole == 0) follow_fewer();
    }

    [[gnu::always_inline]] bool follows(LineNumber line) const { return hash(line) <= last_hash_; }
    // How many lines each followed line stands for.
    std::uint64_t one_in() const { return last_hash_ == kAll ? 1 : kOneIn; }

    // Instruction `by` loads a line into a slot of D1, which evicts the line `evicted`, if that is not kNoLine.
    [[gnu::always_inline]] void load(std::uint32_t slot, LineNumber evicted, CostId by) {
        const CostId loaded_by = std::exchange(loaded_by_[slot], by);
        if (evicted != kNoLine && follows(evicted)) past_[evicted] = {loaded_by, by};
    }
    // The line in a slot leaves, but for no line that an instruction loads there.
    void lose(std::uint32_t slot, LineNumber line) { load(slot, line, kNoCost); }
    // The past of a line that is followed.
    Past past(LineNumber line) const {
        const auto found = past_.find(line);
        return found == past_.end() ? Past{} : found->second;
    }

    // To be called for each line that an instruction loads and is charged for.
    [[gnu::always_inline]] void count() {
        if (__builtin_expect(left_ != 0, 0) && --left_ == 0) follow_fewer();
    }

private:
    static constexpr std::uint64_t kAll = ~std::uint64_t{0};

    static std::uint64_t hash(LineNumber line) { return static_cast<std::uint64_t>(line) * 0x9e3779b97f4a7c15; }
    struct Hash {
        std::size_t operator()(LineNumber line) const { return static_cast<std::size_t>(hash(line) >> 24); }
    };
    using Pasts = boost::unordered_flat_map<LineNumber, Past, Hash>;

    [[gnu::noinline]] void follow_fewer() {
        last_hash_ = kAll / kOneIn;
        const Pasts before = std::exchange(past_, {});
        for (const auto& [line, past] : before) {
            if (follows(line)) past_.emplace(line, past);
        }
    }

    std::uint64_t left_;  // lines to be counted until fewer are followed
    std::uint64_t last_hash_ = kAll;
    Pasts past_;
    std::vector<CostId> loaded_by_;  // by slot of D1: which instruction has loaded what is there
};

}  // namespace bd
