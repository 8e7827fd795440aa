// SPDX-License-Identifier: GPL-2.0-or-later
//
// Records as large as a line, each of which lies in two; with -DREPAIRED, in one.

#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE 8192
#endif
#ifndef LOOKUPS
#define LOOKUPS 50000
#endif

struct record {
    unsigned long key, values[7];
};

static unsigned place(unsigned key) {
    key ^= key >> 16;
    key *= 0x7feb352dU;
    key ^= key >> 15;
    key *= 0x846ca68bU;
    return (key ^ key >> 16) % SIZE;
}

__attribute__((noipa)) static unsigned long work(const struct record* records) {
    unsigned long sum = 0;
    for (unsigned i = 0; i < LOOKUPS; ++i) {
        const struct record* record = &records[place(i)];
        sum += record->key;
        for (int value = 0; value < 7; ++value) sum += record->values[value];
    }
    return sum;
}

int main(void) {
#ifdef REPAIRED
    struct record* records = aligned_alloc(64, SIZE * sizeof(struct record));
#else
    struct record* records = malloc(SIZE * sizeof(struct record));
#endif
    for (unsigned i = 0; i < SIZE; ++i) {
        records[i].key = i;
        for (int value = 0; value < 7; ++value) records[i].values[value] = i * value;
    }
    printf("%lu\n", work(records));
    free(records);
}
