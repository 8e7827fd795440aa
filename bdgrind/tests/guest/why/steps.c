// SPDX-License-Identifier: GPL-2.0-or-later
//
// Goes through a buffer of so many bytes in constant steps of one and a half to sixteen lines, some times.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SIZE
#define SIZE (1 << 20)
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

// Functions of their own, or an instruction would have many steps.
#define GO(step) \
    __attribute__((noipa)) static unsigned long by_##step(const char* data) { \
        unsigned long sum = 0; \
        for (long at = 0; at < SIZE; at += step) sum += *(const unsigned long*)(data + at); \
        return sum; \
    }

GO(96)
GO(160)
GO(192)
GO(256)
GO(384)
GO(512)
GO(1024)

int main(void) {
    char* data = malloc(SIZE + sizeof(long));
    memset(data, 1, SIZE + sizeof(long));
    unsigned long (*const ways[])(const char*) = {by_96, by_160, by_192, by_256, by_384, by_512, by_1024};
    unsigned long sum = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        for (unsigned way = 0; way < sizeof ways / sizeof *ways; ++way) sum += ways[way](data);
    }
    printf("%lu\n", sum);
    free(data);
}
