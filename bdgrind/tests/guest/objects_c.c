// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -fno-builtin
//
// C's ways to allocate, with any allocator: each function allocates 10 blocks of known sizes and frees them.
//
//     function       bytes
//     by_malloc       1000   100 each
//     by_calloc        700   10 elements of 7 each
//     by_realloc     55000   1000 more each time: 1000 + 2000 + ... + 10000
//     by_posix        5120   512 each; so do the next two
//     by_aligned      5120
//     by_memalign     5120
//     by_strdup        100   9 characters and a 0 each
//     large       10000000   1000000 each

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { kTimes = 10 };

#define NOINLINE __attribute__((noinline, noclone))

void *volatile sink;

/* The address goes elsewhere first, so that no compiler leaves it all out. */
#define ALLOCATES(name, what) \
    NOINLINE static void name(void) { \
        for (int i = 0; i < kTimes; i++) { sink = what; free(sink); } \
    }
ALLOCATES(by_malloc, malloc(100))
ALLOCATES(by_calloc, calloc(10, 7))
ALLOCATES(by_aligned, aligned_alloc(256, 512))
ALLOCATES(by_memalign, memalign(256, 512))
ALLOCATES(by_strdup, strdup("123456789"))
ALLOCATES(large, malloc(1000000))

NOINLINE static void by_realloc(void) {
    for (size_t i = 1; i <= kTimes; i++) sink = realloc(sink, 1000 * i);
    free(sink);
}

NOINLINE static void by_posix(void) {
    for (int i = 0; i < kTimes; i++) {
        void *block = 0;
        if (posix_memalign(&block, 256, 512) != 0) abort();
        sink = block;
        free(block);
    }
}

int main(void) {
    by_malloc();
    by_calloc();
    sink = 0;
    by_realloc();
    by_posix();
    by_aligned();
    by_memalign();
    by_strdup();
    large();
    return 0;
}
