// SPDX-License-Identifier: GPL-2.0-or-later
//
// Large objects of which three functions need some numbers each, one after the other; with -DREPAIRED, what they need
// has arrays of its own.

#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE 4000
#endif

struct where {
    double place[2];
};
struct motion {
    double speed[2];
};
struct weight {
    double mass;
    int is_there;
};

#ifdef REPAIRED
static struct where wheres[SIZE];
static struct motion motions[SIZE];
static struct weight weights[SIZE];
#define WHERE(i) wheres[i]
#define MOTION(i) motions[i]
#define WEIGHT(i) weights[i]
#else
struct walker {
    struct where where;
    char name[48];
    struct motion motion;
    double history[8];
    struct weight weight;
};
static _Alignas(64) struct walker walkers[SIZE];
#define WHERE(i) walkers[i].where
#define MOTION(i) walkers[i].motion
#define WEIGHT(i) walkers[i].weight
#endif

__attribute__((noipa)) static double count(void) {
    double sum = 0;
    for (int i = 0; i < SIZE; ++i)
        if (WEIGHT(i).is_there) sum += WEIGHT(i).mass;
    return sum;
}

__attribute__((noipa)) static void move(double time) {
    for (int i = 0; i < SIZE; ++i) {
        WHERE(i).place[0] += time * MOTION(i).speed[0];
        WHERE(i).place[1] += time * MOTION(i).speed[1];
    }
}

__attribute__((noipa)) static double energy(void) {
    double sum = 0;
    for (int i = 0; i < SIZE; ++i)
        sum += MOTION(i).speed[0] * MOTION(i).speed[0] + MOTION(i).speed[1] * MOTION(i).speed[1];
    return sum;
}

int main(void) {
    for (int i = 0; i < SIZE; ++i) {
        MOTION(i).speed[0] = i % 7;
        MOTION(i).speed[1] = i % 5;
        WEIGHT(i).mass = 1;
        WEIGHT(i).is_there = i % 10 != 0;
    }
    double sum = 0;
    for (int step = 0; step < 20; ++step) {
        sum += count();
        move(0.5);
        sum += energy();
    }
    printf("%g %g\n", sum, WHERE(SIZE / 2).place[1]);
}
