// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -fno-builtin
//
// Blocks that share a cache line, and blocks and accesses across lines. They lie one behind the other in an array that
// begins with a line, 100 times each:
//
//     |----------- 64 bytes -----------|----------- 64 bytes -----------|
//      a 16  b 48                                                          b is read, then a: the line is b's
//      c 16  d 48                                                          c is read, then d: it is c's
//      x 96                              ... x  y 32                       x across both: they are x's; then y
//      v 64                              w 64                              across v's end: one is v's, one is w's
//
// Nothing else touches them, and none is read twice. So this is what is loaded, and each line leaves with those bytes
// used that are given here, by their offsets in the block:
//
//     block    lines loaded   bytes used
//     a                   0   3
//     b                 100   20
//     c                 100   3
//     d                   0   20
//     x                 200   62, 63 in one line, 64, 65 in the other
//     y                   0   0
//     v                 100   62, 63
//     w                 100   0, 1

#include <stdint.h>
#include <stdlib.h>

enum { kTimes = 100 };

#define NOINLINE __attribute__((noinline, noclone))

static _Alignas(64) char memory[kTimes * (64 + 64 + 128 + 128)];
static size_t taken;
volatile uint32_t sink;

NOINLINE void *take(size_t size) { taken += size; return memory + taken - size; }

/* Each is a place of its own. */
#define ALLOCATES(name, size) \
    NOINLINE static volatile char *name(void) { volatile char *block = take(size); sink = 0; return block; }
ALLOCATES(a, 16)
ALLOCATES(b, 48)
ALLOCATES(c, 16)
ALLOCATES(d, 48)
ALLOCATES(x, 96)
ALLOCATES(y, 32)
ALLOCATES(v, 64)
ALLOCATES(w, 64)

static void read_one(const volatile char *byte) { sink = (unsigned char)*byte; }
static void read_four(const volatile char *first) { sink = *(const volatile uint32_t *)first; }

int main(void) {
    for (int i = 0; i < kTimes; i++) {
        const volatile char *const first = a(), *const second = b();
        read_one(second + 20);
        read_one(first + 3);
    }
    for (int i = 0; i < kTimes; i++) {
        const volatile char *const first = c(), *const second = d();
        read_one(first + 3);
        read_one(second + 20);
    }
    for (int i = 0; i < kTimes; i++) {
        const volatile char *const first = x(), *const second = y();
        read_four(first + 62);
        read_one(second);
    }
    for (int i = 0; i < kTimes; i++) {
        const volatile char *const first = v();
        w();
        read_four(first + 62);
    }
    return 0;
}
