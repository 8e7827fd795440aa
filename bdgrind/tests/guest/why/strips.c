// SPDX-License-Identifier: GPL-2.0-or-later
//
// One loop that is called along the rows of a table and along its columns, as often: most of its steps are small, most
// of its lines are those of the columns. With -DREPAIRED, all columns go on together, row by row.

#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE 160
#endif

__attribute__((noipa)) static void gather(long* sums, int sum_step, const long* cells, int step) {
    for (int i = 0; i < SIZE; ++i) sums[i * sum_step] += cells[i * step];
}

static void along_rows(long* sums, const long* table) {
    for (int row = 0; row < SIZE; ++row) gather(sums + row, 0, table + row * SIZE, 1);
}

static void along_columns(long* sums, const long* table) {
#ifdef REPAIRED
    for (int row = 0; row < SIZE; ++row) gather(sums, 1, table + row * SIZE, 1);
#else
    for (int column = 0; column < SIZE; ++column) gather(sums + column, 0, table + column, SIZE);
#endif
}

int main(void) {
    long* table = malloc(SIZE * SIZE * sizeof *table);
    long* sums = calloc(2 * SIZE, sizeof *sums);
    for (int i = 0; i < SIZE * SIZE; ++i) table[i] = i % 13;
    for (int pass = 0; pass < 30; ++pass) {
        along_rows(sums, table);
        along_columns(sums + SIZE, table);
    }
    long sum = 0;
    for (int i = 0; i < 2 * SIZE; ++i) sum = sum * 3 + sums[i];
    printf("%ld\n", sum);
    free(sums);
    free(table);
}
