// SPDX-License-Identifier: GPL-2.0-or-later
//
// For the moments that Valgrind's thread and the engine's must not have at the same time. Neither sleeps: they are
// short, and there is no kernel's lock that both could use.

#pragma once

#include <atomic>

namespace bd {

class SpinLock {
public:
    constexpr SpinLock() = default;

    void lock() {
        while (!try_lock()) {
            while (locked_.load(std::memory_order_relaxed)) {
            }
        }
    }
    bool try_lock() { return !locked_.exchange(true, std::memory_order_acquire); }
    void unlock() { locked_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> locked_{false};
};

}  // namespace bd
