// SPDX-License-Identifier: GPL-2.0-or-later
//
// The LRU stack distances of the lines that an L1 cache loads. Hits need no additional work, as the cache notes the
// time in the slot anyway. When a line leaves, the time of its last touch is kept in a set that can count (TickSet).
// When the line is loaded again, its distance is the number of absent lines with a later time plus the number of slots
// with a later time.

#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/line_table.h"
#include "engine/base/types.h"
#include "engine/cache/later_slots.h"
#include "engine/cache/reuse.h"
#include "engine/cache/tick_set.h"

namespace bd {

// The lines that a cache held before, but does not hold now.
class AbsentLines {
public:
    explicit AbsentLines(ReuseRules rules) : rules_(rules), last_time_(rules.last_time(0)), ticks_(last_time_) {}

    // Times must be renumbered when they exceed this.
    std::uint64_t last_time() const { return last_time_; }

    // `line` is about to be loaded. `times`: those of the last touch of each slot; 0: empty. Returns the reuse of the
    // line.
    Reuse load(LineNumber line, std::span<const TouchTime> times) {
        const TouchTime last = take(home(line));
        if (last == 0) return {};
        ticks_.host_prefetch(last);
        const std::uint64_t later = slots_later(times, last);
        const std::uint64_t distance = later + ticks_.count_behind(last);
        ticks_.remove(last);
        return {static_cast<std::uint32_t>(distance), last};
    }
    // A line leaves the cache. `last`: the time of its last touch, which no other line has.
    void evict(LineNumber line, TouchTime last) {
        *home(line) = last;
        ticks_.insert(last);
    }

    // The same if no other line is loaded into the slot.
    void leave(LineNumber line, TouchTime last) {
        evict(line, last);
        times_become_earlier();
    }
    // To be called when the time of a slot becomes earlier, or 0.
    void times_become_earlier() { later_slots_.forget(); }

    // The steps of load() and evict(). The place of the time of a line's last touch while it is absent; valid until
    // clear().
    TouchTime* home(LineNumber line) { return &times_[line]; }
    // The line is no longer absent. Returns the time of its last touch; 0 if it was never loaded.
    static TouchTime take(TouchTime* home) { return std::exchange(*home, kPresent); }
    // The times of the absent lines. The caller may add others, until renumber() or clear().
    TickSet& ticks() { return ticks_; }
    const TickSet& ticks() const { return ticks_; }
    // The number of these slots that were touched later.
    std::uint64_t slots_later(std::span<const TouchTime> times, TouchTime than) {
        return later_slots_.count(times, than);
    }

    // The cache is emptied: from now on, each line counts as never touched.
    void clear() {
        times_.clear();
        ticks_.clear(last_time_);
        later_slots_.forget();
    }

    // Renumbers all times, including those of the slots, and sets the clock to the latest.
    TickRanks renumber(std::span<TouchTime> times, TouchTime* clock) {
        TickRanks ranks = ticks_.take_ranks(times);
        const std::uint64_t lines = ranks.size();
        BD_CHECK_OP(lines, <, ReuseRules::kMostTimes / 2);
        last_time_ = rules_.last_time(lines);
        ticks_.clear(last_time_);
        ticks_.insert_first(lines);
        times_.for_each([&](TouchTime& time) {
            if (time != kPresent) time = ranks.renumbered(time);
        });
        for (TouchTime& time : times) {
            if (time == 0) continue;
            time = ranks.renumbered(time);
            ticks_.remove(time);
        }
        later_slots_.forget();
        *clock = static_cast<TouchTime>(lines);
        return ranks;
    }

    [[gnu::always_inline]] void host_prefetch(LineNumber line) const { times_.host_prefetch(line); }

private:
    static constexpr TouchTime kPresent = ~TouchTime{0};

    ReuseRules rules_;
    std::uint64_t last_time_;
    LineTable<TouchTime> times_;  // the last touches of absent lines
    TickSet ticks_;               // the same times
    LaterSlots later_slots_;
};

}  // namespace bd
