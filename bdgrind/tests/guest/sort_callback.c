// SPDX-License-Identifier: GPL-2.0-or-later
//
// A callback from a library: qsort calls `compare` as often as `compare` itself counts. The program
// prints that number, for it is the C library's choice.
//
// build: -O0
// x86: no (Debian's 32-bit dynamic linker has no symbols, so that its resolver is an unknown function)
// oracle: no
// callgrind: no
// expect: calls compare = compares; main > qsort = 1; main > after = 1

#include <stdio.h>
#include <stdlib.h>

static int compares;

static int compare(const void *left, const void *right)
{
    ++compares;
    return *(const int *)left - *(const int *)right;
}

static void after(void) {}

int main(void)
{
    int numbers[1000];
    unsigned random = 1;
    for (int i = 0; i < 1000; ++i) {
        random = random * 1664525u + 1013904223u;
        numbers[i] = (int)(random >> 8);
    }
    qsort(numbers, 1000, sizeof numbers[0], compare);
    after();
    printf("compares %d\n", compares);
    return 0;
}
