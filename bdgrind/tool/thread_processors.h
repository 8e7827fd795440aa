// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which threads the program lets run on one processor only, for --cores=N. What the process was started with is not the
// program's choice, and does not count.

#pragma once

#include <cstdint>

#include "tool/valgrind.h"

namespace bd {

// 1 + the only processor that a thread may use; 0: it may use several, or no cores are simulated that threads could be
// put on.
std::uint32_t only_processor(ThreadId thread);

// To be called when a thread creates another one, which may use what it may.
void processors_are_inherited(ThreadId creator, ThreadId thread);

// To be called after each system call. Returns whether what the calling thread may use has changed.
bool processors_may_change(ThreadId thread, UInt number, const UWord* arguments, SysRes result);

// In a forked child, which has this thread only.
void keep_processors_of(ThreadId thread);

}  // namespace bd
