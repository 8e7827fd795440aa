// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/sampler.h"

#include <utility>

#include "tool/trace_buffer.h"

namespace bd {

using Phase = BurstSchedule::Phase;

bool Sampler::start() {
    while (schedule_.go_on(0)) continue;
    const bool counts = schedule_.phase() == Phase::kCounting;
    mark_trace(Marker::kCollect, counts ? 1 : 0);
    // All calls are seen as they are made.
    knows_calls_.assign(VG_N_THREADS, true);
    return schedule_.phase() != Phase::kUnobserved;
}

void Sampler::before_code(ThreadId thread) {
    if (schedule_.phase() == Phase::kUnobserved || has_ended_ || knows_calls_[thread]) return;
    knows_calls_[thread] = true;
    calls_.trace(thread);
}

void Sampler::after_code(std::uint64_t blocks) {
    blocks_ = blocks;
    if (has_ended_) return;
    while (schedule_.go_on(blocks)) enter(schedule_.phase());
}

void Sampler::enter(Phase phase) {
    switch (phase) {
        case Phase::kWarming:
            mark_trace(Marker::kCollect, 0);
            knows_calls_.assign(VG_N_THREADS, false);
            observe_(true);
            return;
        case Phase::kCounting:
            mark_trace(Marker::kCollect, 1);
            counts_from_ = blocks_;
            return;
        case Phase::kCooling:
            mark_trace(Marker::kCollect, 0);
            counted_ = blocks_ - counts_from_;
            return;
        case Phase::kUnobserved:
            observe_(false);
            engine_.settle();
            sums_.add(engine_, std::exchange(counted_, 0));
            return;
    }
}

void Sampler::end() {
    if (std::exchange(has_ended_, true) || schedule_.phase() == Phase::kUnobserved) return;
    if (schedule_.phase() == Phase::kCounting) counted_ = blocks_ - counts_from_;
}

void Sampler::note_last_burst() {
    end();
    sums_.add(engine_, std::exchange(counted_, 0));
}

void Sampler::start_in_child() {
    sums_.clear();
    counted_ = 0;
    counts_from_ = blocks_;
    blocks_before_ = blocks_;
}

}  // namespace bd
