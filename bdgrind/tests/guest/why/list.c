// SPDX-License-Identifier: GPL-2.0-or-later
//
// A list whose nodes follow each other in no order of memory; with -DREPAIRED, they lie in the order of the list.

#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE 8000
#endif

struct node {
    struct node* next;
    long key, value;
};

__attribute__((noipa)) static long work(const struct node* list) {
    long sum = 0;
    for (const struct node* node = list; node != NULL; node = node->next) sum += node->key ^ node->value;
    return sum;
}

int main(void) {
    static struct node* nodes[SIZE];
    for (int i = 0; i < SIZE; ++i) {
        nodes[i] = malloc(sizeof(struct node));
        nodes[i]->key = i;
        nodes[i]->value = 2 * i;
    }
    unsigned long chance = 1;
    for (int i = SIZE - 1; i > 0; --i) {
        chance = chance * 6364136223846793005UL + 1442695040888963407UL;
        const int other = (int)((chance >> 33) % (unsigned long)(i + 1));
        struct node* const node = nodes[i];
        nodes[i] = nodes[other];
        nodes[other] = node;
    }
#ifdef REPAIRED
    struct node* const in_order = malloc(SIZE * sizeof(struct node));
    for (int i = 0; i < SIZE; ++i) {
        in_order[i] = *nodes[i];
        free(nodes[i]);
        nodes[i] = &in_order[i];
    }
#endif
    for (int i = 0; i < SIZE; ++i) nodes[i]->next = i + 1 < SIZE ? nodes[i + 1] : NULL;
    long sum = 0;
    for (int step = 0; step < 20; ++step) sum += work(nodes[0]);
    printf("%ld\n", sum);
}
