// SPDX-License-Identifier: GPL-2.0-or-later
/* deep DEPTH CALLS: goes DEPTH calls down and up again until CALLS calls were made. With CALLS fixed the
   work is the same at every depth; what grows is the call stack of the profiler.

   It runs on a thread's stack, as a main stack of this size would need options of the shell's and of
   Valgrind's. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTableSize = 4096, kStackBytesPerCall = 256, kStackBytesBase = 1 << 20 };

static uint64_t depth;
static uint64_t rounds;
static uint64_t made;
static uint64_t table[kTableSize];

static __attribute__((noipa)) uint64_t descend(uint64_t left)
{
    made++;
    uint64_t before = table[left % kTableSize]++;
    if (left <= 1)
        return before & 1;
    return descend(left - 1) ^ (table[left % kTableSize] & 1);
}

static void *run(void *unused)
{
    for (uint64_t i = 0; i < rounds; i++)
        descend(depth);
    return unused;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: deep DEPTH CALLS\n");
        return 2;
    }
    depth = strtoull(argv[1], NULL, 10);
    uint64_t calls = strtoull(argv[2], NULL, 10);
    rounds = depth ? (calls + depth - 1) / depth : 0;

    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0
        || pthread_attr_setstacksize(&attributes, kStackBytesBase + depth * kStackBytesPerCall) != 0
        || pthread_create(&thread, &attributes, run, NULL) != 0 || pthread_join(thread, NULL) != 0) {
        fprintf(stderr, "deep: no thread with a stack for %llu calls\n", (unsigned long long)depth);
        return 1;
    }
    uint64_t sum = 0;
    for (int i = 0; i < kTableSize; i++)
        sum += table[i];
    printf("deep: %llu calls, %llu deep\n", (unsigned long long)made, (unsigned long long)depth);
    return made == rounds * depth && sum == made ? 0 : 1;
}
