// SPDX-License-Identifier: GPL-2.0-or-later
//
// Counts the values of a stream in a table that the cache has nearly room for; with -DREPAIRED, its counters are half
// as wide.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef BINS
#define BINS 1536
#endif
#ifndef VALUES
#define VALUES 200000
#endif
#ifdef REPAIRED
typedef uint16_t counter;
#else
typedef uint32_t counter;
#endif

__attribute__((noipa)) static void work(const uint16_t* values, counter* bins) {
    for (int i = 0; i < VALUES; ++i) ++bins[values[i]];
}

int main(void) {
    uint16_t* values = malloc(VALUES * sizeof *values);
    counter* bins = aligned_alloc(64, BINS * sizeof *bins);
    uint32_t random = 1;
    for (int i = 0; i < BINS; ++i) bins[i] = 0;
    for (int i = 0; i < VALUES; ++i) {
        random = random * 1664525u + 1013904223u;
        values[i] = (uint16_t)((random >> 8) % BINS);
    }
    work(values, bins);
    printf("%u\n", (unsigned)bins[BINS / 2]);
    free(bins);
    free(values);
}
