// SPDX-License-Identifier: GPL-2.0-or-later
//
// Elements of two and a half lines; each of three loops goes through all of them, and uses another part of one to three
// lines. With -DREPAIRED, what each loop uses is an array of its own.

#include <stdio.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE 10000
#endif
#ifndef STEPS
#define STEPS 3
#endif

struct place {
    float x, y, z;
};

struct motion {
    float x, y, z, mass;
};

struct state {
    int alive, age;
};

#ifdef REPAIRED
struct element {
    struct place* place;
    struct motion* motion;
    struct state* state;
};
#define AT(elements, part, i) (elements)->part[i]
#else
struct element {
    struct place place;
    char name[60];
    struct motion motion;
    double history[8];
    struct state state;
};
#define AT(elements, part, i) (elements)[i].part
#endif

__attribute__((noipa)) static void age(struct element* elements) {
    for (int i = 0; i < SIZE; ++i) AT(elements, state, i).age += AT(elements, state, i).alive;
}

__attribute__((noipa)) static void move(struct element* elements) {
    for (int i = 0; i < SIZE; ++i) {
        AT(elements, place, i).x += 0.01f * AT(elements, motion, i).x;
        AT(elements, place, i).y += 0.01f * AT(elements, motion, i).y;
        AT(elements, place, i).z += 0.01f * AT(elements, motion, i).z;
    }
}

__attribute__((noipa)) static double weight(const struct element* elements) {
    double sum = 0;
    for (int i = 0; i < SIZE; ++i)
        sum += AT(elements, state, i).age * AT(elements, motion, i).mass * AT(elements, place, i).z;
    return sum;
}

int main(void) {
#ifdef REPAIRED
    struct element one = {
        malloc(SIZE * sizeof(struct place)), malloc(SIZE * sizeof(struct motion)), malloc(SIZE * sizeof(struct state))
    };
    struct element* elements = &one;
#else
    struct element* elements = malloc(SIZE * sizeof(struct element));
#endif
    for (int i = 0; i < SIZE; ++i) {
        AT(elements, place, i) = (struct place){i, i + 1, i + 2};
        AT(elements, motion, i) = (struct motion){1, 2, 3, i % 7};
        AT(elements, state, i) = (struct state){i % 5 != 0, i % 90};
    }
    double sum = 0;
    for (int step = 0; step < STEPS; ++step) {
        age(elements);
        move(elements);
        sum += weight(elements);
    }
    printf("%f\n", sum);
}
