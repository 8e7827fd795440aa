// SPDX-License-Identifier: GPL-2.0-or-later
//
// A step of a simulation whose loops are in the wrong order; one of the arrays is read where a branch leads there, in a
// fifth of the iterations. With -DREPAIRED, the loops are exchanged.

#include <stdio.h>

#ifndef SIZE
#define SIZE 76
#endif

static double heat[SIZE][SIZE], next[SIZE][SIZE], source[SIZE][SIZE];
static double kinds[SIZE][SIZE];

__attribute__((noipa)) static void work(void) {
#ifdef REPAIRED
    for (int i = 0; i < SIZE; ++i) {
        for (int j = 0; j < SIZE; ++j) {
#else
    for (int j = 0; j < SIZE; ++j) {
        for (int i = 0; i < SIZE; ++i) {
#endif
            double sum = heat[i][j] * 0.5;
            if (kinds[i][j] > 3) sum += source[i][j];
            next[i][j] = sum;
        }
    }
}

int main(void) {
    unsigned state = 1;
    for (int i = 0; i < SIZE; ++i) {
        for (int j = 0; j < SIZE; ++j) {
            state = state * 1664525u + 1013904223u;
            heat[i][j] = i;
            kinds[i][j] = (state >> 20) % 5;
            source[i][j] = j;
        }
    }
    for (int step = 0; step < 4; ++step) work();
    printf("%f\n", next[5][7]);
}
