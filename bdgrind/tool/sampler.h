// SPDX-License-Identifier: GPL-2.0-or-later
//
// --sample=bursts: observes the program for a while, now and then. Phases change only where Valgrind looks after a
// thread, after 100,000 blocks at most, so bursts are as long as they have turned out, which is known.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/replay/engine.h"
#include "profile/burst_sums.h"
#include "tool/burst_schedule.h"
#include "tool/open_calls.h"
#include "tool/valgrind.h"

namespace bd {

class Sampler {
public:
    // `observe` starts (true) or stops what writes the trace. Both references must outlive it.
    Sampler(const BurstRules& rules, Engine& engine, const OpenCalls& calls, void (*observe)(bool))
        : rules_(rules), schedule_(rules), engine_(engine), calls_(calls), observe_(observe),
          sums_(engine.events().width()) {}

    // Of the program's start; whether it is observed from there on.
    bool start();

    // A thread's code is about to run.
    void before_code(ThreadId thread);
    // It no longer does; so many blocks have run since the program's start.
    void after_code(std::uint64_t blocks);

    // No more is observed, from here on, or before the engine finishes.
    void end();
    // The same once the engine has finished.
    void note_last_burst();

    // This process is a new child: what its parent has counted does not count.
    void start_in_child();

    const BurstRules& rules() const { return rules_; }
    const BurstSums& sums() const { return sums_; }
    // Of this process.
    std::uint64_t blocks() const { return blocks_ - blocks_before_; }

private:
    void enter(BurstSchedule::Phase phase);

    BurstRules rules_;
    BurstSchedule schedule_;
    Engine& engine_;
    OpenCalls calls_;
    void (*observe_)(bool);
    BurstSums sums_;
    std::uint64_t blocks_ = 0;
    std::uint64_t blocks_before_ = 0;  // of the parent
    std::uint64_t counts_from_ = 0;    // blocks_, when it began
    std::uint64_t counted_ = 0;        // blocks of this burst that have counted
    bool has_ended_ = false;
    std::vector<bool> knows_calls_;  // by thread, in this burst
};

}  // namespace bd
