// SPDX-License-Identifier: GPL-2.0-or-later
#include "calibrate/rounds.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace bd::calibrate {
namespace {

constexpr double kRound = 1e6;  // nanoseconds
constexpr double kCoarsest = kRound / 100;
constexpr double kLongestCheck = 1e9;
constexpr int kTrials = 3;
constexpr long kMostReads = 50'000'000;

}  // namespace

double now() {
    static double latest = 0;
    timespec time{};
    if (clock_gettime(CLOCK_MONOTONIC, &time) != 0) throw Failure("the clock cannot be read, so nothing can be timed");
    const double found = static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
    if (found < latest) throw Failure("the clock has run backwards, so nothing can be timed");
    latest = found;
    return found;
}

void check_clock() {
    const double start = now();
    double coarsest = 0;
    for (int ticks = 0; ticks < 20; ++ticks) {
        const double before = now();
        double after = before;
        for (long reads = 0; after == before; ++reads) {
            if (reads == kMostReads) throw Failure("the clock stands still, so nothing can be timed");
            after = now();
        }
        coarsest = std::max(coarsest, ticks == 0 ? 0 : std::min(after - before, coarsest == 0 ? kRound : coarsest));
        if (after - start > kLongestCheck) throw Failure("the clock is too coarse: it must resolve 10 microseconds");
    }
    if (coarsest > kCoarsest) throw Failure("the clock is too coarse: it must resolve 10 microseconds");
}

Spread spread_of(std::vector<double> rounds) {
    if (rounds.empty()) return {};
    std::sort(rounds.begin(), rounds.end());
    return {rounds[rounds.size() / 4], rounds.front(), rounds[rounds.size() / 2]};
}

void Measurement::measure(int rounds) {
    warm();
    if (times_ == 0) {
        for (times_ = 64;; times_ *= 2) {
            // The shortest of several: in one, others may have had the processor.
            double taken = kRound;
            for (int trial = 0; trial < kTrials; ++trial) {
                const double before = now();
                run(times_);
                taken = std::min(taken, now() - before);
            }
            if (taken >= kRound / 2) break;
        }
    }
    for (int round = 0; round < rounds; ++round) {
        const double before = now();
        run(times_);
        rounds_.push_back((now() - before) / static_cast<double>(times_));
    }
    cool();
}

}  // namespace bd::calibrate
