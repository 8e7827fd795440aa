// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -fno-builtin
//
// Three functions stand between malloc and those who ask for blocks: of 8000 bytes each, 10 for names and 20 for
// values, which are asked for in one function, for the left and for the right.

#include <stdlib.h>

enum { kSize = 8000 };

#define NOINLINE __attribute__((noinline, noclone))

volatile char sink;

NOINLINE static char *raw_alloc(size_t size) { char *block = malloc(size); sink = 0; return block; }
NOINLINE static char *xmalloc(size_t size) {
    char *block = raw_alloc(size);
    if (block == 0) abort();
    return block;
}
NOINLINE static char *xmemdup(const char *from, size_t size) {
    char *block = xmalloc(size);
    for (size_t i = 0; i < size; i += 64) block[i] = from[i];
    return block;
}

static char pattern[kSize];

NOINLINE static void add_name(void) { sink = *xmemdup(pattern, kSize); }
NOINLINE static void add_value(void) { sink = *xmemdup(pattern, kSize); }
NOINLINE static void add_left(void) { add_value(); sink = 1; }
NOINLINE static void add_right(void) { add_value(); sink = 2; }

int main(void) {
    for (int i = 0; i < 10; i++) {
        add_name();
        add_left();
        add_right();
    }
    return 0;
}
