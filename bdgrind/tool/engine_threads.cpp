// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/engine_threads.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

#include "engine/base/check.h"
#include "engine/base/spin_lock.h"
#include "tool/batch_queue.h"
#include "tool/processors.h"
#include "tool/valgrind.h"

#if defined(VGP_amd64_linux)

namespace bd {
namespace {

// One system call, without Valgrind's bookkeeping.
long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
    long result;
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    register long r9 asm("r9") = f;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
}

// Some filters of system calls refuse futexes.
struct KernelSleeper {
    static bool sleep(WaitWord& word, std::uint32_t value) {
        // Once a second it looks by itself, for the other thread may have been refused.
        constexpr vki_timespec kTimeout{.tv_sec = 1, .tv_nsec = 0};
        const long result = system_call(__NR_futex, reinterpret_cast<long>(&word), kWait, value,
                                        reinterpret_cast<long>(&kTimeout));
        return result == 0 || result == -VKI_EAGAIN || result == -VKI_EINTR || result == -kTimedOut;
    }
    static bool wake(WaitWord& word) {
        return system_call(__NR_futex, reinterpret_cast<long>(&word), kWake, kAll) >= 0;
    }

private:
    static constexpr long kWait = 0;
    static constexpr long kWake = 1;
    static constexpr long kAll = 0x7fffffff;
    static constexpr long kTimedOut = 110;
};

constexpr std::size_t kStackBytes = std::size_t{256} << 10;

struct Thread {
    WaitWord alive{0};  // its number; the kernel makes it 0 when the thread no longer uses its stack
    long last = 0;      // the same, until it has gone altogether

    // False if the system does not let us.
    bool start(unsigned char* stack, void (*run)()) {
        BD_CHECK(alive.load() == 0);
        constexpr long kFlags = VKI_CLONE_VM | VKI_CLONE_FS | VKI_CLONE_FILES | VKI_CLONE_SIGHAND | VKI_CLONE_THREAD |
                                VKI_CLONE_SYSVSEM | VKI_CLONE_PARENT_SETTID | VKI_CLONE_CHILD_CLEARTID;
        constexpr long kBlock = 0;
        constexpr long kRestore = 2;
        const std::uint64_t all = ~std::uint64_t{0};
        std::uint64_t before = 0;
        // The new thread inherits the mask.
        system_call(__NR_rt_sigprocmask, kBlock, reinterpret_cast<long>(&all), reinterpret_cast<long>(&before), 8);
        long result;
        register long r10 asm("r10") = reinterpret_cast<long>(&alive);
        register long r8 asm("r8") = 0;
        register auto r9 asm("r9") = run;  // not the frame pointer, which begins anew
        asm volatile(
            "syscall\n\t"
            "test %%rax, %%rax\n\t"
            "jnz 1f\n\t"
            "xor %%ebp, %%ebp\n\t"
            "call *%%r9\n\t"
            "1:"
            : "=a"(result)
            : "a"(__NR_clone), "D"(kFlags), "S"(stack + kStackBytes - 64), "d"(&alive), "r"(r10), "r"(r8), "r"(r9)
            : "rcx", "r11", "memory");
        system_call(__NR_rt_sigprocmask, kRestore, reinterpret_cast<long>(&before), 0, 8);
        if (result <= 0) return false;
        last = result;
        return true;
    }

    // A little longer than it uses its stack, the process still has the thread, and some system calls are refused.
    void wait_until_gone() {
        if (last == 0) return;
        const long process = system_call(__NR_getpid);
        while (system_call(__NR_tgkill, process, last, 0) == 0) system_call(__NR_sched_yield);
        last = 0;
    }
};

alignas(64) constinit unsigned char engine_stacks[EngineThreads::kMost][kStackBytes]{};

constinit BatchQueue<KernelSleeper> queue;
constinit Thread own_threads[EngineThreads::kMost]{};
// Written while there is no thread.
constinit EngineThreads::Work work_on_batch = nullptr;
constinit EngineThreads::Help help_engine = nullptr;

[[noreturn]] void run_engine() {
    queue.run(work_on_batch);
    for (;;) system_call(__NR_exit);
}

[[noreturn]] void run_helper() {
    queue.run_helper(help_engine);
    for (;;) system_call(__NR_exit);
}

}  // namespace

void nap() {
    constexpr vki_timespec kWhile{.tv_sec = 0, .tv_nsec = 1'000'000};
    system_call(__NR_nanosleep, reinterpret_cast<long>(&kWhile));
}

bool EngineThreads::is_possible() {
    return true;
}

std::size_t EngineThreads::useful_count() {
    const auto ask = [](std::span<std::uint64_t> words) {
        return system_call(__NR_sched_getaffinity, 0, static_cast<long>(words.size_bytes()),
                           reinterpret_cast<long>(words.data()));
    };
    return std::min(count_processors(ask, VKI_EINVAL) - 1, kMost);
}

bool EngineThreads::is_here() {
    const auto* const here = static_cast<const unsigned char*>(__builtin_frame_address(0));
    return here >= engine_stacks[0] && here < engine_stacks[0] + sizeof engine_stacks;
}

std::size_t EngineThreads::start(std::size_t count, Work work, Help help) {
    BD_CHECK(count >= 1 && count <= kMost);
    work_on_batch = work;
    help_engine = help;
    if (!own_threads[0].start(engine_stacks[0], run_engine)) return 0;
    if (count == 1) return 1;
    queue.expect_helper();
    if (own_threads[1].start(engine_stacks[1], run_helper)) return 2;
    queue.expect_no_helper();
    return 1;
}

bool EngineThreads::has_helper() {
    return queue.has_helper();
}

void EngineThreads::ask(void (*task)(void*), void* argument) {
    queue.ask(task, argument);
}

void EngineThreads::submit(Batch batch) {
    queue.submit(batch);
}

void EngineThreads::wait(unsigned count) {
    queue.wait(count, help_engine);
}

bool EngineThreads::fails() {
    return queue.fails();
}

void EngineThreads::stop() {
    wait(0);
    queue.stop();
    for (Thread& thread : own_threads) {
        for (std::uint32_t id = thread.alive; id != 0; id = thread.alive) queue.wait_while(thread.alive, id);
        thread.wait_until_gone();
    }
    queue.reset();
}

void EngineThreads::forget() {
    for (Thread& thread : own_threads) {
        thread.alive = 0;
        thread.last = 0;
    }
    queue.reset();
}

}  // namespace bd

#else

namespace bd {

void nap() {}

bool EngineThreads::is_possible() { return false; }
std::size_t EngineThreads::useful_count() { return 0; }
bool EngineThreads::is_here() { return false; }
std::size_t EngineThreads::start(std::size_t, Work, Help) { return 0; }
bool EngineThreads::has_helper() { return false; }
void EngineThreads::ask(void (*)(void*), void*) {}
void EngineThreads::submit(Batch) {}
void EngineThreads::wait(unsigned) {}
bool EngineThreads::fails() { return false; }
void EngineThreads::stop() {}
void EngineThreads::forget() {}

}  // namespace bd

#endif
