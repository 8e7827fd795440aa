// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -fno-builtin
//
// An allocator of the program's own under names that libraries have, each with a prefix. Its blocks lie in a static
// array, one behind the other, and none is handed out twice. walk() reads a byte of each of 100 lines in the midst of a
// block of 8000 bytes, which nothing has touched before: it loads exactly 100 lines into D1 for each block.
//
//     function             blocks   bytes   freed
//     from_calloc               1    8000       1   elements of 8 bytes
//     from_malloc               1     100       1   by realloc, which moves it
//     from_realloc              1    8000       0
//     from_posix                1    8000       1   and a call that fails: no block

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kSize = 8000, kLines = 100 };

#define NOINLINE __attribute__((noinline, noclone))

volatile char sink;
static _Alignas(4096) char memory[16 * 4096];
static size_t next;

NOINLINE static void *take(size_t alignment, size_t size) {
    next = (next + alignment - 1) & ~(alignment - 1);
    next += size;
    return memory + next - size;
}

NOINLINE void *mi_malloc(size_t size) { void *block = take(64, size); sink = 0; return block; }
NOINLINE void *je_calloc(size_t count, size_t size) { void *block = take(64, count * size); sink = 0; return block; }
NOINLINE void *mi_realloc(void *block, size_t size) { return memcpy(take(64, size), block, 100); }
NOINLINE int tc_posix_memalign(void **block, size_t alignment, size_t size) {
    if ((alignment & (alignment - 1)) != 0) return EINVAL;
    *block = take(alignment, size);
    return 0;
}
NOINLINE void je_free(const void *block) { sink = (char)(uintptr_t)block; }
NOINLINE void tc_free(const void *block) { sink = (char)(uintptr_t)block; }

NOINLINE static void walk(const volatile char *object) {
    const volatile char *line = (const volatile char *)(((uintptr_t)object + 1087) & ~(uintptr_t)63);
    for (int i = 0; i < kLines; i++) sink = line[64 * i];
}

NOINLINE static void *from_calloc(void) { void *block = je_calloc(kSize / 8, 8); sink = 0; return block; }
NOINLINE static void *from_malloc(void) { void *block = mi_malloc(100); sink = 0; return block; }
NOINLINE static void *from_realloc(void *block) { block = mi_realloc(block, kSize); sink = 0; return block; }
NOINLINE static void *from_posix(void) {
    void *block = memory;
    if (tc_posix_memalign(&block, 96, kSize) == 0) abort();
    if (tc_posix_memalign(&block, 4096, kSize) != 0) abort();
    return block;
}

int main(void) {
    void *block = from_calloc();
    walk(block);
    je_free(block);
    walk(from_realloc(from_malloc()));
    block = from_posix();
    walk(block);
    tc_free(block);
    return 0;
}
