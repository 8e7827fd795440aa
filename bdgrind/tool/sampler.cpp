// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/sampler.h"

#include <utility>

#include "tool/trace_buffer.h"

namespace bd {

using Phase = BurstSchedule::Phase;

void Sampler::start() {
    mark_trace(Marker::kCollect, 1);
    // All calls are seen as they are made.
    knows_calls_.assign(VG_N_THREADS, true);
}

void Sampler::before_code(ThreadId thread) {
    if (schedule_.phase() == Phase::kUnobserved || has_ended_ || knows_calls_[thread]) return;
    knows_calls_[thread] = true;
    calls_.trace(thread);
}

void Sampler::after_code(const RunLength& run) {
    run_ = run;
    if (has_ended_) return;
    while (schedule_.go_on(run.blocks)) enter(schedule_.phase());
}

void Sampler::enter(Phase phase) {
    switch (phase) {
        case Phase::kStart:
            return;
        case Phase::kWarming:
            if (std::exchange(observes_, true)) {
                drain_trace();
                engine_.settle();
                note_counts();
                return;
            }
            mark_trace(Marker::kCollect, 0);
            knows_calls_.assign(VG_N_THREADS, false);
            observe_(true);
            return;
        case Phase::kCounting:
            mark_trace(Marker::kCollect, 1);
            counts_from_ = run_;
            return;
        case Phase::kCooling:
            mark_trace(Marker::kCollect, 0);
            counted_ = run_ - counts_from_;
            return;
        case Phase::kUnobserved:
            observes_ = false;
            observe_(false);
            engine_.settle();
            note_counts();
            return;
    }
}

void Sampler::note_counts() {
    const RunLength length = std::exchange(counted_, {});
    if (std::exchange(is_start_, false)) {
        start_ = std::make_unique<StartCounts>(engine_, kinds_);
        sums_.add_start(engine_, length);
    } else {
        sums_.add(engine_, length);
    }
}

void Sampler::end() {
    if (std::exchange(has_ended_, true)) return;
    const Phase phase = schedule_.phase();
    if (phase == Phase::kStart || phase == Phase::kCounting) counted_ = run_ - counts_from_;
}

void Sampler::note_last_burst() {
    end();
    note_counts();
}

void Sampler::start_in_child() {
    sums_.clear();
    start_.reset();
    counted_ = {};
    counts_from_ = run_;
    run_before_ = run_;
}

}  // namespace bd
