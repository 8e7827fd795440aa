// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/thread_order.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "engine/sharing/virtual_order.h"
#include "tool/options.h"
#include "tool/threads.h"
#include "tool/trace_buffer.h"

namespace bd {
namespace {

// Calls that neither wait for other threads nor let them go on.
bool is_alone(UInt number) {
    constexpr UInt kAlone[]{
        __NR_brk,          __NR_munmap,        __NR_mprotect,    __NR_mremap,         __NR_madvise,      __NR_gettid,
        __NR_gettimeofday, __NR_clock_gettime, __NR_sched_yield, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_getpid,
#if defined(__NR_mmap)
        __NR_mmap,
#endif
#if defined(__NR_mmap2)
        __NR_mmap2,
#endif
    };
    return std::ranges::find(kAlone, number) != std::end(kAlone);
}

enum class FutexCall { kWait, kWake, kWakeTwo, kMove, kOther };

// The kernel's numbers of operations, without their flags.
FutexCall futex_call(const UWord* arguments) {
    switch (arguments[1] & 127) {
        case 0:   // wait
        case 6:   // lock, with inheritance
        case 9:   // wait, for some bits
        case 11:  // wait, to be moved
        case 13:  // lock, with inheritance and a clock
            return FutexCall::kWait;
        case 1:   // wake
        case 7:   // unlock, with inheritance
        case 10:  // wake, for some bits
            return FutexCall::kWake;
        case 5:  // wake here and there
            return FutexCall::kWakeTwo;
        case 3:   // wake some, and let others wait elsewhere
        case 4:
        case 12:
            return FutexCall::kMove;
        default:
            return FutexCall::kOther;
    }
}

void order_futex_before(VirtualOrder* order, ThreadId thread, const UWord* arguments) {
    const UWord most = ~UWord{0};
    switch (futex_call(arguments)) {
        case FutexCall::kWait:
            order->begin_wait(thread, arguments[0]);
            break;
        case FutexCall::kWake:
            order->wake(arguments[0], (arguments[1] & 127) == 7 ? 1 : arguments[2]);
            break;
        case FutexCall::kWakeTwo:
            order->wake(arguments[0], arguments[2]);
            order->wake(arguments[4], arguments[3]);
            break;
        case FutexCall::kMove:  // a thread that is moved is ordered too early
            order->wake(arguments[0], most);
            break;
        case FutexCall::kOther:
            break;
    }
}

// By thread: how many thread switches there had been when its system call began.
constinit std::uint64_t* switches_before = nullptr;

}  // namespace

void order_thread_before(ThreadId thread, UInt number, const UWord* arguments) {
    if (options.cores.count == 0 || is_alone(number)) return;
    VirtualOrder* const order = up_to_date_order();
    if (order == nullptr) return;
    if (switches_before == nullptr) switches_before = new std::uint64_t[VG_N_THREADS]();
    switches_before[thread] = thread_switches();
    if (number == __NR_futex) {
        order_futex_before(order, thread, arguments);
    } else {
        order->release(thread);
    }
}

void order_thread_after(ThreadId thread, UInt number, const UWord* arguments) {
    if (options.cores.count == 0 || is_alone(number)) return;
    VirtualOrder* const order = up_to_date_order();
    if (order == nullptr) return;
    if (number != __NR_futex) {
        order->acquire(thread, switches_before != nullptr && switches_before[thread] != thread_switches());
    } else if (futex_call(arguments) == FutexCall::kWait) {
        order->end_wait(thread);
    }
}

}  // namespace bd
