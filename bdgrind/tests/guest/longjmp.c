// SPDX-License-Identifier: GPL-2.0-or-later
//
// longjmp over 1 and over 1000 frames of `deep`, which is called once with 0 and once with 999 calls
// of itself to go. `after` is called by main both times: all frames have been left.
//
// build: -O0 -static
// expect: calls main > deep = 2; deep > deep = 999; main > after = 2; after = 2

#include <setjmp.h>

static jmp_buf back;

static void deep(int calls_to_go)
{
    if (calls_to_go == 0)
        longjmp(back, 1);
    else
        deep(calls_to_go - 1);
}

static void after(void) {}

int main(void)
{
    if (setjmp(back) == 0)
        deep(0);
    after();
    if (setjmp(back) == 0)
        deep(999);
    after();
    return 0;
}
