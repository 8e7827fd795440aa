// SPDX-License-Identifier: GPL-2.0-or-later
//
// Two threads that read a matrix of 256 pages twice: `first_touch KIND`. They take turns, so that each finds a last
// level of 64 KiB full of what the other one has read. Kinds: "main": main fills the matrix; each thread reads its
// half. "parallel": each thread fills its half and reads it. "common": main fills it, and both read all of it.
//
// build: -O1 -static -pthread
// oracle: no
// callgrind: no

#include <stdlib.h>
#include <string.h>

#include "turns.h"

#define PAGES 256
#define PER_PAGE (4096 / sizeof(unsigned long))
#define PER_LINE (64 / sizeof(unsigned long))
#define PASSES 2

static _Alignas(4096) volatile unsigned long matrix[PAGES * PER_PAGE];
static const char *kind;

static __attribute__((noinline)) void fill(int first, int pages)
{
    for (unsigned long i = first * PER_PAGE; i < (first + pages) * PER_PAGE; i += PER_LINE)
        matrix[i] = 1;
}

static __attribute__((noinline)) void read_pages(int first, int pages)
{
    for (unsigned long i = first * PER_PAGE; i < (first + pages) * PER_PAGE; i += PER_LINE)
        (void)matrix[i];
}

static void pass(int self, int round)
{
    int all = strcmp(kind, "common") == 0;
    if (round == 0 && strcmp(kind, "parallel") == 0)
        fill(self * (PAGES / 2), PAGES / 2);
    read_pages(all ? 0 : self * (PAGES / 2), all ? PAGES : PAGES / 2);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    kind = argv[1];
    if (strcmp(kind, "parallel") != 0)
        fill(0, PAGES);
    return take_turns(pass, PASSES);
}
