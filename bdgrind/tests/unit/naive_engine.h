// SPDX-License-Identifier: GPL-2.0-or-later
//
// The oracle for attribution (docs/simulation.md): the same rules as the engine's, followed in the most
// literal way. It was written from those rules and shares no code with the engine. Every line in a cache has a
// copy of the whole call chain that was open when it was loaded, and whatever happens is added to every open
// call at once.
//
// Where they leave a choice, this is what both engines do:
// - An instruction is fetched, then its data accesses happen in order; an access goes line by line, upwards.
// - In a line that is loaded, the access counts before the LL is looked at.
// - Where L1 lines are longer than LL lines, the LL is asked for the bytes accessed only; and an L1 line's use is
//   merged into an LL line, accesses and all, if they have touched bytes in common.
// - While nothing is collected, calls are followed, but neither counted nor charged.

#pragma once

#include <cstddef>
#include <optional>

#include "naive_accounts.h"
#include "run_costs.h"
#include "scenario.h"

namespace bd::test {

// The first `records` records of the scenario.
// `object_depth`: how many callers tell heap blocks apart; 0: the run has no data objects.
// `with_flows`: tells paths within functions apart.
// `why`: tells why lines are loaded; of all lines until so many have been loaded, then of one in eight.
// `least_distance`: tells hits of D1 from this distance on, too; 0: none.
RunCosts run_naively(const Scenario& scenario, std::size_t records, const std::optional<PathRules>& paths = {},
                     unsigned object_depth = 0, bool why = false,
                     std::uint64_t whole_reuses = ~std::uint64_t{0}, bool with_flows = false,
                     std::uint64_t least_distance = 0);

}  // namespace bd::test
