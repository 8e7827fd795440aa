// SPDX-License-Identifier: GPL-2.0-or-later
//
// The LRU stack distances of the lines that D1 loads, as in AbsentLines, but counted some misses later. D1 does not
// depend on them, and the host's memory that they need has been prefetched by then. (Waiting for it took 30 % of the
// replay of xz, and more than half of that of a hash join.)
//
// By then, it is no longer known how many slots had been touched after the line. Therefore, slots that were last
// touched before a horizon are *old*: their ticks are in the set of the absent lines already, and D1 must report when
// one of them is touched after all. All other slots were touched after the horizon. For a line that was last touched
// before the horizon, the distance is the count in the set plus the number of slots that are not old. Any other line
// must have left D1 while it was young, not long ago; its distance is counted at once.
//
// Distances of hits, from a least one on, come with that: if fewer other lines than that have been touched after the
// horizon, a hit of any slot that is not old has a shorter distance, and all others are reported anyway.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "engine/base/types.h"
#include "engine/cache/absent_lines.h"
#include "engine/cache/reuse.h"

namespace bd {

// `set(miss, reuse)` is called for each miss that is not a first touch, and each hit of an old slot that has a number,
// in order, once its reuse is known.
class LateReuses {
public:
    LateReuses(ReuseRules rules, std::size_t slots)
        : absent_(rules),
          window_(std::max(slots / 2, std::size_t{1})),
          least_distance_(rules.least_distance),
          homes_(slots) {}

    // renumber() must be called when this time has passed.
    std::uint64_t last_time() const { return absent_.last_time(); }

    // Whether a slot is old if its line was last touched at `time`.
    [[gnu::always_inline]] bool is_old(TouchTime time) const { return time <= horizon_; }
    // Whether hits of old slots must have a number.
    bool tells_hits() const { return least_distance_ != 0; }
    // An old slot, last touched at `last`, is about to be touched. `hit`: its number among misses; kNone: it has none.
    template <class Set>
    void touch_old(TouchTime last, Set set, std::uint32_t hit = kNone) {
        Event event{.miss = hit, .young = young_, .evicted_last = last, .last = last};
        ++young_;
        ++recent_;
        push(event, set);
    }

    // `line` is about to be loaded into a slot, which evicts the line `evicted`, unless that is kNoLine. `times`: those
    // of the slots' last touches.
    template <class Set>
    void load(std::uint32_t miss, LineNumber line, std::uint32_t slot, LineNumber evicted,
              std::span<const TouchTime> times, Set set) {
        const TouchTime evicted_last = times[slot];
        const bool is_young = evicted != kNoLine && !is_old(evicted_last);
        Event event{.miss = miss, .young = young_, .evicted_last = evicted_last, .inserts = is_young};
        event.home = absent_.home(line);
        event.evicted_home = evicted == kNoLine ? nullptr : homes_[slot];
        homes_[slot] = event.home;
        if (__builtin_expect(latest_young_[hash(line)] > horizon_, 0)) {
            settle(set);
            look_up(event);
            if (event.last > horizon_) event.young = static_cast<std::uint32_t>(absent_.slots_later(times, event.last));
            count(event, set);
        } else {
            push(event, set);
        }
        if (is_young) {
            TouchTime& latest = latest_young_[hash(evicted)];
            latest = std::max(latest, evicted_last);
        } else {
            ++young_;
        }
        ++misses_;
        ++recent_;
    }

    // The line in a slot leaves without another one being loaded.
    template <class Set>
    void leave(std::uint32_t slot, LineNumber line, std::span<const TouchTime> times, Set set) {
        settle(set);
        const TouchTime last = times[slot];
        *homes_[slot] = last;
        absent_.times_become_earlier();
        if (is_old(last)) return;
        absent_.ticks().insert(last);
        TouchTime& latest = latest_young_[hash(line)];
        latest = std::max(latest, last);
        --young_;
    }

