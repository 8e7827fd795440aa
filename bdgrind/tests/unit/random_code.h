// SPDX-License-Identifier: GPL-2.0-or-later
//
// The code of a random scenario, and the caches that it runs on.

#pragma once

#include "choice.h"
#include "scenario.h"

namespace bd::test {

// A scenario without records.
Scenario random_code(Choice& choice);

}  // namespace bd::test
