// SPDX-License-Identifier: GPL-2.0-or-later
//
// A lock between Valgrind's thread and the engine's. The waiting thread spins: the lock is held for microseconds, a few
// dozen at most (ChunkQueue), and these threads share no lock of the kernel's. Only if its holder waits for Valgrind's
// thread, which may be in a system call for long, is it worth while to sleep.

#pragma once

#include <atomic>

namespace bd {

// Tells the processor that this thread only waits: a sibling thread on its core runs faster, and leaving the loop does
// not pay for loads that were speculated.
inline void relax_processor() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Sleeps for about a millisecond. Of the program that links the engine.
void nap();

class SpinLock {
public:
    constexpr SpinLock() = default;

    void lock() {
        for (unsigned looks = 0; !try_lock();) {
            for (; locked_.load(std::memory_order_relaxed); ++looks) {
                if (looks < kLooks) {
                    relax_processor();
                } else {
                    nap();
                }
            }
        }
    }
    bool try_lock() { return !locked_.exchange(true, std::memory_order_acquire); }
    void unlock() { locked_.store(false, std::memory_order_release); }

private:
    static constexpr unsigned kLooks = 100'000;  // some milliseconds

    std::atomic<bool> locked_{false};
};

}  // namespace bd
