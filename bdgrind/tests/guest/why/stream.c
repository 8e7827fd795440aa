// SPDX-License-Identifier: GPL-2.0-or-later
//
// A stream: all that is loaded is used, in order. There is nothing to repair.

#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE 60000
#endif

__attribute__((noipa)) static void work(double* sums, const double* left, const double* right) {
    for (int i = 0; i < SIZE; ++i) sums[i] = left[i] + 3.0 * right[i];
}

int main(void) {
    double* sums = malloc(SIZE * sizeof *sums);
    double* left = malloc(SIZE * sizeof *left);
    double* right = malloc(SIZE * sizeof *right);
    for (int i = 0; i < SIZE; ++i) {
        left[i] = i;
        right[i] = 2 * i;
    }
    for (int step = 0; step < 5; ++step) work(sums, left, right);
    printf("%g\n", sums[SIZE / 2]);
    free(sums);
    free(left);
    free(right);
}
