// SPDX-License-Identifier: GPL-2.0-or-later
//
// Death by a signal that is not a crash, four calls deep.
//
// build: -O0 -static
// oracle: no
// callgrind: no
// expect: calls main > deep = 1; deep > deep = 3; deep > before_signal = 1
// expect: exit -15

#include <signal.h>

static void before_signal(void) {}

static void deep(int calls_to_go)
{
    if (calls_to_go == 0) {
        before_signal();
        raise(SIGTERM);
    } else {
        deep(calls_to_go - 1);
    }
}

int main(void)
{
    deep(3);
    return 0;
}
