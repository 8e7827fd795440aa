// SPDX-License-Identifier: GPL-2.0-or-later
//
// A product of matrices, whose innermost loop goes down the columns of one; with -DREPAIRED, along the rows of all.

#include <stdio.h>

#ifndef SIZE
#define SIZE 96
#endif

static double left[SIZE][SIZE], right[SIZE][SIZE], product[SIZE][SIZE];

__attribute__((noipa)) static void multiply(void) {
    for (int i = 0; i < SIZE; ++i) {
#ifdef REPAIRED
        for (int k = 0; k < SIZE; ++k) {
            for (int j = 0; j < SIZE; ++j) product[i][j] += left[i][k] * right[k][j];
        }
#else
        for (int j = 0; j < SIZE; ++j) {
            for (int k = 0; k < SIZE; ++k) product[i][j] += left[i][k] * right[k][j];
        }
#endif
    }
}

int main(void) {
    for (int i = 0; i < SIZE; ++i) {
        for (int j = 0; j < SIZE; ++j) {
            left[i][j] = i + j;
            right[i][j] = i - j;
        }
    }
    multiply();
    printf("%g\n", product[SIZE / 2][SIZE / 3]);
}
