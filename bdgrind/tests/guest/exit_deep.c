// SPDX-License-Identifier: GPL-2.0-or-later
//
// exit from ten calls deep. All of them are still open at the end; their costs count all the same,
// and main keeps what they cost. at_exit runs below exit, thus below the deepest call.
//
// build: -O0 -static
// expect: calls main > deep = 1; deep > deep = 9; deep > exit = 1; at_exit = 1
// expect: exit 5

#include <stdlib.h>

static void at_exit(void) {}

static void deep(int calls_to_go)
{
    if (calls_to_go == 0)
        exit(5);
    else
        deep(calls_to_go - 1);
}

int main(void)
{
    atexit(at_exit);
    deep(9);
}
