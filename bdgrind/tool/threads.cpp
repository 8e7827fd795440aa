// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/threads.h"

#include "tool/session.h"
#include "tool/thread_locals.h"
#include "tool/thread_processors.h"
#include "tool/trace_buffer.h"
#include "tool/valgrind.h"

namespace bd {
namespace {

constinit ThreadId running = VG_INVALID_THREADID;
constinit std::uint64_t switches = 0;

void switch_to(ThreadId thread) {
    if (thread == running) return;
    ++switches;
    running = thread;
    mark_trace(Marker::kThread, thread, only_processor(thread));
}

void start_client_code(ThreadId thread, ULong) {
    switch_to(thread);
    tell_thread_locals(thread);
    session->before_code(thread);
    enter_code(thread);
}

void stop_client_code(ThreadId thread, ULong blocks) {
    leave_code();
    session->after_code(thread, blocks);
    session->check_memory();
}

void thread_is_created(ThreadId creator, ThreadId thread) {
    if (creator == VG_INVALID_THREADID) return;  // the first one
    mark_trace(Marker::kThreadCreate, creator, thread);
    processors_are_inherited(creator, thread);
}

void thread_exits(ThreadId thread) {
    mark_trace(Marker::kThreadEnd, thread);
    if (thread == running) running = VG_INVALID_THREADID;
    forget_thread_locals(thread);
}

// The handler has been left by a jump once the stack pointer is out of this range. On an alternate stack that is the
// stack; else what lies below the kernel's frame, which is larger than this margin and lies below the red zone.
void handler_starts(ThreadId thread, Int signal, Bool alternate_stack) {
    constexpr Addr kMargin = 256;
    Addr begin = 0;
    Addr end = VG_(get_SP)(thread) - kMargin;
    if (alternate_stack) {
        begin = VG_(thread_get_altstack_min)(thread);
        end = begin + VG_(thread_get_altstack_size)(thread);
    }
    mark_trace(Marker::kSignal, thread, static_cast<Addr>(signal));
    mark_trace(Marker::kSignalEnter, thread, begin, end);
}

void handler_has_returned(ThreadId thread, Int) {
    mark_trace(Marker::kSignalLeave, thread);
}

// The child has nothing but the thread that forked; the engine's is not there, either.
void before_fork(ThreadId) {
    drain_trace();
}

void start_child(ThreadId thread) {
    session->start_in_child(thread);
    keep_processors_of(thread);
    for (ThreadId other = 1; other < VG_N_THREADS; ++other) {
        if (other != thread) forget_thread_locals(other);
    }
}

}  // namespace

std::uint64_t thread_switches() {
    return switches;
}

void watch_threads() {
    VG_(track_start_client_code)(start_client_code);
    VG_(track_stop_client_code)(stop_client_code);
    VG_(track_pre_thread_ll_create)(thread_is_created);
    VG_(track_pre_thread_ll_exit)(thread_exits);
    VG_(track_pre_deliver_signal)(handler_starts);
    VG_(track_post_deliver_signal)(handler_has_returned);
    VG_(atfork)(before_fork, nullptr, start_child);
}

}  // namespace bd
