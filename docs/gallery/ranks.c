// SPDX-License-Identifier: GPL-2.0-or-later
//
// Two ranks; each counts through a list whose nodes lie in memory in another order than in the list.
//   mpicc -O2 -g ranks.c -o ranks        (mpirun -np 2)

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kNodes = 1 << 15, kRounds = 10 };

struct node {
    struct node* next;
    long value;
    char payload[48];
};

static long walk(const struct node* node) {
    long sum = 0;
    for (; node != NULL; node = node->next) {
        sum += node->value;  // guilty: 16 of 64 bytes, in no order
    }
    return sum;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct node* const nodes = aligned_alloc(64, kNodes * sizeof(struct node));
    for (unsigned i = 0; i < kNodes; ++i) {  // An odd step visits every node once.
        struct node* const node = &nodes[i * 12345u % kNodes];
        node->value = rank + 1;
        node->next = i + 1 < kNodes ? &nodes[(i + 1) * 12345u % kNodes] : NULL;
    }
    long sum = 0;
    for (int round = 0; round < kRounds; ++round) sum += walk(nodes);
    long all = 0;
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%ld\n", all);
    free(nodes);
    MPI_Finalize();
}
