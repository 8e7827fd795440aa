// SPDX-License-Identifier: GPL-2.0-or-later
//
// Three passes over the same numbers, one after the other; with -DREPAIRED, one.

#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE 60000
#endif

__attribute__((noipa)) static double work(double* values, const double* weights) {
    double sum = 0;
#ifdef REPAIRED
    for (int i = 0; i < SIZE; ++i) {
        double value = values[i] * 0.5;
        value += weights[i];
        values[i] = value;
        sum += value * value;
    }
#else
    for (int i = 0; i < SIZE; ++i) values[i] *= 0.5;
    for (int i = 0; i < SIZE; ++i) values[i] += weights[i];
    for (int i = 0; i < SIZE; ++i) sum += values[i] * values[i];
#endif
    return sum;
}

int main(void) {
    double* values = malloc(SIZE * sizeof *values);
    double* weights = malloc(SIZE * sizeof *weights);
    for (int i = 0; i < SIZE; ++i) {
        values[i] = i;
        weights[i] = 1.0 / (i + 1);
    }
    double sum = 0;
    for (int step = 0; step < 4; ++step) sum += work(values, weights);
    printf("%g\n", sum);
    free(values);
    free(weights);
}
