// SPDX-License-Identifier: GPL-2.0-or-later
//
// Each thread of the parallel loop reads one field of every record: 8 of 64 bytes.
//   gcc -O2 -g -fopenmp parallel.c -o parallel        (OMP_NUM_THREADS=2)

#include <stdio.h>
#include <stdlib.h>

enum { kRecords = 40000, kRounds = 20 };

struct record {
    double weight;
    double unused[7];
};

static double total(const struct record* records) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < kRecords; ++i) {
        sum += records[i].weight;  // guilty: 8 of 64 bytes
    }
    return sum;
}

int main(void) {
    struct record* const records = aligned_alloc(64, kRecords * sizeof(struct record));
    for (int i = 0; i < kRecords; ++i) records[i].weight = i % 10;
    double sum = 0;
    for (int round = 0; round < kRounds; ++round) sum += total(records);
    printf("%g\n", sum);
    free(records);
}
