// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -pthread -fno-builtin
//
// Objects of every kind of 8000 bytes. walk() reads a byte of each of 100 lines in the midst of one: lines that nothing
// has touched before, or which walking another one has evicted from a D1 of 64 lines. So walk() loads exactly 100 lines
// into D1 for each object.

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kSize = 8000, kLines = 100 };

#define NOINLINE __attribute__((noinline, noclone))

volatile char sink;
char variable[kSize];

NOINLINE void walk(const volatile char *object) {
    const volatile char *line = (const volatile char *)(((uintptr_t)object + 1087) & ~(uintptr_t)63);
    for (int i = 0; i < kLines; i++) sink = line[64 * i];
}

NOINLINE char *from_malloc(void) { char *block = malloc(kSize); sink = 0; return block; }
NOINLINE char *from_calloc(void) { char *block = calloc(kSize / 8, 8); sink = 0; return block; }
NOINLINE char *from_aligned(void) { char *block = aligned_alloc(64, kSize); sink = 0; return block; }
NOINLINE char *from_posix(void) {
    void *block = 0;
    if (posix_memalign(&block, 4096, kSize) != 0) abort();
    return block;
}
NOINLINE char *from_realloc(char *block) { block = realloc(block, kSize); sink = 0; return block; }
NOINLINE char *from_strdup(const char *text) { char *block = strdup(text); sink = 0; return block; }
NOINLINE void from_stack(void) { char block[kSize]; walk(block); }
NOINLINE char *from_mmap(void) {
    return mmap(0, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
NOINLINE char *from_file(const char *name) {
    const int file = open(name, O_RDONLY);
    char *block = mmap(0, kSize, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    return block;
}

/* A pool: its blocks lie within one of malloc's. The first call is left by a jump. */
static jmp_buf out;
static char *pool;
NOINLINE char *pool_alloc(size_t size) {
    if (pool == 0) {
        pool = malloc(4 * kSize);
        longjmp(out, 1);
    }
    pool += size;
    return pool - size;
}
NOINLINE char *from_pool(void) { char *block = pool_alloc(kSize); sink = 0; return block; }
NOINLINE void pool_free(const char *block) { sink = (char)(uintptr_t)block; }
NOINLINE void pool_give(int number, const char *block) { sink = (char)((uintptr_t)block + (unsigned)number); }

static char *of_thread;
NOINLINE void *from_thread(void *unused) { of_thread = malloc(kSize); return unused; }

static char *of_handler;
NOINLINE void from_handler(int signal) { of_handler = malloc(kSize); (void)signal; }

NOINLINE char *from_again(void) { char *block = malloc(kSize); sink = 0; return block; }

int main(int argc, char **argv) {
    walk(variable);
    char *block = from_malloc();
    walk(block);
    walk(variable);
    free(block);
    block = from_again(); /* the same address */
    walk(block);
    char *small = malloc(100);
    from_malloc();
    walk(from_realloc(small)); /* somewhere else */
    walk(from_calloc());
    walk(from_posix());
    walk(from_aligned());
    from_stack();
    walk(from_mmap());
    walk(from_file(argv[0]));
    free(from_strdup("a text of twenty-five byt"));
    if (setjmp(out) == 0) from_pool();
    block = from_pool();
    walk(block);
    pool_free(block);
    pool_give(1, from_pool());
    pthread_t thread;
    pthread_create(&thread, 0, from_thread, 0);
    pthread_join(thread, 0);
    walk(of_thread);
    free(of_thread);
    signal(SIGUSR1, from_handler);
    raise(SIGUSR1);
    walk(of_handler);
    if (argc > 1 && fork() == 0) {
        walk(of_handler);
        walk(from_malloc());
        _exit(0);
    }
    wait(0);
    return 0;
}
