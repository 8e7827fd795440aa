// SPDX-License-Identifier: GPL-2.0-or-later
//
// Samples of which half is padding, and all the rest is used; with -DREPAIRED, large fields come first.

#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE 40000
#endif

struct sample {
#ifdef REPAIRED
    double value;
    long when;
    char kind, is_good, source;
#else
    char kind;
    double value;
    char is_good;
    long when;
    char source;
#endif
};

int main(void) {
    struct sample* samples = malloc(SIZE * sizeof(struct sample));
    for (int i = 0; i < SIZE; ++i) {
        samples[i] = (struct sample){.kind = 2, .value = i, .is_good = 1, .when = 2 * i, .source = 1};
    }
    double sum = 0;
    for (int round = 0; round < 6; ++round) {
        for (int i = 0; i < SIZE; ++i) {
            if (samples[i].is_good) sum += samples[i].value + samples[i].when + samples[i].kind + samples[i].source;
        }
    }
    printf("%g\n", sum);
    free(samples);
}
