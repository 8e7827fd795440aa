// SPDX-License-Identifier: GPL-2.0-or-later
//
// The causes of misses of LL, or of L2. As only misses of L1 are looked up there, each touch has its own time, and all
// lines keep theirs, including those in the cache. As long as no more lines were touched than the cache has room for, a
// line that misses again is a conflict, and nothing needs to be counted.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/line_table.h"
#include "engine/base/types.h"
#include "engine/cache/reuse.h"
#include "engine/cache/tick_set.h"

namespace bd {

class TouchedLines {
public:
    // `cache_lines`: the number of lines that the cache has room for.
    TouchedLines(std::uint32_t cache_lines, ReuseRules rules)
        : cache_lines_(cache_lines), rules_(rules), last_time_(last_time_uncounted()), ticks_(0) {}

    // Touches `line`. Returns the cause of its miss, if it misses.
    Cause touch(LineNumber line, bool misses) {
        if (__builtin_expect(clock_ >= last_time_, 0)) renumber();
        TouchTime& time = times_[line];
        Cause cause = Cause::kFirst;
        if (time == 0) {
            ++lines_;
        } else if (counts_) {
            if (misses) cause = ticks_.has_behind(time, cache_lines_) ? Cause::kCapacity : Cause::kConflict;
            ticks_.remove(time);
        } else {
            cause = Cause::kConflict;
        }
        time = static_cast<TouchTime>(++clock_);
        if (counts_) {
            ticks_.insert(clock_);
        } else if (__builtin_expect(lines_ > cache_lines_, 0)) {
            start_counting();
        }
        return cause;
    }

    // Notes that the cache is emptied.
    void clear() {
        times_.clear();
        lines_ = 0;
        if (counts_) ticks_.clear(0);
        counts_ = false;
        last_time_ = last_time_uncounted();
    }

    // Prefetch, on the host, what touch() reads first; and then, once that has come, the rest.
    [[gnu::always_inline]] void host_prefetch(LineNumber line) const { times_.host_prefetch(line); }
    [[gnu::always_inline]] void host_prefetch_tick(LineNumber line) {
        if (!counts_) return;
        const TouchTime time = times_[line];
        if (time != 0) ticks_.host_prefetch(time);
    }

private:
    // Until times are counted, they are only compared, so they need not be renumbered as often.
    std::uint64_t last_time_uncounted() const {
        return std::min(rules_.last_time(0) * 1024, std::uint64_t{ReuseRules::kMostTimes});
    }

    [[gnu::noinline]] void renumber() {
        if (!counts_) {
            number_by_order();
            return;
        }
        const TickRanks ranks = ticks_.take_ranks();
        BD_CHECK_OP(ranks.size(), <, ReuseRules::kMostTimes / 2);
        last_time_ = rules_.last_time(ranks.size());
        ticks_.clear(last_time_);
        ticks_.insert_first(ranks.size());
        times_.for_each([&](TouchTime& time) { time = ranks.renumbered(time); });
        clock_ = ranks.size();
    }
    [[gnu::noinline]] void start_counting() {
        number_by_order();
        counts_ = true;
        last_time_ = rules_.last_time(lines_);
        ticks_.clear(last_time_);
        ticks_.insert_first(clock_);
    }
    // Renumbers the times from 1 on, in their order.
    void number_by_order() {
        std::vector<std::pair<TouchTime, TouchTime*>> all;
        all.reserve(static_cast<std::size_t>(lines_));
        times_.for_each([&](TouchTime& time) { all.emplace_back(time, &time); });
        std::ranges::sort(all);
        clock_ = 0;
        for (const auto& [before, time] : all) *time = static_cast<TouchTime>(++clock_);
    }

    std::uint32_t cache_lines_;
    ReuseRules rules_;
    std::uint64_t last_time_;
    std::uint64_t clock_ = 0;
    std::uint64_t lines_ = 0;  // how many have been touched
    bool counts_ = false;
    LineTable<TouchTime> times_;
    TickSet ticks_;  // the same times, if counts_
};

}  // namespace bd
