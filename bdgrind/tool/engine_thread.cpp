// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/engine_thread.h"

#include <atomic>

#include "engine/base/check.h"
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

using Futex = std::atomic<std::uint32_t>;

// Waits until `futex` is not `value` any more. Looks a while before it sleeps: the other side is mostly about to
// come.
void wait_while(Futex& futex, std::uint32_t value) {
    for (int i = 0; i < 2000; ++i) {
        if (futex.load(std::memory_order_acquire) != value) return;
        __builtin_ia32_pause();
    }
    while (futex.load(std::memory_order_acquire) == value) {
        system_call(__NR_futex, reinterpret_cast<long>(&futex), 0 /* FUTEX_WAIT */, value);
    }
}

void wake(Futex& futex) {
    system_call(__NR_futex, reinterpret_cast<long>(&futex), 1 /* FUTEX_WAKE */, 1);
}

constexpr std::size_t kStackBytes = std::size_t{256} << 10;
alignas(64) constinit unsigned char stack[kStackBytes]{};

// Batches are numbered from 0. The main thread writes `submitted`, the engine's thread `done`.
constinit Batch batches[EngineThread::kMostBatches]{};
constinit Futex submitted{0};
constinit Futex done{0};
constinit Futex alive{0};  // the kernel makes it 0 when the thread has gone
constinit Futex progress{0};  // changes with `done` and with `asking`
constinit Futex asking{0};    // 1: the engine waits to be served
constinit std::atomic<bool> stopping{false};
constinit EngineThread::Work replay = nullptr;
constinit EngineThread::Serve serve_asking = nullptr;
constinit EngineThread::Help help_engine = nullptr;

void tell_progress() {
    progress.fetch_add(1, std::memory_order_release);
    wake(progress);
}

[[noreturn]] void run() {
    for (;;) {
        const std::uint32_t number = done.load(std::memory_order_relaxed);
        wait_while(submitted, number);
        if (stopping.load(std::memory_order_relaxed)) break;
        replay(batches[number % EngineThread::kMostBatches]);
        done.store(number + 1, std::memory_order_release);
        tell_progress();
    }
    for (;;) system_call(__NR_exit);
}

}  // namespace

bool EngineThread::is_possible() {
    return true;
}

bool EngineThread::is_useful() {
    std::uint64_t processors[16]{};
    const long bytes = system_call(__NR_sched_getaffinity, 0, sizeof processors, reinterpret_cast<long>(processors));
    int count = 0;
    for (long i = 0; i < bytes / 8; ++i) count += __builtin_popcountll(processors[i]);
    return count > 1;
}

bool EngineThread::is_here() {
    const auto* const here = static_cast<const unsigned char*>(__builtin_frame_address(0));
    return here >= stack && here < stack + kStackBytes;
}

bool EngineThread::start(Work work, Serve serve, Help help) {
    BD_CHECK(alive.load() == 0);
    replay = work;
    serve_asking = serve;
    help_engine = help;
    stopping = false;
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
    return result > 0;
}

void EngineThread::submit(Batch batch) {
    const std::uint32_t number = submitted.load(std::memory_order_relaxed);
    BD_CHECK_OP(number - done.load(std::memory_order_relaxed), <, kMostBatches);
    batches[number % kMostBatches] = batch;
    submitted.store(number + 1, std::memory_order_release);
    wake(submitted);
}

void EngineThread::wait(unsigned count) {
    const std::uint32_t all = submitted.load(std::memory_order_relaxed);
    for (;;) {
        const std::uint32_t seen = progress.load(std::memory_order_acquire);
        if (asking.load(std::memory_order_acquire) != 0) {
            serve_asking();
            asking.store(0, std::memory_order_release);
            wake(asking);
        }
        if (all - done.load(std::memory_order_acquire) <= count) return;
        if (!help_engine()) wait_while(progress, seen);
    }
}

void EngineThread::ask() {
    asking.store(1, std::memory_order_release);
    tell_progress();
    wait_while(asking, 1);
}

void EngineThread::stop() {
    wait(0);
    stopping = true;
    submitted.fetch_add(1, std::memory_order_release);
    wake(submitted);
    for (std::uint32_t id = alive; id != 0; id = alive) wait_while(alive, id);
    submitted = 0;
    done = 0;
}

void EngineThread::forget() {
    alive = 0;
    submitted = 0;
    done = 0;
}

}  // namespace bd

#else

namespace bd {

bool EngineThread::is_possible() { return false; }
bool EngineThread::is_useful() { return false; }
bool EngineThread::is_here() { return false; }
bool EngineThread::start(Work, Serve, Help) { return false; }
void EngineThread::ask() {}
void EngineThread::submit(Batch) {}
void EngineThread::wait(unsigned) {}
void EngineThread::stop() {}
void EngineThread::forget() {}

}  // namespace bd

#endif
