// SPDX-License-Identifier: GPL-2.0-or-later
//
// The bundled example: how much heat flows through a plate made of two materials?
//
// The plate is a grid of cells. A cell's temperature and its material live in two arrays that are
// read interleaved, always by the same helper, gather(). It has three callers: one walks along the
// rows, one along the columns, one along a few diagonals. Rows and columns execute the very same
// instructions, yet only one caller is worth fixing. repaired.c is this program with that one
// fixed; README.md tells how a profile leads there.

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

// Each step down a column enters another cache line of both arrays. When the next column comes,
// these lines are long evicted: 8 of 64 bytes were used, and 1 of 64.
__attribute__((noinline))
static long flow_along_columns(void)
{
    long strip[kSide], sum = 0;
    for (int column = 0; column < kSide; ++column) {
        gather(strip, kSide, column, kSide);
        sum += flow(strip, kSide);
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
