// SPDX-License-Identifier: GPL-2.0-or-later
//
// Two threads that walk over arrays of their own in turns, four times each, handing over with semaphores. An array has
// 2,048 lines of 64 bytes; one follows the other.
//
// build: -O1 -static -pthread
// oracle: no
// callgrind: no

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

#define LINES 2048
#define PASSES 4

struct line {
    volatile unsigned long first;
    char rest[64 - sizeof(unsigned long)];
};

static _Alignas(4096) struct line arrays[2][LINES];
static sem_t turns[2];

static __attribute__((noinline)) void read_lines(const struct line *array)
{
    for (int i = 0; i < LINES; ++i)
        (void)array[i].first;
}

static void *run(void *which)
{
    int self = which != NULL;
    for (int i = 0; i < PASSES; ++i) {
        sem_wait(&turns[self]);
        read_lines(arrays[self]);
        sem_post(&turns[!self]);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    if (sem_init(&turns[0], 0, 1) != 0 || sem_init(&turns[1], 0, 0) != 0)
        return 1;
    for (int i = 0; i < 2; ++i)
        if (pthread_create(&threads[i], NULL, run, i ? &turns : NULL) != 0)
            return 1;
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
    return 0;
}
