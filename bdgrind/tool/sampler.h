// SPDX-License-Identifier: GPL-2.0-or-later
//
// --sample=bursts: observes the program for a while, now and then. Phases change only where Valgrind looks after a
// thread, after 100,000 blocks at most, so bursts are as long as they have turned out, which is known.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/replay/engine.h"
#include "profile/burst_sums.h"
#include "profile/run_sample.h"
#include "profile/start_counts.h"
#include "tool/burst_schedule.h"
#include "tool/open_calls.h"
#include "tool/valgrind.h"

namespace bd {

class Sampler {
public:
    // `observe` starts (true) or stops what writes the trace. Both references must outlive it.
    // The profile is to have these positions.
    Sampler(const BurstRules& rules, Engine& engine, const OpenCalls& calls, PositionKinds kinds,
            void (*observe)(bool))
        : rules_(rules), schedule_(rules), engine_(engine), calls_(calls), kinds_(kinds), observe_(observe),
          sums_(engine.events().width()) {}

    // The program starts, and is observed from there on.
    void start();

    // A thread's code is about to run.
    void before_code(ThreadId thread);
    // It no longer does; that much has run since the program's start.
    void after_code(const RunLength& run);

    // No more is observed, from here on, or before the engine finishes.
    void end();
    // The same once the engine has finished.
    void note_last_burst();

    // This process is a new child: what its parent has counted does not count.
    void start_in_child();

    const BurstRules& rules() const { return rules_; }
    // What a profile of this process is an estimate from.
    RunSample sample() const { return {&sums_, start_.get(), run_ - run_before_}; }

private:
    void enter(BurstSchedule::Phase phase);
    // The start or a burst has ended, and the engine is settled.
    void note_counts();

    BurstRules rules_;
    BurstSchedule schedule_;
    Engine& engine_;
    OpenCalls calls_;
    PositionKinds kinds_;
    void (*observe_)(bool);
    BurstSums sums_;
    std::unique_ptr<StartCounts> start_;  // null: there is no start, or it has not ended
    bool is_start_ = true;                // that is observed, or has been and is not in the sums yet
    RunLength run_;
    RunLength run_before_;   // of the parent
    RunLength counts_from_;  // run_, when it began
    RunLength counted_;      // what of this burst, or of the start, has counted
    bool observes_ = true;
    bool has_ended_ = false;
    std::vector<bool> knows_calls_;  // by thread, in this burst
};

}  // namespace bd
