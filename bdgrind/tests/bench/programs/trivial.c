// SPDX-License-Identifier: GPL-2.0-or-later
/* trivial: sums up an array. For the driver's own test; not part of the benchmark. */

#include <stdio.h>

enum { kCount = 1 << 16 };

int main(void)
{
    static unsigned values[kCount];
    unsigned sum = 0;
    for (unsigned i = 0; i < kCount; i++)
        values[i] = i;
    for (unsigned i = 0; i < kCount; i++)
        sum += values[i] & 1;
    printf("trivial: %u\n", sum);
    return sum == kCount / 2 ? 0 : 1;
}
