// SPDX-License-Identifier: GPL-2.0-or-later
//
// How many runs a test with random programs makes.

#pragma once

#include <algorithm>
#include <cstdlib>

namespace bd::test {

// `count`, or fewer where BD_RUNS in the environment says so, for tests that are run again and again.
inline unsigned runs(unsigned count) {
    const char* const most = std::getenv("BD_RUNS");
    return most == nullptr ? count : std::min(count, static_cast<unsigned>(std::strtoul(most, nullptr, 10)));
}

}  // namespace bd::test
