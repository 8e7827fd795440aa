// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -fno-builtin
//
// A signal handler that allocates while it interrupts an allocator. Writing to a block of the pool faults if the pool
// may not be written to; the handler makes it writable, and allocates from malloc and from the pool, too. The first
// time, it returns, and the allocator goes on; the second time, it jumps out, and what the allocator was to return, it
// never does. walk() reads a byte of each of 100 lines in the midst of a block of 8000 bytes, which nothing has touched
// before: it loads exactly 100 lines into D1 for each block.
//
//     function             blocks   bytes
//     from_interrupted          1    8000
//     from_left                 0
//     from_after                1    8000
//     handler_malloc            2   16000   of which one is walked
//     handler_take              2   16000   likewise

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { kSize = 8000, kLines = 100, kBlocks = 8, kPool = kBlocks * 8192 };

#define NOINLINE __attribute__((noinline, noclone))

volatile char sink;
static char *pool;
static size_t taken;
static sigjmp_buf out;
static volatile sig_atomic_t jumps_out;
static char *of_malloc, *of_take;

NOINLINE static void walk(const volatile char *object) {
    const volatile char *line = (const volatile char *)(((uintptr_t)object + 1087) & ~(uintptr_t)63);
    for (int i = 0; i < kLines; i++) sink = line[64 * i];
}

/* A function of its own: what faults begins a block of code then, which can be run again from its start. Valgrind goes
   on there, as tools like this one keep registers exact in between only if --px-default asks for that. */
NOINLINE static char *next(void) { return pool + 8192 * taken++; }

NOINLINE void *take(size_t size) {
    volatile char *block = next();
    *block = (char)size; /* faults */
    return (char *)block;
}

NOINLINE static char *handler_malloc(void) { char *block = malloc(kSize); sink = 0; return block; }
NOINLINE static char *handler_take(void) { char *block = take(kSize); sink = 0; return block; }
NOINLINE static char *from_interrupted(void) { char *block = take(kSize); sink = 0; return block; }
NOINLINE static char *from_left(void) { char *block = take(kSize); sink = 0; return block; }
NOINLINE static char *from_after(void) { char *block = take(kSize); sink = 0; return block; }

NOINLINE static void allow(int what) {
    if (mprotect(pool, kPool, what) != 0) abort();
}

static void on_fault(int signal) {
    (void)signal;
    allow(PROT_READ | PROT_WRITE);
    of_malloc = handler_malloc();
    of_take = handler_take();
    if (jumps_out) siglongjmp(out, 1);
}

int main(void) {
    pool = mmap(0, kPool, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, on_fault);
    walk(from_interrupted());
    walk(of_malloc);
    walk(of_take);
    allow(PROT_NONE);
    jumps_out = 1;
    if (sigsetjmp(out, 1) == 0) from_left();
    walk(from_after());
    return 0;
}
