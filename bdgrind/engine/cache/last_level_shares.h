// SPDX-License-Identifier: GPL-2.0-or-later
//
// How cores share LL: how many of its lines each core's are, which core evicts whose, and how many of these lines are
// loaded again by the core that has lost them.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/line_table.h"
#include "engine/base/types.h"
#include "engine/base/zeroed_array.h"

namespace bd {

class LastLevelShares {
public:
    static constexpr std::uint32_t kMostSharers = 64;

    // Lines of one core that another one, or the same, has evicted.
    struct Evicted {
        std::uint64_t lines = 0;
        std::uint64_t again = 0;  // of these, those that the core that has lost them was the next to load
    };

    // `lines`: those of LL. `cores`: 1 to kMostSharers.
    LastLevelShares(std::size_t lines, std::uint32_t cores)
        : owners_(lines), cores_(cores), evicted_(std::size_t{cores} * cores) {
        BD_CHECK(cores >= 1 && cores <= kMostSharers);
    }

    std::uint32_t cores() const { return cores_; }
    std::size_t lines() const { return owners_.size(); }

    // `core` loads a line from memory. `is_counted`: whether costs are collected, here and below.
    void load(std::uint32_t core, LineNumber line, bool is_counted) {
        std::uint16_t& lost = lost_[line];
        if (lost == 0) return;
        const unsigned by_whom = lost - 1u;
        lost = 0;
        if (is_counted && by_whom % kMostSharers == core) ++evicted_of(by_whom / kMostSharers, core).again;
    }

    // `running` puts a line that is `owner`'s into a slot, which had the line `evicted`; kNoLine: none.
    void put(std::uint32_t running, std::uint32_t owner, std::size_t slot, LineNumber evicted, bool is_counted) {
        if (evicted != kNoLine) {
            const std::uint32_t loser = owners_[slot];
            change(loser, -1);
            lost_[evicted] = static_cast<std::uint16_t>(is_counted ? 1 + running * kMostSharers + loser : 0);
            if (is_counted) ++evicted_of(running, loser).lines;
        }
        owners_[slot] = static_cast<std::uint8_t>(owner);
        change(owner, 1);
        if (!is_counted) return;
        ++shares_[owner].puts;
        ++puts_;
    }

    // The line in a slot leaves to the caches in front of an exclusive LL.
    void take(std::size_t slot) { change(owners_[slot], -1); }

    // All lines have left.
    void clear_lines() {
        for (std::uint32_t core = 0; core < cores_; ++core) {
            change(core, -static_cast<std::int64_t>(shares_[core].held));
        }
        lost_.clear();
    }

    // --- Results

    // How many lines of a core were put into LL.
    std::uint64_t puts(std::uint32_t core) const { return shares_[core].puts; }
    // How many lines a core had there each time after any line was put there, added up.
    std::uint64_t held(std::uint32_t core) const {
        const Share& share = shares_[core];
        return share.sum + share.held * (puts_ - share.since);
    }
    // What `running` has evicted of the lines of `owner`.
    const Evicted& evicted(std::uint32_t running, std::uint32_t owner) const {
        return evicted_[std::size_t{running} * cores_ + owner];
    }

    // Lines stay whose they are.
    void clear_counts() {
        puts_ = 0;
        for (Share& share : shares_) share = {.held = share.held};
        for (Evicted& each : evicted_) each = {};
    }

private:
    struct Share {
        std::uint64_t puts = 0;
        std::uint64_t held = 0;   // lines that are there now
        std::uint64_t sum = 0;    // see held(), up to `since`
        std::uint64_t since = 0;  // puts_ when `held` changed last
    };

    Evicted& evicted_of(std::uint32_t running, std::uint32_t owner) {
        return evicted_[std::size_t{running} * cores_ + owner];
    }
    void change(std::uint32_t core, std::int64_t lines) {
        Share& share = shares_[core];
        share.sum += share.held * (puts_ - share.since);
        share.since = puts_;
        share.held += static_cast<std::uint64_t>(lines);
    }

    ZeroedArray<std::uint8_t> owners_;  // by slot of LL
    std::uint32_t cores_;
    std::array<Share, kMostSharers> shares_{};
    std::vector<Evicted> evicted_;  // by the core that evicts, and by the one that had the line
    std::uint64_t puts_ = 0;
    // Of a line that has been evicted, and that no core has loaded since: 1 + whose it was + kMostSharers * who has
    // evicted it; else 0.
    LineTable<std::uint16_t> lost_;
};

}  // namespace bd
