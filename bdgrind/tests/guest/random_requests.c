// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -O1 -pthread

   random_requests SEED: makes client requests at random, of bdgrind's, Callgrind's and Cachegrind's numbers and those
   around them, with arguments that need not make sense, from two threads and from a signal handler. Prints how many
   requests it has made, which no tool may change.  */

#include "bdgrind.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { kRequests = 20 };

static unsigned start;
static char *edge; /* its last byte is the last that may be read */
static volatile long made;

static unsigned next(unsigned *state)
{
    *state = *state * 1103515245 + 12345;
    return *state >> 8;
}

static uintptr_t argument(unsigned *state)
{
    static const char *const texts[] = {"", "a reason", "two\nlines", "\033[31m%s%n"};
    switch (next(state) % 6) {
    case 0: return 0;
    case 1: return next(state);
    case 2: return ~(uintptr_t)0 - next(state) % 8;
    case 3: return (uintptr_t)(edge - next(state) % 600);
    case 4: return (uintptr_t)&next;
    default: return (uintptr_t)texts[next(state) % 4];
    }
}

static long request(unsigned *state)
{
    static const char tools[][2] = {"BD", "CT", "CG", "ZZ"};
    const char *tool = tools[next(state) % 4];
    const uintptr_t number = VG_USERREQ_TOOL_BASE(tool[0], tool[1]) + next(state) % 9;
    VALGRIND_DO_CLIENT_REQUEST_EXPR(0, number, argument(state), argument(state), argument(state), 0, 0);
    return 1;
}

static void handle(int number)
{
    unsigned state = start + (unsigned)number;
    made += request(&state);
}

static void *run(void *seed)
{
    unsigned state = *(unsigned *)seed;
    long count = 0;
    for (int i = 0; i < kRequests; ++i) {
        count += request(&state);
        if (next(&state) % 8 == 0) raise(SIGUSR1);
    }
    return (void *)count;
}

int main(int argc, char **argv)
{
    start = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE) != 0) return 2;
    for (int i = 0; i < 4096; ++i) pages[i] = 'x';
    edge = pages + 4095;
    signal(SIGUSR1, handle);
    unsigned seeds[] = {start, start + 1000};
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, &seeds[1]) != 0) return 2;
    long count = (long)run(&seeds[0]);
    void *others;
    pthread_join(thread, &others);
    printf("%ld requests\n", count + (long)others);
    return 0;
}
