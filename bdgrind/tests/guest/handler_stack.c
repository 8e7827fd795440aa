// SPDX-License-Identifier: GPL-2.0-or-later
//
// A handler on an alternate stack that lies in main's own frame, above all the calls it interrupts,
// and that is left by siglongjmp: stack pointers alone say nothing about who called whom here.
//
// build: -O0 -static
// oracle: no
// callgrind: no
// expect: calls main > deep = 4; deep > deep = 4 * 9; main > after = 4; after = 4
// expect: calls handler = 0; handler > in_handler = 4; in_handler > in_handler = 4 * 2

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static sigjmp_buf back;

static void in_handler(int calls_to_go)
{
    if (calls_to_go == 0)
        siglongjmp(back, 1);
    else
        in_handler(calls_to_go - 1);
}

static void handler(int signal)
{
    (void)signal;
    in_handler(2);
}

static void deep(int calls_to_go)
{
    if (calls_to_go == 0)
        raise(SIGUSR1);
    else
        deep(calls_to_go - 1);
}

static void after(void) {}

int main(void)
{
    char stack_in_frame[32768];
    stack_t stack = {.ss_sp = stack_in_frame, .ss_size = sizeof stack_in_frame};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (volatile int i = 0; i < 4; ++i) {
        if (sigsetjmp(back, 1) == 0)
            deep(9);
        after();
    }
    return 0;
}
