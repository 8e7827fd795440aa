// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/engine_thread.h"

#include <atomic>
#include <cstdint>
#include <span>

#include "engine/base/check.h"
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
        return system_call(__NR_futex, reinterpret_cast<long>(&word), kWake, 1) >= 0;
    }

private:
    static constexpr long kWait = 0;
    static constexpr long kWake = 1;
    static constexpr long kTimedOut = 110;
};

constexpr std::size_t kStackBytes = std::size_t{256} << 10;
alignas(64) constinit unsigned char stack[kStackBytes]{};

constinit BatchQueue<KernelSleeper> queue;
constinit WaitWord alive{0};  // the kernel makes it 0 when the thread no longer uses its stack
constinit long last_thread = 0;  // its number, from the kernel
// Written while there is no thread.
constinit EngineThread::Work work_on_batch = nullptr;
constinit EngineThread::Help help_engine = nullptr;

// A little longer than it uses its stack, the process still has two threads, and some system calls are refused.
void wait_until_gone() {
    const long process = system_call(__NR_getpid);
    while (system_call(__NR_tgkill, process, last_thread, 0) == 0) system_call(__NR_sched_yield);
}

[[noreturn]] void run() {
    queue.run(work_on_batch);
    for (;;) system_call(__NR_exit);
}

}  // namespace

bool EngineThread::is_possible() {
    return true;
}

bool EngineThread::is_useful() {
    const auto ask = [](std::span<std::uint64_t> words) {
        return system_call(__NR_sched_getaffinity, 0, static_cast<long>(words.size_bytes()),
                           reinterpret_cast<long>(words.data()));
    };
    return count_processors(ask, VKI_EINVAL) > 1;
}

bool EngineThread::is_here() {
    const auto* const here = static_cast<const unsigned char*>(__builtin_frame_address(0));
    return here >= stack && here < stack + kStackBytes;
}

bool EngineThread::start(Work work, Help help) {
    BD_CHECK(alive.load() == 0);
    work_on_batch = work;
    help_engine = help;
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
    asm volatile(
        "syscall\n\t"
        "test %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "xor %%ebp, %%ebp\n\t"
        "call *%[run]\n\t"
        "1:"
        : "=a"(result)
        : "a"(__NR_clone), "D"(kFlags), "S"(stack + kStackBytes - 64), "d"(&alive), "r"(r10), "r"(r8), [run] "r"(&run)
        : "rcx", "r11", "memory");
    system_call(__NR_rt_sigprocmask, kRestore, reinterpret_cast<long>(&before), 0, 8);
    last_thread = result;
    return result > 0;
}

void EngineThread::ask(void (*task)()) {
    queue.ask(task);
}

void EngineThread::submit(Batch batch) {
    queue.submit(batch);
}

void EngineThread::wait(unsigned count) {
    queue.wait(count, help_engine);
}

bool EngineThread::fails() {
    return queue.fails();
}

void EngineThread::stop() {
    wait(0);
    queue.stop();
    for (std::uint32_t id = alive; id != 0; id = alive) queue.wait_while(alive, id);
    wait_until_gone();
    queue.reset();
}

void EngineThread::forget() {
    alive = 0;
    queue.reset();
}

}  // namespace bd

#else

namespace bd {

bool EngineThread::is_possible() { return false; }
bool EngineThread::is_useful() { return false; }
bool EngineThread::is_here() { return false; }
bool EngineThread::start(Work, Help) { return false; }
void EngineThread::ask(void (*)()) {}
void EngineThread::submit(Batch) {}
void EngineThread::wait(unsigned) {}
bool EngineThread::fails() { return false; }
void EngineThread::stop() {}
void EngineThread::forget() {}

}  // namespace bd

#endif
