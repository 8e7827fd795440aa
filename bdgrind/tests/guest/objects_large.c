// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -fno-builtin
//
// A block of 1 MiB, which is looked at in part: 8192 elements of 128 bytes, of which the first 8 are read, in two reads
// of 4. So 8192 lines are loaded for it, in each 8 bytes are used, and of each page it is 32.

#include <stdint.h>
#include <stdlib.h>

enum { kElements = 8192 };

struct element {
    uint32_t low, high;
    char rest[120];
};

#define NOINLINE __attribute__((noinline, noclone))

volatile uint32_t sink;

NOINLINE static struct element *make(void) {
    struct element *all = aligned_alloc(4096, kElements * sizeof *all);
    sink = 0;
    return all;
}

NOINLINE static void walk(const volatile struct element *all) {
    for (int i = 0; i < kElements; i++) {
        sink = all[i].low;
        sink = all[i].high;
    }
}

int main(void) {
    walk(make());
    return 0;
}
