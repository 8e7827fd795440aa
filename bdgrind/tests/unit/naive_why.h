// SPDX-License-Identifier: GPL-2.0-or-later
//
// Why lines are loaded, in the most literal way: docs/simulation.md, rules 22 to 27.

#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "naive_caches.h"
#include "naive_calls.h"
#include "naive_reuse.h"
#include "run_costs.h"
#include "scenario.h"

namespace bd::test {

class NaiveWhy {
public:
    // Once `whole_reuses` lines have been loaded, one in eight stands for all that had been touched before.
    NaiveWhy(const Scenario& scenario, NaiveCalls& calls, std::uint64_t whole_reuses)
        : scenario_(scenario), calls_(calls), whole_reuses_(whole_reuses) {}

    // The latest call goes on, from the beginning of one block to that of the next.
    void on_step(const Site& from, unsigned to, unsigned long now);
    // By an access in `running`, a block, at `now`; it is charged to `charged`.
    void on_data(const NaiveCaches::DataTouch& touch, const InstructionKey& charged, unsigned running,
                 unsigned long now, RunCosts& costs);
    // An inclusive LL has taken a line from D1.
    void on_lost(Address line) { lines_.lose(line); }
    // A line has left D1.
    void on_leave(Address begin, Address bytes, const NaiveCaches::Touched& used, const InstructionKey& loader);
    void zero() { lines_.forget_stays(); }
    std::map<InstructionKey, StayCounts> stays() const { return lines_.stays(); }

private:
    std::optional<ScopeKey> carrier(unsigned long last_touch, unsigned running);
    void count(const ReuseKey& key, const NaiveCaches::DataTouch& touch, RunCosts& costs);

    const Scenario& scenario_;
    NaiveCalls& calls_;
    const std::uint64_t whole_reuses_;
    std::uint64_t loaded_lines_ = 0;  // that were charged
    NaiveLines lines_;
};

}  // namespace bd::test
