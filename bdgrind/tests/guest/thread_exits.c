// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads that do not return: one ends by pthread_exit six calls deep, one is cancelled while it
// waits four calls deep. Both unwind their stacks and run a cleanup handler.
//
// build: -O0 -pthread
// oracle: no
// callgrind: no
// expect: calls exits > exit_deep = 1; exit_deep > exit_deep = 5; cleaned_up = 2; main > after = 2
// expect: calls waits > wait_deep = 1; wait_deep > wait_deep = 3; after = 2

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <unistd.h>

static sem_t waiting;

static void cleaned_up(void *unused) { (void)unused; }
static void after(void) {}

static void exit_deep(int calls_to_go)
{
    if (calls_to_go == 0)
        pthread_exit(NULL);
    else
        exit_deep(calls_to_go - 1);
}

static void wait_deep(int calls_to_go)
{
    if (calls_to_go == 0) {
        sem_post(&waiting);
        for (;;)
            pause();
    } else {
        wait_deep(calls_to_go - 1);
    }
}

static void *exits(void *unused)
{
    pthread_cleanup_push(cleaned_up, NULL);
    exit_deep(5);
    pthread_cleanup_pop(0);
    return unused;
}

static void *waits(void *unused)
{
    pthread_cleanup_push(cleaned_up, NULL);
    wait_deep(3);
    pthread_cleanup_pop(0);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, exits, NULL);
    pthread_join(thread, NULL);
    after();
    sem_init(&waiting, 0, 0);
    pthread_create(&thread, NULL, waits, NULL);
    sem_wait(&waiting);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    after();
    return 0;
}
