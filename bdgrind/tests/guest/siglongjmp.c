// SPDX-License-Identifier: GPL-2.0-or-later
//
// A signal handler that interrupts calls five deep and leaves by siglongjmp, three times. The handler
// has no caller, as no code called it; it is charged with what it calls. main continues where it
// left off: `after` is called by main.
//
// build: -O0 -static
// oracle: no
// callgrind: no
// expect: calls main > deep = 3; deep > deep = 3 * 4; main > after = 3; after = 3
// expect: calls handler = 0; handler > in_handler = 3; in_handler = 3

#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

static sigjmp_buf back;

static void in_handler(void) {}

static void handler(int signal)
{
    (void)signal;
    in_handler();
    siglongjmp(back, 1);
}

static void deep(int calls_to_go)
{
    if (calls_to_go == 0)
        kill(getpid(), SIGUSR1);
    else
        deep(calls_to_go - 1);
}

static void after(void) {}

int main(void)
{
    signal(SIGUSR1, handler);
    for (volatile int i = 0; i < 3; ++i) {
        if (sigsetjmp(back, 1) == 0)
            deep(4);
        after();
    }
    return 0;
}
