// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tells the engine which thread-local variables are where, thread by thread: of the object files that are loaded when
// a thread starts, as their places are fixed from then on.

#pragma once

#include "tool/valgrind.h"

namespace bd {

// To be called before the program starts, with --objects=yes. Else nothing below does anything.
void watch_thread_locals();

// The thread has done a system call: its blocks may be others when it goes on.
void thread_locals_may_change(ThreadId thread);
// The thread is about to run code, as the trace says.
void tell_thread_locals(ThreadId thread);
void forget_thread_locals(ThreadId thread);

// An object file's code may have been there.
void thread_locals_unmapped(Addr begin, Addr end);

}  // namespace bd
