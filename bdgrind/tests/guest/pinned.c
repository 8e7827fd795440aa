// SPDX-License-Identifier: GPL-2.0-or-later
//
// Two threads that count in one line, each on the processor that it is put on: `pinned KIND FIRST SECOND`. Kinds:
// "self": each thread chooses its processor itself. "edge": the same, and behind what the kernel reads of the set,
// nothing can be read. "attribute": by its attributes. "inherited": it has that of main, which is put on FIRST and then
// on SECOND. "both": each may use both. Fails with status 77 if it may not use these.
//
// build: -O1 -static -pthread
// oracle: no
// callgrind: no

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS 100000

static _Alignas(64) volatile unsigned long counters[2];
static pthread_barrier_t start;
static const char *kind;
static int processors[2];

static cpu_set_t only(int processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return set;
}

// The size of the set is said to be larger than what there is of it.
static int choose_at_edge(int processor)
{
    unsigned char known[8192];
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof known, known);
    unsigned char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes <= 0 || bytes > 4096 || pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE) != 0)
        return -1;
    unsigned char *set = pages + 4096 - bytes;
    set[processor / 8] = 1 << processor % 8;
    return (int)syscall(SYS_sched_setaffinity, 0, bytes + 64, set);
}

static __attribute__((noinline)) void count(int self)
{
    for (int i = 0; i < ROUNDS; ++i)
        ++counters[self];
}

static void *run(void *which)
{
    int self = which != NULL;
    cpu_set_t set = only(processors[self]);
    if (strcmp(kind, "self") == 0 && pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0)
        exit(77);
    if (strcmp(kind, "edge") == 0 && choose_at_edge(processors[self]) != 0)
        exit(77);
    pthread_barrier_wait(&start);
    count(self);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    kind = argv[1];
    pthread_t threads[2];
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; ++i) {
        processors[i] = atoi(argv[2 + i]);
        cpu_set_t set = only(processors[i]);
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        if (strcmp(kind, "attribute") == 0)
            pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
        if (strcmp(kind, "inherited") == 0 && sched_setaffinity(0, sizeof set, &set) != 0)
            return 77;
        if (strcmp(kind, "both") == 0) {
            CPU_SET(atoi(argv[2]), &set);
            CPU_SET(atoi(argv[3]), &set);
            if (sched_setaffinity(0, sizeof set, &set) != 0)
                return 77;
        }
        if (pthread_create(&threads[i], &attributes, run, i ? &start : NULL) != 0)
            return 77;
    }
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
    return 0;
}
