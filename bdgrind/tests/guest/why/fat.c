// SPDX-License-Identifier: GPL-2.0-or-later
//
// Large objects of which a loop needs two numbers; with -DREPAIRED, these have an array of their own.

#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE 6000
#endif

#ifdef REPAIRED
struct motion {
    double place, speed;
};
struct body {
    char name[48];
    double mass, charge, history[6];
};
#else
struct body {
    double place;
    char name[48];
    double mass, charge, history[6];
    double speed;
};
#define motion body
#endif

__attribute__((noipa)) static double work(struct motion* bodies) {
    double sum = 0;
    for (int i = 0; i < SIZE; ++i) {
        bodies[i].place += bodies[i].speed;
        sum += bodies[i].place;
    }
    return sum;
}

int main(void) {
#ifdef REPAIRED
    struct motion* motions = calloc(SIZE, sizeof(struct motion));
    struct body* bodies = calloc(SIZE, sizeof(struct body));
#else
    struct body* bodies = calloc(SIZE, sizeof(struct body));
    struct body* motions = bodies;
#endif
    for (int i = 0; i < SIZE; ++i) {
        motions[i].speed = i;
        bodies[i].mass = 1;
    }
    double sum = 0;
    for (int step = 0; step < 20; ++step) sum += work(motions);
    printf("%g %g\n", sum, bodies[SIZE / 2].mass);
    free(bodies);
}
