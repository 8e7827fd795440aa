// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/system_calls.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "tool/guest_text.h"
#include "tool/options.h"
#include "tool/place.h"
#include "tool/session.h"
#include "tool/thread_locals.h"
#include "tool/thread_order.h"
#include "tool/thread_processors.h"
#include "tool/thread_visibility.h"
#include "tool/trace_buffer.h"
#include "tool/valgrind.h"

namespace bd {
namespace {

constexpr vki_clockid_t kElapsedClock = 1;    // CLOCK_MONOTONIC
constexpr vki_clockid_t kProcessorClock = 3;  // CLOCK_THREAD_CPUTIME_ID

struct Times {
    std::uint64_t elapsed = 0;  // both in the unit of --collect-systime
    std::uint64_t processor = 0;
};

// By thread, what the clocks were when its system call began. Null: not wanted.
constinit Times* began = nullptr;

std::uint64_t nanoseconds_per_unit() {
    switch (options.collect_systime) {
        case SystemTime::kMilliseconds:
            return 1'000'000;
        case SystemTime::kMicroseconds:
            return 1'000;
        case SystemTime::kNo:
        case SystemTime::kNanoseconds:
            break;
    }
    return 1;
}

// A clock's time in the unit, rounded down. Differences of such times add up to what passed, however short each is.
std::uint64_t read(vki_clockid_t clock) {
    vki_timespec time{};
    VG_(clock_gettime)(&time, clock);
    return (static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec)) /
           nanoseconds_per_unit();
}

Times now() {
    return {read(kElapsedClock), options.collect_systime == SystemTime::kNanoseconds ? read(kProcessorClock) : 0};
}

// The path that `arguments` name, as the core will see it; empty if it cannot be read.
Path executed_path(UInt number, const UWord* arguments) {
    constexpr int kCurrentFolder = -100;  // AT_FDCWD
    const bool has_folder = number == __NR_execveat;
    char text[4096];
    const std::string_view name = read_guest_text(arguments[has_folder ? 1 : 0], text);
    Path path;
    if (has_folder && !name.starts_with('/') && static_cast<int>(arguments[0]) != kCurrentFolder) {
        path << "/proc/self/fd/" << static_cast<int>(arguments[0]);
        if (!name.empty()) path << "/";
    }
    path << name;
    return path;
}

bool is_exec(UInt number) {
    return number == __NR_execve || number == __NR_execveat;
}

// By thread, whether it executes a program that the core will not refuse.
constinit bool* executes = nullptr;

void before(ThreadId thread, UInt number, UWord* arguments, UInt) {
    order_thread_before(thread, number, arguments);
    hide_thread_before(thread, number, arguments);
    if (is_exec(number)) {
        const Path path = executed_path(number, arguments);
        executes[thread] = !path.empty() && !sr_isError(VG_(pre_exec_check)(path.c_str(), nullptr, True));
        if (executes[thread]) session->before_exec(path.c_str());
    }
    if (began != nullptr) began[thread] = now();
}

void after(ThreadId thread, UInt number, UWord* arguments, UInt, SysRes result) {
    if (is_exec(number) && std::exchange(executes[thread], false)) session->exec_failed();
    order_thread_after(thread, number, arguments);
    if (processors_may_change(thread, number, arguments, result)) {
        mark_trace(Marker::kThread, thread, only_processor(thread));
    }
    if (began != nullptr) {
        const Times then = began[thread];
        const Times at_end = now();
        mark_trace(Marker::kSystemCall, thread, at_end.elapsed - then.elapsed, at_end.processor - then.processor);
    }
    thread_locals_may_change(thread);
    show_thread_after(thread, number, arguments, result);
}

}  // namespace

void watch_system_calls() {
    if (options.collect_systime != SystemTime::kNo) began = new Times[VG_N_THREADS];
    executes = new bool[VG_N_THREADS]();
    VG_(needs_syscall_wrapper)(before, after);
}

}  // namespace bd
