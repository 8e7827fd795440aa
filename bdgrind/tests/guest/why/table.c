// SPDX-License-Identifier: GPL-2.0-or-later
//
// Look-ups in a large table that do not depend on each other; with -DREPAIRED, each is asked for some look-ups before.

#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE (1 << 18)
#endif
#ifndef LOOKUPS
#define LOOKUPS 100000
#endif
#define AHEAD 16

static unsigned place(unsigned key) {
    key ^= key >> 16;
    key *= 0x7feb352dU;
    key ^= key >> 15;
    key *= 0x846ca68bU;
    return (key ^ key >> 16) % SIZE;
}

__attribute__((noipa)) static unsigned long work(const unsigned* table) {
    unsigned long sum = 0;
    for (unsigned i = 0; i < LOOKUPS; ++i) {
#ifdef REPAIRED
        __builtin_prefetch(&table[place(i + AHEAD)]);
#endif
        sum += table[place(i)];
    }
    return sum;
}

int main(void) {
    unsigned* table = malloc(SIZE * sizeof *table);
    for (unsigned i = 0; i < SIZE; ++i) table[i] = i;
    printf("%lu\n", work(table));
    free(table);
}
