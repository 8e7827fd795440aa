// SPDX-License-Identifier: GPL-2.0-or-later
//
// Fifteen columns a power of two apart, read side by side; with -DREPAIRED, a line further.

#include <stdio.h>

#ifndef SIZE
#define SIZE 1024
#endif
#ifndef STEPS
#define STEPS 12
#endif

#ifdef REPAIRED
#define DISTANCE (SIZE + 8)
#else
#define DISTANCE SIZE
#endif

static double column[15][DISTANCE] __attribute__((aligned(64)));
static double sums[SIZE] __attribute__((aligned(64)));

__attribute__((noipa)) static void work(void) {
    for (int i = 0; i < SIZE; ++i) {
        sums[i] += column[0][i] + column[1][i] + column[2][i] + column[3][i] + column[4][i] + column[5][i] +
                   column[6][i] + column[7][i] + column[8][i] + column[9][i] + column[10][i] + column[11][i] +
                   column[12][i] + column[13][i] + column[14][i];
    }
}

int main(void) {
    for (int c = 0; c < 15; ++c) {
        for (int i = 0; i < SIZE; ++i) column[c][i] = c * i;
    }
    for (int step = 0; step < STEPS; ++step) work();
    printf("%g\n", sums[SIZE / 2]);
}
