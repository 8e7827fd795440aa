// SPDX-License-Identifier: GPL-2.0-or-later
//
// Prints where LD_PRELOAD ends in memory, modulo 4: see steady_environment() in harness.py.
//
// build: -O0 -static

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    const char *preload = getenv("LD_PRELOAD");
    if (!preload)
        return 1;
    printf("%d\n", (int)((uintptr_t)(preload + strlen(preload)) % 4));
    return 0;
}