    // Whether age() must be called, before load() and, if tells_hits(), before touch_old(). It makes more slots old,
    // and calls forget(slot) for each; from then on, a touch of the slot must be reported.
    bool is_due() const { return tells_hits() ? recent_ >= least_distance_ : misses_ >= window_; }
    template <class Set, class Forget>
    void age(std::span<const TouchTime> times, TouchTime now, Set set, Forget forget) {
        settle(set);
        misses_ = 0;
        if (!tells_hits()) {
            move_horizon(times, std::exchange(window_start_, now), forget);
            return;
        }
        // Lines that left D1 are among those touched since.
        std::uint32_t young = least_distance_;
        do {
            young /= 2;
            move_horizon(times, time_before(times, young), forget);
            recent_ = static_cast<std::uint32_t>(absent_.ticks().count_behind(horizon_)) + young_;
        } while (recent_ > least_distance_ / 2 && young != 0);
    }

    // Reports all remaining reuses. To be called before clear() and renumber().
    template <class Set>
    void settle(Set set) {
        while (looked_up_ != end_) look_up(event(looked_up_++));
        while (counted_ != end_) count(event(counted_++), set);
    }
    // See AbsentLines.
    void clear() {
        absent_.clear();
        horizon_ = window_start_ = 0;
        latest_young_ = {};
        young_ = recent_ = 0;
    }
    TickRanks renumber(std::span<TouchTime> times, TouchTime* clock) {
        TickRanks ranks = absent_.renumber(times, clock);
        horizon_ = ranks.renumbered(horizon_);
        window_start_ = ranks.renumbered(window_start_);
        for (TouchTime& latest : latest_young_) latest = ranks.renumbered(latest);
        for (const TouchTime time : times) {
            if (time != 0 && is_old(time)) absent_.ticks().insert(time);
        }
        return ranks;
    }

    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

private:
    static constexpr std::uint32_t kAhead = 8;  // events between two steps, see push()
    static constexpr std::uint32_t kEvents = 32;
    static constexpr std::size_t kHashes = 2048;

    // A miss; or, without a home, a touch of an old slot.
    struct Event {
        std::uint32_t miss = kNone;         // its number; kNone: a touch that has none
        std::uint32_t young = 0;            // slots that are not old
        TouchTime evicted_last = 0;         // the last touch of the evicted line, or of the old slot
        TouchTime last = 0;                 // the line's last touch
        TouchTime* home = nullptr;          // the place of that
        TouchTime* evicted_home = nullptr;  // the same for the evicted line; null: none is evicted
        bool inserts = false;               // whether the evicted line's tick is not in the set yet
    };

    static constexpr TouchTime kLatest = ReuseRules::kMostTimes * 2 - 1;

    static std::size_t hash(LineNumber line) {
        return static_cast<std::size_t>(static_cast<std::uint64_t>(line) * 0x9e3779b97f4a7c15 >> 32) % kHashes;
    }
    Event& event(std::uint32_t number) { return events_[number % kEvents]; }

    // Each event goes through three steps: its homes are prefetched; they are read, and what the set needs is
    // prefetched; the distance is counted.
    template <class Set>
    [[gnu::always_inline]] void push(const Event& what, Set set) {
        event(end_++) = what;
        __builtin_prefetch(what.home, 1);
        __builtin_prefetch(what.evicted_home, 1);
        if (end_ - looked_up_ > kAhead) look_up(event(looked_up_++));
        if (looked_up_ - counted_ > kAhead) count(event(counted_++), set);
    }
    void look_up(Event& what) {
        if (what.home == nullptr) {
            absent_.ticks().host_prefetch(what.evicted_last);
            return;
        }
        what.last = AbsentLines::take(what.home);
        if (what.last != 0) absent_.ticks().host_prefetch(what.last);
        if (what.evicted_home != nullptr) *what.evicted_home = what.evicted_last;
        if (what.inserts) absent_.ticks().host_prefetch(what.evicted_last);
    }
    template <class Set>
    void count(const Event& what, Set set) {
        if (what.home == nullptr) {
            absent_.ticks().remove(what.evicted_last);
            if (what.miss != kNone) set(what.miss, reuse(what));
            return;
        }
        if (what.last != 0) {
            absent_.ticks().remove(what.last);
            set(what.miss, reuse(what));
        }
        if (what.inserts) absent_.ticks().insert(what.evicted_last);
    }

