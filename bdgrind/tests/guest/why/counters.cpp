// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads that count in neighbouring atomics; with -DREPAIRED, each has a line.

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

struct Counter {
#ifdef REPAIRED
    alignas(64)
#endif
        std::atomic<long> count{0};
};

int main() {
    static Counter counters[4];
    std::vector<std::thread> threads;
    for (Counter& counter : counters) {
        threads.emplace_back([&counter] {
            for (int i = 0; i < 100000; ++i) counter.count.fetch_add(1, std::memory_order_relaxed);
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::printf("%ld\n", counters[2].count.load());
}
