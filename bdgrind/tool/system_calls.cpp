// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/system_calls.h"

#include <cstdint>

#include "tool/options.h"
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

// By thread, what the clocks were when its system call began.
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

void before(ThreadId thread, UInt, UWord*, UInt) {
    began[thread] = now();
}

void after(ThreadId thread, UInt, UWord*, UInt, SysRes) {
    const Times then = began[thread];
    const Times at_end = now();
    mark_trace(Marker::kSystemCall, thread, at_end.elapsed - then.elapsed, at_end.processor - then.processor);
}

}  // namespace

void watch_system_calls() {
    if (options.collect_systime == SystemTime::kNo) return;
    began = new Times[VG_N_THREADS];
    VG_(needs_syscall_wrapper)(before, after);
}

}  // namespace bd
