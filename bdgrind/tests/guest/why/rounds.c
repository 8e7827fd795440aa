// SPDX-License-Identifier: GPL-2.0-or-later
//
// Particles that move without each other, in many rounds over all of them, for which the cache has nearly room; with
// -DREPAIRED, in all rounds of one part of them after the other.

#include <stdio.h>
#include <stdlib.h>

#ifndef PARTICLES
#define PARTICLES 20480
#endif
#define ROUNDS 12
#ifdef REPAIRED
#define PART (PARTICLES / 8)
#else
#define PART PARTICLES
#endif

struct particle {
    long place, speed;
};

__attribute__((noipa)) static void work(struct particle* all) {
    for (int part = 0; part < PARTICLES; part += PART) {
        for (int round = 0; round < ROUNDS; ++round) {
            for (int i = part; i < part + PART; ++i) all[i].place += all[i].speed;
        }
    }
}

int main(void) {
    struct particle* all = aligned_alloc(64, PARTICLES * sizeof *all);
    for (int i = 0; i < PARTICLES; ++i) all[i] = (struct particle){i, 2 * i};
    work(all);
    long sum = 0;
    for (int i = 0; i < PARTICLES; ++i) sum += all[i].place;
    printf("%ld\n", sum);
    free(all);
}
