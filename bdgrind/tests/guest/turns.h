// SPDX-License-Identifier: GPL-2.0-or-later
//
// Two threads that do something in turns, handing over with semaphores.

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

typedef void turn(int self, int round);

static sem_t turns[2];
static turn *take_turn;
static int rounds;

static void *run_in_turns(void *which)
{
    int self = which != NULL;
    for (int i = 0; i < rounds; ++i) {
        sem_wait(&turns[self]);
        take_turn(self, i);
        sem_post(&turns[!self]);
    }
    return NULL;
}

// Two threads, 0 and 1, do that so many times each, 0 first. Returns the exit status of the program: 1 if there is no
// room for them.
static int take_turns(turn *what, int times)
{
    pthread_t threads[2];
    take_turn = what;
    rounds = times;
    if (sem_init(&turns[0], 0, 1) != 0 || sem_init(&turns[1], 0, 0) != 0)
        return 1;
    for (int i = 0; i < 2; ++i)
        if (pthread_create(&threads[i], NULL, run_in_turns, i ? &turns : NULL) != 0)
            return 1;
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
    return 0;
}
