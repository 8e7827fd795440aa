// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sums over the neighbours of each node of a mesh, whose nodes have their numbers in no order.

#include <stdio.h>

#define NODES 40000
#define NEIGHBOURS 6

static int number[NODES], neighbour[NODES][NEIGHBOURS];
static double heat[NODES], sums[NODES];

__attribute__((noipa)) static void work(void) {
    for (int i = 0; i < NODES; ++i) {
        double sum = 0;
        for (int k = 0; k < NEIGHBOURS; ++k) sum += heat[neighbour[i][k]];
        sums[i] = sum;
    }
}

int main(void) {
    unsigned random = 1;
    for (int i = 0; i < NODES; ++i) number[i] = i;
    for (int i = NODES - 1; i > 0; --i) {
        random = random * 1664525 + 1013904223;
        int other = (int)((random >> 8) % (unsigned)(i + 1)), mine = number[i];
        number[i] = number[other];
        number[other] = mine;
    }
    for (int i = 0; i < NODES; ++i) {
        heat[i] = i;
        for (int k = 0; k < NEIGHBOURS; ++k) neighbour[number[i]][k] = number[(i + k + NODES - 3) % NODES];
    }
    for (int step = 0; step < 3; ++step) work();
    printf("%g\n", sums[NODES / 2]);
}
