// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <stdexcept>
#include <vector>

namespace bd::calibrate {

// What the user is told, in one sentence.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Nanoseconds since some time in the past. Throws Failure where the clock fails or runs backwards.
double now();

// Throws Failure where the clock is too coarse for rounds of a millisecond, or stands still.
void check_clock();

// Of many short rounds: the value is their lower quartile. Other programs make some rounds longer, and a lucky one is
// shorter than what programs see.
struct Spread {
    double value = 0;
    double least = 0;
    double median = 0;
};
Spread spread_of(std::vector<double> rounds);

// The nanoseconds that one thing takes. Each measurement is asked for a round several times, in turn with all others,
// so that a busy second spoils a few rounds of each and not all of one.
class Measurement {
public:
    virtual ~Measurement() = default;

    // Brings into the caches what a round expects there.
    virtual void warm() {}
    // After the last round: undoes what warm did, where others would suffer from it.
    virtual void cool() {}
    // Does the thing so many times.
    virtual void run(long times) = 0;

    // About a millisecond a round.
    void measure(int rounds);
    Spread spread() const { return spread_of(rounds_); }

private:
    long times_ = 0;
    std::vector<double> rounds_;
};

}  // namespace bd::calibrate
