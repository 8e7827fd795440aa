// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who had loaded a line the last time, and whose miss drove it out then: of each line that has left D1. That and what
// is made of it costs more than to count, so once there is enough of it for most programs, one line in eight is
// followed: the same ones from then on, spread evenly over neighbours.

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
        CostId driven_out_by = kNoCost;
    };

    // `whole`: all lines are followed until so many have been counted, 0: none.
    LineHistory(std::size_t d1_lines, std::uint64_t whole) : left_(whole), loaded_by_(d1_lines) {
        if (whole == 0) follow_fewer();
    }

    [[gnu::always_inline]] bool follows(LineNumber line) const { return hash(line) <= last_hash_; }
    // One of so many.
    std::uint64_t one_in() const { return last_hash_ == kAll ? 1 : kOneIn; }

    // A line is loaded into a slot of D1 instead of `evicted`, which may be kNoLine.
    [[gnu::always_inline]] void load(std::uint32_t slot, LineNumber evicted, CostId by) {
        const CostId loaded_by = std::exchange(loaded_by_[slot], by);
        if (evicted != kNoLine && follows(evicted)) past_[evicted] = {loaded_by, by};
    }
    // Of one that is followed.
    Past past(LineNumber line) const {
        const auto found = past_.find(line);
        return found == past_.end() ? Past{} : found->second;
    }

    // An instruction has loaded a line that it is charged for.
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

    std::uint64_t left_;  // to be counted
    std::uint64_t last_hash_ = kAll;
    Pasts past_;
    std::vector<CostId> loaded_by_;  // what is in D1 now, by slot
};

}  // namespace bd
