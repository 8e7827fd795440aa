// SPDX-License-Identifier: GPL-2.0-or-later
//
// A transposition, which goes along the rows of one matrix and down the columns of the other; with -DREPAIRED, in
// tiles.

#include <stdio.h>

#ifndef SIZE
#define SIZE 264
#endif
#define TILE 8

static double from[SIZE][SIZE] __attribute__((aligned(64)));
static double to[SIZE][SIZE] __attribute__((aligned(64)));

__attribute__((noipa)) static void transpose(void) {
#ifdef REPAIRED
    for (int row = 0; row < SIZE; row += TILE) {
        for (int column = 0; column < SIZE; column += TILE) {
            for (int i = row; i < row + TILE; ++i) {
                for (int j = column; j < column + TILE; ++j) to[j][i] = from[i][j];
            }
        }
    }
#else
    for (int i = 0; i < SIZE; ++i) {
        for (int j = 0; j < SIZE; ++j) to[j][i] = from[i][j];
    }
#endif
}

int main(void) {
    for (int i = 0; i < SIZE; ++i) {
        for (int j = 0; j < SIZE; ++j) from[i][j] = i - j;
    }
    transpose();
    printf("%g\n", to[SIZE / 2][SIZE / 3]);
}
