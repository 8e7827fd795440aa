// SPDX-License-Identifier: GPL-2.0-or-later
//
// Signal handlers on an alternate stack, one running while another runs, all of them returning.
//
//   main -- deep, 3 calls -- SIGUSR1 --> outer -- before_inner
//                                              -- SIGUSR2 --> inner -- in_inner
//                                              -- after_inner
//                         -- after_signal
//
// Five times. Handlers have no callers; the interrupted calls go on as if nothing had happened.
//
// build: -O0 -static
// oracle: no
// callgrind: no
// expect: calls outer = 0; inner = 0; outer > before_inner = 5; inner > in_inner = 5
// expect: calls outer > after_inner = 5; deep > after_signal = 5; deep > deep = 5 * 2
// expect: calls main > deep = 5; before_inner = 5; in_inner = 5; after_inner = 5; after_signal = 5

#include <signal.h>
#include <stddef.h>

static char alternate_stack[65536];

static void in_inner(void) {}
static void before_inner(void) {}
static void after_inner(void) {}
static void after_signal(void) {}

static void inner(int signal)
{
    (void)signal;
    in_inner();
}

static void outer(int signal)
{
    (void)signal;
    before_inner();
    raise(SIGUSR2);
    after_inner();
}

static void deep(int calls_to_go)
{
    if (calls_to_go > 0) {
        deep(calls_to_go - 1);
    } else {
        raise(SIGUSR1);
        after_signal();
    }
}

int main(void)
{
    stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = outer, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = inner;
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < 5; ++i)
        deep(2);
    return 0;
}
