// SPDX-License-Identifier: GPL-2.0-or-later
/* recurse ROUNDS: little else than calls. Each round runs Fibonacci's double recursion, Takeuchi's
   function (mutual recursion through its arguments), an even/odd pair that calls each other, and the 8
   queens. What a call and a return cost in call stack and arcs is the subject.

   noipa keeps the compiler from inlining, cloning or turning the recursion into loops. */

#include <stdio.h>
#include <stdlib.h>

#define NOIPA __attribute__((noipa))

static NOIPA int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static NOIPA int takeuchi(int x, int y, int z)
{
    if (x <= y)
        return z;
    return takeuchi(takeuchi(x - 1, y, z), takeuchi(y - 1, z, x), takeuchi(z - 1, x, y));
}

static NOIPA int is_odd(int n);

static NOIPA int is_even(int n)
{
    return n == 0 ? 1 : !!is_odd(n - 1);
}

static NOIPA int is_odd(int n)
{
    return n == 0 ? 0 : !!is_even(n - 1);
}

static NOIPA int place_queens(unsigned columns, unsigned rising, unsigned falling, int row)
{
    if (row == 8)
        return 1;
    int solutions = 0;
    unsigned free_places = ~(columns | rising | falling) & 0xffu;
    while (free_places) {
        unsigned place = free_places & -free_places;
        free_places ^= place;
        solutions += place_queens(columns | place, (rising | place) << 1, (falling | place) >> 1, row + 1);
    }
    return solutions;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: recurse ROUNDS\n");
        return 2;
    }
    int rounds = atoi(argv[1]);
    for (int i = 0; i < rounds; i++) {
        if (fibonacci(22) != 17711 || takeuchi(14, 9, 3) != 9 || !is_even(2000)
            || place_queens(0, 0, 0, 0) != 92) {
            fprintf(stderr, "recurse: wrong value in round %d\n", i);
            return 1;
        }
    }
    printf("recurse: %d rounds\n", rounds);
    return 0;
}
