// SPDX-License-Identifier: GPL-2.0-or-later
//
// plt_lazy.c with all functions bound when the program starts: no resolver runs at the calls.
//
// build: -O0 -fno-builtin -Wl,-z,now
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
