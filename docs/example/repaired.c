// SPDX-License-Identifier: GPL-2.0-or-later
//
// The bundled example, repaired: wasteful.c with another flow_along_columns(). The output is the
// same.

#include <stdio.h>
#include <stdlib.h>

enum {
    kSide = 1600,  // rows, and columns
    kCells = kSide * kSide,
    kDiagonals = 64,
};

static long temperature[kCells];        // 8 bytes a cell
static unsigned char material[kCells];  // 1 byte a cell
static const long conductivity[] = {401, 237};  // copper, aluminium

__attribute__((noinline))
static void heat_plate(void)
{
    unsigned random = 1;
    for (int cell = 0; cell < kCells; ++cell) {
        random = random * 1664525u + 1013904223u;
        temperature[cell] = 273 + (random >> 24);
        material[cell] = random >> 23 & 1;
    }
}

// Gathers every `stride`-th cell, beginning with `first`, into a strip. Nearly all cache misses of
// the program happen here.
__attribute__((noinline))
static void gather(long strip[], int count, int first, int stride)
{
    for (int i = 0; i < count; ++i) {
        int cell = first + i * stride;
        strip[i] = temperature[cell] * conductivity[material[cell]];
    }
}

// The heat that flows between neighbours in a strip.
__attribute__((noinline))
static long flow(const long strip[], int count)
{
    long sum = 0;
    for (int i = 1; i < count; ++i)
        sum += labs(strip[i] - strip[i - 1]);
    return sum;
}

__attribute__((noinline))
static long flow_along_rows(void)
{
    long strip[kSide], sum = 0;
    for (int row = 0; row < kSide; ++row) {
        gather(strip, kSide, row * kSide, 1);
        sum += flow(strip, kSide);
    }
    return sum;
}

// All columns at once, row by row: whatever a cache line brings in is used before it is evicted.
__attribute__((noinline))
static long flow_along_columns(void)
{
    long rows[2][kSide], sum = 0;
    gather(rows[0], kSide, 0, 1);
    for (int row = 1; row < kSide; ++row) {
        const long *above = rows[(row - 1) % 2];
        long *here = rows[row % 2];
        gather(here, kSide, row * kSide, 1);
        for (int column = 0; column < kSide; ++column)
            sum += labs(here[column] - above[column]);
    }
    return sum;
}

// As wasteful per step as the columns, but only a few of them are looked at.
__attribute__((noinline))
static long flow_along_diagonals(void)
{
    long strip[kSide], sum = 0;
    for (int start = 0; start < kDiagonals; ++start) {
        int count = kSide - start;
        gather(strip, count, start, kSide + 1);
        sum += flow(strip, count);
    }
    return sum;
}

int main(void)
{
    heat_plate();
    printf("along rows       %ld\n", flow_along_rows());
    printf("along columns    %ld\n", flow_along_columns());
    printf("along diagonals  %ld\n", flow_along_diagonals());
    return 0;
}
