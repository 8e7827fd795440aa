// SPDX-License-Identifier: GPL-2.0-or-later
//
// A write through a null pointer, four calls deep. The profile is written nevertheless, and the
// status is that of the signal.
//
// build: -O0 -static
// oracle: no
// callgrind: no
// expect: calls main > deep = 1; deep > deep = 3; deep > before_crash = 1
// expect: exit -11

#include <stddef.h>

static void before_crash(void) {}

static void deep(int calls_to_go)
{
    if (calls_to_go == 0) {
        before_crash();
        *(volatile int *)NULL = 0;
    } else {
        deep(calls_to_go - 1);
    }
}

int main(void)
{
    deep(3);
    return 0;
}
