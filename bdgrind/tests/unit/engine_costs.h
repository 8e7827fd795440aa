// SPDX-License-Identifier: GPL-2.0-or-later
//
// What an engine has counted, in the naive engine's terms.

#pragma once

#include <cstdint>

#include "engine/replay/engine.h"
#include "run_costs.h"

namespace bd::test {

// Adds to `costs` what the engine keeps for `thread` (0: for all). Blocks and functions go by their ids.
void add_costs_of(const Engine& engine, std::uint32_t thread, RunCosts& costs);

}  // namespace bd::test
