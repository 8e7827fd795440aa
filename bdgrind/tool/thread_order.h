// SPDX-License-Identifier: GPL-2.0-or-later
//
// What system calls say of the order of threads, for VirtualOrder: who waits, and who lets others go on. Nothing is
// done unless there is one.

#pragma once

#include "tool/valgrind.h"

namespace bd {

// To be called before and after each system call.
void order_thread_before(ThreadId thread, UInt number, const UWord* arguments);
void order_thread_after(ThreadId thread, UInt number, const UWord* arguments);

}  // namespace bd
