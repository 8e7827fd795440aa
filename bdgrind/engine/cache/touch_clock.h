// SPDX-License-Identifier: GPL-2.0-or-later
//
// The time of touches of data, which relates D1 and the replay although D1 is ahead. Each word of the trace is a tick;
// a word that touches several lines one after the other is several ticks, which D1 notes. Thus, the replay knows the
// time at every record. A call or loop whose entry time it noted began before the last touch of a line if and only if
// that time is less than DataMiss::last_touch.
//
// As times have 32 bits, they are renumbered now and then, between chunks. D1 says so in the chunk, and all times that
// are kept elsewhere must then be renumbered. The times in the chunk, including those of its misses, are the new ones.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/types.h"
#include "engine/cache/tick_set.h"
#include "engine/trace/trace.h"

namespace bd {

// What D1 notes about the times in a chunk.
struct TouchTimes {
    // Behind the word at `position`, the chunk has had this many more ticks than words.
    struct More {
        std::uint32_t position;
        std::uint32_t ticks;
    };

    TouchTime start = 0;  // before the first word
    std::vector<More> more;
    // Not null if times are renumbered at the start of this chunk: earlier times must be replaced by
    // renumbering->renumbered(time).
    std::unique_ptr<const TickRanks> renumbering;
};

// The time at the replay's position.
class TouchClock {
public:
    // The arguments must stay unchanged until the next call.
    void start_chunk(const TouchTimes& times, const Word* begin) {
        begin_ = begin;
        start_ = times.start;
        more_ = times.more.data();
        last_more_ = more_ + times.more.size();
        ticks_ = 0;
    }

    // The time just before the touches of a record, and after those of earlier records. Records must be asked about in
    // order.
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