    Reuse reuse(const Event& what) const {
        return {static_cast<std::uint32_t>(what.young + absent_.ticks().count_behind(what.last)), what.last};
    }

    // Slots that were last touched at `time` or before become old.
    template <class Forget>
    void move_horizon(std::span<const TouchTime> times, TouchTime time, Forget forget) {
        const TouchTime before = std::exchange(horizon_, time);
        for_each_between(times, before, horizon_, [&](std::size_t slot) {
            absent_.ticks().insert(times[slot]);
            --young_;
            forget(static_cast<std::uint32_t>(slot));
        });
    }
    // The latest time such that at least `count` young slots were touched after it, or the horizon.
    TouchTime time_before(std::span<const TouchTime> times, std::uint32_t count) {
        young_times_.clear();
        for_each_between(times, horizon_, kLatest, [&](std::size_t slot) { young_times_.push_back(times[slot]); });
        if (young_times_.size() <= count) return horizon_;
        const auto at = young_times_.end() - static_cast<std::ptrdiff_t>(count) - 1;
        std::ranges::nth_element(young_times_, at);
        return *at;
    }

    // Calls function(slot) for all slots with after < time <= until.
    template <class Function>
    static void for_each_between(std::span<const TouchTime> times, TouchTime after, TouchTime until,
                                 Function function) {
        std::size_t slot = 0;
#if defined(__SSE2__)
        const __m128i low = _mm_set1_epi32(static_cast<int>(after));
        const __m128i high = _mm_set1_epi32(static_cast<int>(until));
        const auto is_between = [&](std::size_t first) {
            const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&times[first]));
            return _mm_andnot_si128(_mm_cmpgt_epi32(four, high), _mm_cmpgt_epi32(four, low));
        };
        for (; slot + 16 <= times.size(); slot += 16) {
            const __m128i all = _mm_packs_epi16(_mm_packs_epi32(is_between(slot), is_between(slot + 4)),
                                                _mm_packs_epi32(is_between(slot + 8), is_between(slot + 12)));
            for (auto found = static_cast<unsigned>(_mm_movemask_epi8(all)); found != 0; found &= found - 1) {
                function(slot + static_cast<unsigned>(std::countr_zero(found)));
            }
        }
#endif
        for (; slot < times.size(); ++slot) {
            if (times[slot] > after && times[slot] <= until) function(slot);
        }
    }

    AbsentLines absent_;  // with the ticks of old slots
    // Slots that were last touched at this time or before are old. The latest complete window began there.
    TouchTime horizon_ = 0;
    TouchTime window_start_ = 0;
    std::size_t window_;            // its length, in misses
    std::size_t misses_ = 0;        // of the current window
    std::uint32_t least_distance_;  // of hits; 0: these are not told
    std::uint32_t young_ = 0;       // slots with a line that are not old
    std::uint32_t recent_ = 0;      // lines touched after the horizon, at most
    std::vector<TouchTime> young_times_;
    std::vector<TouchTime*> homes_;  // by slot: the place of its line's last touch

    // By hash, for lines that were evicted while they were young: the latest of their last touches.
    std::array<TouchTime, kHashes> latest_young_{};

    std::array<Event, kEvents> events_;
    std::uint32_t end_ = 0;        // how many events have been pushed
    std::uint32_t looked_up_ = 0;  // how many of these have been looked up
    std::uint32_t counted_ = 0;    // how many of these have been counted
};

}  // namespace bd
