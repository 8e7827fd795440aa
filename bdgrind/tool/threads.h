// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tells the trace which thread runs and when signal handlers start and end, and the session when the process forks.

#pragma once

#include <cstdint>

namespace bd {

// How often another thread has begun to run.
std::uint64_t thread_switches();

// Registers with the core; to be called while the tool registers.
void watch_threads();

}  // namespace bd
