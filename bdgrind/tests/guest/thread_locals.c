// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -pthread -fno-builtin
//
// Thread-local variables of 8000 bytes, of the program and of a function in it. walk() reads a byte of each of 100
// lines in the midst of one, from 3 threads one after the other: lines that nothing has touched before, or which
// walking another one has evicted from a D1 of 64 lines. So walk() loads exactly 300 lines into D1 for each variable.

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { kSize = 8000, kLines = 100, kThreads = 3 };

#define NOINLINE __attribute__((noinline, noclone))

volatile char sink;

struct point {
    double x, y;
    char name[64];
};

static _Thread_local char before[100] = "initialized";
_Thread_local struct point points[kSize / sizeof(struct point)];
static _Thread_local char buffer[kSize] = "initialized";

NOINLINE void walk(const volatile char *object) {
    const volatile char *line = (const volatile char *)(((uintptr_t)object + 1087) & ~(uintptr_t)63);
    for (int i = 0; i < kLines; i++) sink = line[64 * i];
}

NOINLINE char *of_function(void) {
    static _Thread_local char scratch[kSize];
    return scratch;
}

NOINLINE void *run(void *unused) {
    sink = before[10];
    walk((const char *)points);
    walk(buffer);
    walk(of_function());
    return unused;
}

// With an argument, in this many threads: with one, it does the same each time. (Whether a thread ends before another
// one waits for it is for the system to say.)
int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : kThreads;
    run(0);
    for (int i = 1; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, 0, run, 0) != 0 || pthread_join(thread, 0) != 0) abort();
    }
    return 0;
}
