// SPDX-License-Identifier: GPL-2.0-or-later
/* threads ROUNDS: signals and threads without end. Each round makes four threads; they pass a token
   around, each pass a thread switch, raise signals whose handlers do work and raise another signal in
   turn, and leave some handlers by siglongjmp. The counts do not depend on how the threads are scheduled. */

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 4, kPasses = 24, kSignals = 24, kTableSize = 8192, kWork = 256 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t token_moved = PTHREAD_COND_INITIALIZER;
static int token_holder;
static atomic_ullong outer_handlers;
static atomic_ullong inner_handlers;
static atomic_ullong long_jumps;
static atomic_ullong passes;
static uint64_t table[kThreads][kTableSize];
static _Thread_local int self;
static _Thread_local sigjmp_buf way_out;

static __attribute__((noinline)) void work(unsigned start)
{
    for (unsigned i = 0; i < kWork; i++)
        table[self][(start + i * 17) % kTableSize] += i;
}

static void inner_handler(int number)
{
    work((unsigned)number * 31);
    atomic_fetch_add(&inner_handlers, 1);
}

static void outer_handler(int number)
{
    work((unsigned)number);
    raise(SIGUSR2);
    atomic_fetch_add(&outer_handlers, 1);
}

static void jumping_handler(int number)
{
    work((unsigned)number * 7);
    siglongjmp(way_out, 1);
}

static __attribute__((noinline)) void jump_out_of_handler(int depth)
{
    if (depth > 0) {
        jump_out_of_handler(depth - 1);
        work((unsigned)depth); // never reached: the handler does not come back
    } else {
        raise(SIGRTMIN);
    }
}

static void pass_token(void)
{
    pthread_mutex_lock(&mutex);
    while (token_holder != self)
        pthread_cond_wait(&token_moved, &mutex);
    token_holder = (self + 1) % kThreads;
    atomic_fetch_add(&passes, 1);
    pthread_cond_broadcast(&token_moved);
    pthread_mutex_unlock(&mutex);
}

static void *run(void *argument)
{
    self = (int)(intptr_t)argument;
    for (int i = 0; i < kPasses; i++) {
        work((unsigned)i);
        pass_token();
    }
    for (int i = 0; i < kSignals; i++) {
        work((unsigned)i * 5);
        raise(SIGUSR1);
        if (sigsetjmp(way_out, 1) == 0)
            jump_out_of_handler(10);
        else
            atomic_fetch_add(&long_jumps, 1);
    }
    return NULL;
}

static int handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: threads ROUNDS\n");
        return 2;
    }
    int rounds = atoi(argv[1]);
    if (handle(SIGUSR1, outer_handler) != 0 || handle(SIGUSR2, inner_handler) != 0
        || handle(SIGRTMIN, jumping_handler) != 0) {
        fprintf(stderr, "threads: no signal handlers\n");
        return 1;
    }
    for (int round = 0; round < rounds; round++) {
        pthread_t thread[kThreads];
        for (intptr_t i = 0; i < kThreads; i++) {
            if (pthread_create(&thread[i], NULL, run, (void *)i) != 0) {
                fprintf(stderr, "threads: no thread\n");
                return 1;
            }
        }
        for (int i = 0; i < kThreads; i++)
            pthread_join(thread[i], NULL);
    }
    unsigned long long signals = (unsigned long long)rounds * kThreads * kSignals;
    printf("threads: %llu passes, %llu + %llu handlers, %llu jumps\n", (unsigned long long)passes,
           (unsigned long long)outer_handlers, (unsigned long long)inner_handlers,
           (unsigned long long)long_jumps);
    return outer_handlers == signals && inner_handlers == signals && long_jumps == signals
                   && passes == (unsigned long long)rounds * kThreads * kPasses
               ? 0
               : 1;
}
