// SPDX-License-Identifier: GPL-2.0-or-later
//
// Three loops around the cells of a volume, of which the innermost takes the largest steps; with -DREPAIRED, the
// outermost one is the innermost. The two in it take longer than a piece of the run that is looked at.

#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE 112
#endif

static int* cell(int* cells, int x, int y, int z) { return &cells[(z * SIZE + y) * SIZE + x]; }

__attribute__((noipa)) static long work(int* cells) {
    long sum = 0;
#ifdef REPAIRED
    for (int z = 0; z < SIZE; ++z) {
        for (int y = 0; y < SIZE; ++y) {
            for (int x = 0; x < SIZE; ++x) {
#else
    for (int x = 0; x < SIZE; ++x) {
        for (int y = 0; y < SIZE; ++y) {
            for (int z = 0; z < SIZE; ++z) {
#endif
                sum += *cell(cells, x, y, z);
            }
        }
    }
    return sum;
}

int main(void) {
    int* cells = malloc(SIZE * SIZE * SIZE * sizeof *cells);
    for (int i = 0; i < SIZE * SIZE * SIZE; ++i) cells[i] = i % 11;
    printf("%ld\n", work(cells));
    free(cells);
}
