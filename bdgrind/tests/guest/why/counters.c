// SPDX-License-Identifier: GPL-2.0-or-later
//
// Four threads that count, each in a counter of its own, all four in one line; with -DREPAIRED, in a line for each.

#include <pthread.h>
#include <stdio.h>

#ifndef STEPS
#define STEPS 200000
#endif

static struct {
#ifdef REPAIRED
    _Alignas(64)
#endif
    volatile long count;
} counters[4];

static void* work(void* argument) {
    const long self = (long)argument;
    for (int i = 0; i < STEPS; ++i) ++counters[self].count;
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    for (long i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    printf("%ld\n", counters[0].count + counters[3].count);
}
