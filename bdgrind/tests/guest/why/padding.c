// SPDX-License-Identifier: GPL-2.0-or-later
//
// Objects of which three sevenths are padding; with -DREPAIRED, large fields come first.

#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE 8000
#endif

struct item {
#ifdef REPAIRED
    double price, weight, size;
    int number;
    short kind;
    char is_new, is_sold;
#else
    char is_new;
    double price;
    char is_sold;
    double weight;
    short kind;
    double size;
    int number;
#endif
};

__attribute__((noipa)) static double work(const struct item* items) {
    double sum = 0;
    for (int i = 0; i < SIZE; ++i) {
        const struct item* item = &items[i];
        sum += item->price * item->weight * item->size + item->number + item->kind;
        sum += item->is_new + item->is_sold;
    }
    return sum;
}

int main(void) {
    struct item* items = malloc(SIZE * sizeof(struct item));
    for (int i = 0; i < SIZE; ++i) {
        items[i] = (struct item){.price = i, .weight = 1, .size = 2, .number = i, .kind = 3, .is_new = 1, .is_sold = 0};
    }
    double sum = 0;
    for (int step = 0; step < 20; ++step) sum += work(items);
    printf("%g\n", sum);
    free(items);
}
