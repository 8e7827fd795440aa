// SPDX-License-Identifier: GPL-2.0-or-later
//
// A sum in OpenMP: `sharing_openmp [repaired]` adds up in an element of an array for each thread, or in the threads' own
// variables, which OpenMP adds up at the end.
//
// build: -O1 -fopenmp
// oracle: no
// callgrind: no

#include <omp.h>
#include <string.h>

#define ROUNDS 100000
#define THREADS 4

static _Alignas(64) volatile unsigned partial[THREADS];

int main(int argc, char **argv)
{
    unsigned sum = 0;
    omp_set_num_threads(THREADS);
    if (argc > 1 && !strcmp(argv[1], "repaired")) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < THREADS * ROUNDS; ++i) {
            sum += i;
            __asm__ volatile("" : "+r"(sum));
        }
    } else {
#pragma omp parallel for
        for (int i = 0; i < THREADS * ROUNDS; ++i)
            partial[omp_get_thread_num()] += i;
        for (int i = 0; i < THREADS; ++i)
            sum += partial[i];
    }
    return sum == 0;
}
