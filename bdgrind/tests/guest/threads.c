// SPDX-License-Identifier: GPL-2.0-or-later
//
// Two threads that take turns, handing over with a condition variable: both have calls open all the
// time, and lines that one loads are evicted while the other runs. Each makes 50 turns of 3 calls.
//
// build: -O0 -static -pthread
// oracle: no
// callgrind: no
// expect: calls turns_of_first > work_of_first = 150; turns_of_second > work_of_second = 150
// expect: calls work_of_first = 150; work_of_second = 150; main > after = 1

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static char data[2][64 * 1024];

static void work_of_first(void)
{
    for (size_t i = 0; i < sizeof data[0]; i += 64)
        ++data[0][i];
}

static void work_of_second(void)
{
    for (size_t i = 0; i < sizeof data[1]; i += 64)
        ++data[1][i];
}

static void wait_for_turn(int mine)
{
    pthread_mutex_lock(&mutex);
    while (turn % 2 != mine)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void hand_over(void)
{
    pthread_mutex_lock(&mutex);
    ++turn;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

static void *turns_of_first(void *unused)
{
    for (int i = 0; i < 50; ++i) {
        wait_for_turn(0);
        for (int call = 0; call < 3; ++call)
            work_of_first();
        hand_over();
    }
    return unused;
}

static void *turns_of_second(void *unused)
{
    for (int i = 0; i < 50; ++i) {
        wait_for_turn(1);
        for (int call = 0; call < 3; ++call)
            work_of_second();
        hand_over();
    }
    return unused;
}

static void after(void) {}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, turns_of_first, NULL);
    pthread_create(&second, NULL, turns_of_second, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    after();
    return 0;
}
