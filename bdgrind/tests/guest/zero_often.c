// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1
//
// Asks for zeroing very often, after more or fewer blocks of code each time: some of that comes when the trace's buffer
// has just become full.

#include "bdgrind.h"

static volatile unsigned char bytes[64];

__attribute__((noinline)) static void step(unsigned i) { bytes[i % sizeof bytes]++; }

int main(void)
{
    for (unsigned i = 0; i < 20000; ++i) {
        for (unsigned k = 0; k < 3 + i % 5; ++k) step(i + k);
        BDGRIND_ZERO_STATS;
    }
    return 0;
}
