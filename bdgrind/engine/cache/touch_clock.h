// SPDX-License-Identifier: GPL-2.0-or-later
//
// The time of touches of data, in which D1 and the replay can be compared though D1 is ahead. Each word of the trace is
// a tick, and a word that touches several lines one after the other is some more, which D1 notes. So the replay knows
// the time at any record; and whatever it notes a time for (a call or loop that is entered) had begun before a line was
// touched last if, and only if, its time is less than DataMiss::last_touch.
//
// Times are counted anew now and then, between chunks, as they have 32 bits: D1 says so in the chunk, and whoever keeps
// times then has to renumber all of them. What stands in the chunk, its misses too, is in new times.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/types.h"
#include "engine/cache/tick_set.h"
#include "engine/trace/trace.h"

namespace bd {

// What D1 says of the times in a chunk.
struct TouchTimes {
    // Behind the word at `position`, there have been so many ticks more than words in the chunk.
    struct More {
        std::uint32_t position;
        std::uint32_t ticks;
    };

    TouchTime start = 0;  // before the first word
    std::vector<More> more;
    // Where times are counted anew from this chunk on: times that were noted before are to be replaced by
    // renumbering->renumbered(time). Else null.
    std::unique_ptr<const TickRanks> renumbering;
};

// Where the replay is in that time.
class TouchClock {
public:
    // The chunk has to stay as it is until the next one.
    void start_chunk(const TouchTimes& times, const Word* begin) {
        begin_ = begin;
        start_ = times.start;
        more_ = times.more.data();
        last_more_ = more_ + times.more.size();
        ticks_ = 0;
    }

    // The time before all that the record touches, and behind all that those before it have touched. Records have to
    // be asked about in order.
    [[gnu::always_inline]] TouchTime before(const Word* record) {
        const auto position = static_cast<std::uint32_t>(record - begin_);
        while (more_ != last_more_ && more_->position < position) ticks_ = more_++->ticks;
        return start_ + position + ticks_;
    }

private:
    const Word* begin_ = nullptr;
    TouchTime start_ = 0;
    std::uint32_t ticks_ = 0;
    const TouchTimes::More* more_ = nullptr;
    const TouchTimes::More* last_more_ = nullptr;
};

}  // namespace bd
