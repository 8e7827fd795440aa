// SPDX-License-Identifier: GPL-2.0-or-later
//
// For what Valgrind's thread and the engine's must not do at the same time. Neither sleeps: it takes microseconds, a
// few dozen at most (ChunkQueue), and there is no kernel's lock that both could use.

#pragma once

#include <atomic>

namespace bd {

// Tells the processor that this thread only waits: the other one on its core goes faster, and a loop is left without
// the penalty for having read ahead.
inline void relax_processor() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

class SpinLock {
public:
    constexpr SpinLock() = default;

    void lock() {
        while (!try_lock()) {
            while (locked_.load(std::memory_order_relaxed)) relax_processor();
        }
    }
    bool try_lock() { return !locked_.exchange(true, std::memory_order_acquire); }
    void unlock() { locked_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> locked_{false};
};

}  // namespace bd
