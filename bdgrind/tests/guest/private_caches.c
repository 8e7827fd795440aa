// SPDX-License-Identifier: GPL-2.0-or-later
//
// Two threads that walk over arrays in turns, handing over with semaphores: `private_caches KIND`. An array has a line
// of 64 bytes for each step, five in each set of a D1 of 32 KiB, 8-way. So one fits, with all else that a thread does,
// and two do not.
//
// build: -O1 -static -pthread
// oracle: no
// callgrind: no

#include <stdlib.h>
#include <string.h>

#include "turns.h"

#define LINES 320
#define PASSES 4

struct line {
    volatile unsigned long first;
    char rest[64 - sizeof(unsigned long)];
};

static _Alignas(4096) struct line arrays[2][LINES];
static const char *kind;

static __attribute__((noinline)) void read_lines(const struct line *array)
{
    for (int i = 0; i < LINES; ++i)
        (void)array[i].first;
}

static __attribute__((noinline)) void write_lines(struct line *array)
{
    for (int i = 0; i < LINES; ++i)
        array[i].first = 1;
}

static void pass(int self, int round)
{
    (void)round;
    if (strcmp(kind, "own") == 0)
        read_lines(arrays[self]);
    else if (strcmp(kind, "common") == 0 || self == 0)
        read_lines(arrays[0]);
    else
        write_lines(arrays[0]);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    kind = argv[1];
    return take_turns(pass, PASSES);
}
