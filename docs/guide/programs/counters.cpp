// SPDX-License-Identifier: GPL-2.0-or-later
//
// The guide's program on threads: each of four threads counts for itself, beside the others.

#include <barrier>
#include <cstdio>
#include <thread>
#include <vector>

struct Counter {
    volatile long even = 0;
    volatile long odd = 0;
};

static Counter counters[4];

static void count(Counter& mine, std::barrier<>& start)
{
    start.arrive_and_wait();
    for (unsigned i = 0; i < 100000; ++i) {
        if (i * 2654435761u >> 31) {
            mine.odd = mine.odd + 1;
        } else {
            mine.even = mine.even + 1;
        }
    }
}

int main()
{
    std::barrier start(4);
    std::vector<std::thread> threads;
    for (Counter& mine : counters) threads.emplace_back(count, std::ref(mine), std::ref(start));
    for (std::thread& each : threads) each.join();
    long even = 0;
    long odd = 0;
    for (const Counter& each : counters) {
        even += each.even;
        odd += each.odd;
    }
    std::printf("%ld even, %ld odd\n", even, odd);
}
