// SPDX-License-Identifier: GPL-2.0-or-later
//
// Look-ups in a large table that do not depend on each other, with some work on each; with -DREPAIRED, they are asked
// for some look-ups before.

#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE (1 << 18)
#endif
#ifndef LOOKUPS
#define LOOKUPS 100000
#endif
#define AHEAD 16

static unsigned mix(unsigned key) {
    for (int round = 0; round < 6; ++round) {
        key ^= key >> 16;
        key *= 0x7feb352dU;
        key ^= key >> 15;
    }
    return key;
}

static unsigned place(unsigned key) { return mix(key) % SIZE; }

__attribute__((noipa)) static unsigned long work(const unsigned* table) {
    unsigned long sum = 0;
    for (unsigned i = 0; i < LOOKUPS; ++i) {
#ifdef REPAIRED
        __builtin_prefetch(&table[place(i + AHEAD)]);
#endif
        sum += mix(table[place(i)]);
    }
    return sum;
}

int main(void) {
    unsigned* table = malloc(SIZE * sizeof *table);
    for (unsigned i = 0; i < SIZE; ++i) table[i] = i;
    printf("%lu\n", work(table));
    free(table);
}
