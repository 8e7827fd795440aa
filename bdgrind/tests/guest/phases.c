// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs long enough for --sample=bursts, some four million blocks of code: in each round, stream() loads every line of
// an array, and touch() some of them. Half way, touch() has twice
// as much to do. twice: all of that is done two times; fork: a child does the second half; exec: another program does.
//
// build: -O1 -static

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kLines = 4096, kLineInts = 16, kRounds = 360 };

static volatile int array[kLines * kLineInts];

__attribute__((noinline)) static int stream(void)
{
    int sum = 0;
    for (int i = 0; i < kLines; ++i)
        sum += array[i * kLineInts];
    return sum;
}

__attribute__((noinline)) static int touch(int times)
{
    unsigned state = 1;
    int sum = 0;
    for (int i = 0; i < times; ++i) {
        state = state * 1664525u + 1013904223u;
        sum += array[(state >> 8) % (kLines * kLineInts)];
    }
    return sum;
}

__attribute__((noinline)) static int rounds(int first, int end)
{
    int sum = 0;
    for (int round = first; round < end; ++round)
        sum += stream() + touch(round < kRounds / 2 ? 8000 : 16000);
    return sum;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "twice") == 0)
        printf("%d\n", rounds(0, kRounds));
    if (strcmp(way, "second") != 0)
        printf("%d\n", rounds(0, kRounds / 2));
    fflush(stdout);
    if (strcmp(way, "fork") == 0 && fork() != 0) {
        wait(NULL);
        return 0;
    }
    if (strcmp(way, "exec") == 0)
        execl(argv[0], argv[0], "second", NULL);
    printf("%d\n", rounds(kRounds / 2, kRounds));
    return 0;
}
