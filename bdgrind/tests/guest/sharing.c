// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads that have to do with each other's lines, or not: `sharing KIND THREADS`. All of them begin at once and do the
// same number of rounds, of a few instructions each.
//
// build: -O1 -static -pthread
// oracle: no
// callgrind: no

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 100000
#define MOST_THREADS 8

typedef unsigned long word;

static pthread_barrier_t start;
static int threads;

// Each begins a line of its own, whatever a word is.
static _Alignas(64) volatile word counters[MOST_THREADS];
static _Alignas(64) volatile struct {
    word count;
    char padding[64 - sizeof(word)];
} padded_counters[MOST_THREADS];
static _Alignas(64) word total;
static _Alignas(64) volatile struct {
    word requests, replies;
    const char *name;
} connection;
static _Alignas(64) struct {
    int lock;
    volatile word balance;
} account;
static _Alignas(64) struct {
    int readers;
    char padding[64 - sizeof(int)];
    volatile word value;
} document;
static _Alignas(64) volatile word table[512];
static _Alignas(64) struct {
    volatile word head, tail;
} queue;
static _Alignas(64) struct {
    volatile word head;
    char padding[64 - sizeof(word)];
    volatile word tail;
} padded_queue;

// Loops are in assembly language's size: nothing is spilled, no call is made.
static void count_adjacent(int self)
{
    for (int i = 0; i < ROUNDS; ++i)
        counters[self] += 1;
}

static void count_apart(int self)
{
    for (int i = 0; i < ROUNDS; ++i)
        padded_counters[self].count += 1;
}

static void count_together(int self)
{
    (void)self;
    for (int i = 0; i < ROUNDS; ++i)
        __atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
}

static void reduce(int self)
{
    (void)self;
    word sum = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    __atomic_fetch_add(&total, sum, __ATOMIC_RELAXED);
}

static void serve(int self)
{
    for (int i = 0; i < ROUNDS; ++i) {
        if (self == 0)
            connection.requests += 1;
        else
            connection.replies += 1;
    }
}

static void pay(int self)
{
    (void)self;
    for (int i = 0; i < ROUNDS; ++i) {
        while (__atomic_exchange_n(&account.lock, 1, __ATOMIC_ACQUIRE))
            sched_yield();
        account.balance += 1;
        __atomic_store_n(&account.lock, 0, __ATOMIC_RELEASE);
    }
}

static void look(int self)
{
    (void)self;
    for (int i = 0; i < ROUNDS; ++i) {
        __atomic_fetch_add(&document.readers, 1, __ATOMIC_ACQUIRE);
        (void)document.value;
        __atomic_fetch_sub(&document.readers, 1, __ATOMIC_RELEASE);
    }
}

static void look_up(int self)
{
    for (int i = 0; i < ROUNDS; ++i) {
        (void)table[i % 512];
        if (self == 0 && i == ROUNDS / 2)
            table[0] = i;
    }
}

// The first one puts, the second one takes.
static void pass(volatile word *head, volatile word *tail, int self)
{
    for (int i = 0; i < ROUNDS; ++i) {
        if (self == 0) {
            while (*head - *tail == 1024)
                sched_yield();
            *head += 1;
        } else {
            while (*head == *tail)
                sched_yield();
            *tail += 1;
        }
    }
}

static void pass_adjacent(int self)
{
    pass(&queue.head, &queue.tail, self);
}

static void pass_apart(int self)
{
    pass(&padded_queue.head, &padded_queue.tail, self);
}

// Of the heap, where two fit into a line.
struct worker {
    volatile word jobs;
    int state;
};
static struct worker *workers[MOST_THREADS];

static void count_in_blocks(int self)
{
    struct worker *own = workers[self];
    for (int i = 0; i < ROUNDS; ++i)
        own->jobs += 1;
}

static const struct {
    const char *name;
    void (*work)(int self);
} kinds[] = {
    {"adjacent", count_adjacent}, {"apart", count_apart}, {"together", count_together}, {"reduction", reduce},
    {"fields", serve},            {"lock", pay},          {"readers", look},            {"table", look_up},
    {"queue", pass_adjacent},     {"padded-queue", pass_apart},
    {"blocks", count_in_blocks},
};

static void (*work)(int self);

static void *run(void *self)
{
    pthread_barrier_wait(&start);
    work((int)(size_t)self);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t others[MOST_THREADS];
    work = count_adjacent;
    for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof kinds[0]; ++i)
        if (!strcmp(argv[1], kinds[i].name))
            work = kinds[i].work;
    threads = argc > 2 ? atoi(argv[2]) : 1;
    if (threads == 1) {
        work(0);
        return 0;
    }
    for (int i = 0; i < threads && work == count_in_blocks; ++i)
        workers[i] = calloc(1, sizeof(struct worker));
    pthread_barrier_init(&start, NULL, threads);
    for (int i = 0; i < threads; ++i)
        pthread_create(&others[i], NULL, run, (void *)(size_t)i);
    for (int i = 0; i < threads; ++i)
        pthread_join(others[i], NULL);
    return 0;
}
