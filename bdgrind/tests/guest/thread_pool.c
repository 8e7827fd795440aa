// SPDX-License-Identifier: GPL-2.0-or-later
//
// A pool of two threads that take jobs, as function pointers, from a queue: whose costs are those of a job? With an
// argument, another function creates one more thread, which begins elsewhere.
//
// build: -O0 -static -pthread
// oracle: no
// callgrind: no
// expect: calls ask_for_sparse > submit = 8; ask_for_dense > submit = 8
// expect: calls worker > sparse = 8; worker > dense = 8

#include <pthread.h>
#include <stddef.h>

enum { kWorkers = 2, kJobs = 8 };

typedef void (*job_t)(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t workers[kWorkers];
static job_t jobs[2 * kJobs];
static int submitted, taken, is_closed;

static char data[2][64 * 1024];

static void sparse(void)
{
    for (size_t i = 0; i < sizeof data[0]; i += 64)
        ++data[0][i];
}

static void dense(void)
{
    for (size_t i = 0; i < sizeof data[1]; i += 8)
        ++data[1][i];
}

static job_t take(void)
{
    pthread_mutex_lock(&mutex);
    while (taken == submitted && !is_closed)
        pthread_cond_wait(&changed, &mutex);
    job_t job = taken == submitted ? NULL : jobs[taken++];
    pthread_mutex_unlock(&mutex);
    return job;
}

static void *worker(void *unused)
{
    for (job_t job = take(); job; job = take())
        job();
    return unused;
}

static void start_pool(void)
{
    for (int i = 0; i < kWorkers; ++i)
        pthread_create(&workers[i], NULL, worker, NULL);
}

static void submit(job_t job)
{
    pthread_mutex_lock(&mutex);
    jobs[submitted++] = job;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

static void ask_for_sparse(void)
{
    for (int i = 0; i < kJobs; ++i)
        submit(sparse);
}

static void ask_for_dense(void)
{
    for (int i = 0; i < kJobs; ++i)
        submit(dense);
}

static void close_pool(void)
{
    pthread_mutex_lock(&mutex);
    is_closed = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < kWorkers; ++i)
        pthread_join(workers[i], NULL);
}

static void *alone(void *unused)
{
    return unused;
}

static void start_another(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, alone, NULL);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    (void)argv;
    start_pool();
    ask_for_sparse();
    ask_for_dense();
    if (argc > 1)
        start_another();
    close_pool();
    return 0;
}
