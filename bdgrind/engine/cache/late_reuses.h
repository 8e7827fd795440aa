// SPDX-License-Identifier: GPL-2.0-or-later
//
// The LRU stack distances of the lines that D1 has to load, as AbsentLines has them, but counted some misses later: D1
// does not depend on them, and what they read of the host's memory has arrived by then. (Waiting for it took 30 % of
// the replay of xz, and more than half of that of a hash join.)
//
// How many slots had been touched later than the line can not be seen any more then. So slots that have not been
// touched for long, up to a horizon, are old: their ticks are in the set of the absent lines already, and D1 has to say
// so if one of them is touched after all. All other slots have been touched behind the horizon. So of a line whose last
// touch lies before that, the set and the number of slots that are not old tell the distance. Other lines must have
// left D1 while they were young, not long ago; these are counted at once.

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

// `set(miss, reuse)` is told of each miss that is no first touch, in order, once that is known.
class LateReuses {
public:
    LateReuses(ReuseRules rules, std::size_t slots)
        : absent_(rules), window_(std::max(slots / 2, std::size_t{1})), homes_(slots) {}

    // Later times are to be renumbered.
    std::uint64_t last_time() const { return absent_.last_time(); }

    // Whether a slot with a line that was touched last at that time is old.
    [[gnu::always_inline]] bool is_old(TouchTime time) const { return time <= horizon_; }
    // One is about to be touched.
    template <class Set>
    void touch_old(TouchTime last, Set set) {
        ++young_;
        push({.evicted_last = last}, set);
    }

    // `line` is about to be loaded into a slot instead of `evicted`; kNoLine: nothing. `times`: of all slots' last
    // touches.
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
    }

    // Whether more slots are to become old: forget(slot) is told of each, whose touches it has to notice.
    bool is_due() const { return misses_ >= window_; }
    template <class Set, class Forget>
    void age(std::span<const TouchTime> times, TouchTime now, Set set, Forget forget) {
        settle(set);
        misses_ = 0;
        const TouchTime before = std::exchange(horizon_, std::exchange(window_start_, now));
        for_each_between(times, before, horizon_, [&](std::size_t slot) {
            absent_.ticks().insert(times[slot]);
            --young_;
            forget(static_cast<std::uint32_t>(slot));
        });
    }

    // Tells all that is not known yet. To be called before what follows.
    template <class Set>
    void settle(Set set) {
        while (looked_up_ != end_) look_up(event(looked_up_++));
        while (counted_ != end_) count(event(counted_++), set);
    }
    // The same as AbsentLines'.
    void clear() {
        absent_.clear();
        horizon_ = window_start_ = 0;
        latest_young_ = {};
        young_ = 0;
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

private:
    static constexpr std::uint32_t kAhead = 8;  // misses, from step to step
    static constexpr std::uint32_t kEvents = 32;
    static constexpr std::size_t kHashes = 2048;
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    // A miss; or, without a number, a touch of an old slot.
    struct Event {
        std::uint32_t miss = kNone;
        std::uint32_t young = 0;            // slots that count, beside the set
        TouchTime evicted_last = 0;         // or that of the old slot
        TouchTime last = 0;                 // of the line
        TouchTime* home = nullptr;          // of the line
        TouchTime* evicted_home = nullptr;  // null: nothing leaves
        bool inserts = false;               // what leaves is not in the set yet
    };

    static std::size_t hash(LineNumber line) {
        return static_cast<std::size_t>(static_cast<std::uint64_t>(line) * 0x9e3779b97f4a7c15 >> 32) % kHashes;
    }
    Event& event(std::uint32_t number) { return events_[number % kEvents]; }

    // In three steps: what is to be read is asked for, then what that tells is to be read, then all is here.
    template <class Set>
    [[gnu::always_inline]] void push(const Event& what, Set set) {
        event(end_++) = what;
        __builtin_prefetch(what.home, 1);
        __builtin_prefetch(what.evicted_home, 1);
        if (end_ - looked_up_ > kAhead) look_up(event(looked_up_++));
        if (looked_up_ - counted_ > kAhead) count(event(counted_++), set);
    }
    void look_up(Event& what) {
        if (what.miss == kNone) {
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
        if (what.miss == kNone) {
            absent_.ticks().remove(what.evicted_last);
            return;
        }
        if (what.last != 0) {
            const std::uint64_t distance = what.young + absent_.ticks().count_behind(what.last);
            absent_.ticks().remove(what.last);
            set(what.miss, Reuse{static_cast<std::uint32_t>(distance), what.last});
        }
        if (what.inserts) absent_.ticks().insert(what.evicted_last);
    }

    // Calls function(slot) where the time is behind `after`, and not behind `until`.
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

    AbsentLines absent_;  // and the ticks of old slots
    // What has not been touched since before the latest whole window is old.
    TouchTime horizon_ = 0;
    TouchTime window_start_ = 0;
    std::size_t window_;             // in misses
    std::size_t misses_ = 0;         // of this one
    std::uint32_t young_ = 0;        // slots with a line that are not old
    std::vector<TouchTime*> homes_;  // by slot, of its line

    // By hash of their lines, what have left while they were young: no earlier than the last touch of any of them.
    std::array<TouchTime, kHashes> latest_young_{};

    std::array<Event, kEvents> events_;
    std::uint32_t end_ = 0;  // of those that are known; the others are as far, in that order
    std::uint32_t looked_up_ = 0;
    std::uint32_t counted_ = 0;
};

}  // namespace bd
