// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -fno-builtin
//
// Functions that may be taken for allocators, each called 20 times, and whether what it returns is a block:
//
//     set_level       a small number
//     status          0
//     handle_new      the address of something else, of 16 bytes; it calls malloc twice, and not for itself
//     handle_data     a place in the block of a handle, which is its first argument; the second is a size
//     arena_alloc     in a variable: it is
//     header_alloc    behind a header of 16 bytes: it is

#include <stdlib.h>

enum { kTimes = 20, kArena = 4096 };

#define NOINLINE __attribute__((noinline, noclone))

struct handle {
    char *data;
    size_t size;
};

static char arena[kArena];
static size_t taken;
volatile size_t last;

NOINLINE int set_level(size_t level) { last = level; return (int)level; }
NOINLINE int status(size_t level) { last = level; return 0; }
NOINLINE struct handle *handle_new(size_t size) {
    struct handle *made = malloc(sizeof *made);
    made->data = malloc(size);
    made->size = size;
    return made;
}
NOINLINE char *handle_data(struct handle *of, size_t size) { return of->data + (of->size - size); }
NOINLINE void *arena_alloc(size_t size) {
    taken += size;
    return arena + taken - size;
}
NOINLINE void *header_alloc(size_t size) {
    size_t *block = malloc(size + 16);
    *block = size;
    return (char *)block + 16;
}

int main(void) {
    for (size_t i = 1; i <= kTimes; i++) {
        set_level(i);
        last = (size_t)status(i);
        struct handle *made = handle_new(2000);
        *handle_data(made, 1000) = 1;
        *(volatile char *)arena_alloc(100) = 1;
        *(volatile char *)header_alloc(100) = 1;
    }
    return 0;
}
