// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whom costs are charged to, in the most literal way: whatever happens is added to every open call at once.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "naive_caches.h"
#include "naive_execution.h"
#include "naive_objects.h"
#include "run_costs.h"
#include "scenario.h"

namespace bd::test {

// What separates paths: docs/contexts.md.
struct PathRules {
    bool by_site = false;
    bool folded = true;  // what is called again goes back to where it is on the path
};

class NaiveAccounts {
public:
    NaiveAccounts(const Scenario& scenario, const std::optional<PathRules>& paths, bool with_flows = false)
        : scenario_(scenario), paths_(paths), with_flows_(with_flows) {}

    // What is done by `instruction`, or charged to it, while the calls of `execution` are open.
    ChargeTarget target(const InstructionKey& instruction, const NaiveExecution& execution,
                        const std::string& group = {}) const;

    void charge(Event event, std::uint64_t cost, const ChargeTarget& target);
    // The latest call of `execution` has been opened.
    void count_call(const NaiveExecution& execution);
    // Lines of D1 that an access of `target` has missed, or hit.
    void count_distances(const std::vector<NaiveCaches::MissedLine>& lines, const ChargeTarget& target, bool hits);
    // A part of a line has left D1, which `loader` had loaded.
    void count_pattern(const NaiveObjects::Pattern& pattern, const InstructionKey& loader);
    void zero() {
        costs_ = {};
        flows_.zero();
    }
    // What `execution` runs goes on with a block.
    void follow(const NaiveExecution& execution, const FlowStep& step, Address begin, Address end) {
        if (!with_flows_ || is_astray(execution)) return;
        flows_.go_on(execution.flow(), execution.context, step, begin, end, execution.collecting);
    }
    void finish() { flows_.add_to(costs_.flows); }

    RunCosts& costs() { return costs_; }

private:
    // Larger blocks are looked at in part.
    static constexpr Address kMostWhole = 65536;

    PathKey path_of(const NaiveExecution& execution) const;
    // Whether it runs code that is not shown and charged to a call that has been left.
    static bool is_astray(const NaiveExecution& execution) {
        return execution.charged_site && execution.charged_site->context != execution.context;
    }

    const Scenario& scenario_;
    const std::optional<PathRules> paths_;
    const bool with_flows_;
    mutable NaiveFlows flows_;
    RunCosts costs_;
};

}  // namespace bd::test
