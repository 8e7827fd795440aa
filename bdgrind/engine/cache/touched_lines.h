// SPDX-License-Identifier: GPL-2.0-or-later
//
// The LRU stack distances of the lines that LL has to load: it is asked on misses of L1 only, so that each touch may
// have a time of its own and all lines keep theirs, those in LL, too.

#pragma once

#include <cstdint>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/line_table.h"
#include "engine/base/types.h"
#include "engine/cache/reuse.h"
#include "engine/cache/tick_set.h"

namespace bd {

class TouchedLines {
public:
    explicit TouchedLines(ReuseRules rules) : rules_(rules), last_time_(rules.last_time(0)), ticks_(last_time_) {}

    // Touches `line`. How it was reused is told only if it `misses`.
    Reuse touch(LineNumber line, bool misses) {
        if (__builtin_expect(clock_ >= last_time_, 0)) renumber();
        TouchTime& time = times_[line];
        Reuse reuse;
        if (time != 0) {
            if (misses) reuse = {static_cast<std::uint32_t>(ticks_.count_behind(time)), time};
            ticks_.remove(time);
        }
        time = static_cast<TouchTime>(++clock_);
        ticks_.insert(clock_);
        return reuse;
    }

    // The cache is emptied.
    void clear() {
        times_.clear();
        ticks_.clear(last_time_);
    }

    [[gnu::always_inline]] void host_prefetch(LineNumber line) const { times_.host_prefetch(line); }

private:
    [[gnu::noinline]] void renumber() {
        const TickRanks ranks = ticks_.take_ranks();
        BD_CHECK_OP(ranks.size(), <, ReuseRules::kMostTimes / 2);
        last_time_ = rules_.last_time(ranks.size());
        ticks_.clear(last_time_);
        times_.for_each([&](TouchTime& time) {
            time = ranks.renumbered(time);
            ticks_.insert(time);
        });
        clock_ = ranks.size();
    }

    ReuseRules rules_;
    std::uint64_t last_time_;
    std::uint64_t clock_ = 0;
    LineTable<TouchTime> times_;
    TickSet ticks_;  // the same
};

}  // namespace bd
