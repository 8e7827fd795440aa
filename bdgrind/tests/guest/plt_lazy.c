// SPDX-License-Identifier: GPL-2.0-or-later
//
// Calls into a library through the procedure linkage table, bound at the first call: the resolver
// that then runs ends by jumping to the function. It is main that calls it, each of the 10 times.
//
// build: -O0 -fno-builtin -Wl,-z,lazy
// x86: no (Debian's 32-bit dynamic linker has no symbols, so that its resolver is an unknown function)
// expect: calls main > toupper = 10; main > labs = 10; main > after = 1

#include <ctype.h>
#include <stdlib.h>

static void after(void) {}

int main(void)
{
    long sum = 0;
    for (int i = 0; i < 10; ++i)
        sum += toupper('a') + labs(-i);
    after();
    return sum == 10 * 'A' + 45 ? 0 : 1;
}
