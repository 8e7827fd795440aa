// SPDX-License-Identifier: GPL-2.0-or-later
//
// Two threads that walk over arrays of their own in turns, four times each, handing over with semaphores. An array has
// 2,048 lines of 64 bytes; one follows the other.
//
// build: -O1 -static -pthread
// oracle: no
// callgrind: no

#include "turns.h"

#define LINES 2048
#define PASSES 4

struct line {
    volatile unsigned long first;
    char rest[64 - sizeof(unsigned long)];
};

static _Alignas(4096) struct line arrays[2][LINES];

static __attribute__((noinline)) void read_lines(const struct line *array)
{
    for (int i = 0; i < LINES; ++i)
        (void)array[i].first;
}

static void read_own(int self, int round)
{
    (void)round;
    read_lines(arrays[self]);
}

int main(void)
{
    return take_turns(read_own, PASSES);
}
