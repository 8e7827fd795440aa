// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which system calls of the guest could tell that there is the engine's thread: because the kernel does them for a
// process of one thread only, because they show its threads, or because they change what the kernel keeps for each
// thread, so that the engine's would be left with what it had. During those it is not there.

#pragma once

#include "tool/valgrind.h"

namespace bd {

// To be called before and after each system call of the guest.
void hide_thread_before(ThreadId thread, UInt number, const UWord* arguments);
void show_thread_after(ThreadId thread, UInt number, const UWord* arguments, SysRes result);

}  // namespace bd
