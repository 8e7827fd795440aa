// SPDX-License-Identifier: GPL-2.0-or-later
//
// Two coroutines in one thread, each on a stack of its own, resumed 10 times in turn by swapcontext.
// Switching stacks leaves no call that could be matched with a return; still every step is called by
// its coroutine, and `after` by main.
//
// build: -O0 -static
// expect: calls ping > step_of_ping = 10; pong > step_of_pong = 10; main > after = 10
// expect: calls step_of_ping = 10; step_of_pong = 10; after = 10

#include <ucontext.h>

enum { kRounds = 10 };

static ucontext_t of_main, of_ping, of_pong;
static char stack_of_ping[65536], stack_of_pong[65536];

static void step_of_ping(void) {}
static void step_of_pong(void) {}
static void after(void) {}

static void ping(void)
{
    for (;;) {
        step_of_ping();
        swapcontext(&of_ping, &of_pong);
    }
}

static void pong(void)
{
    for (;;) {
        step_of_pong();
        swapcontext(&of_pong, &of_main);
    }
}

static void make(ucontext_t *context, char *stack, unsigned long size, void (*function)(void))
{
    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = size;
    makecontext(context, function, 0);
}

int main(void)
{
    make(&of_ping, stack_of_ping, sizeof stack_of_ping, ping);
    make(&of_pong, stack_of_pong, sizeof stack_of_pong, pong);
    for (int round = 0; round < kRounds; ++round) {
        swapcontext(&of_main, &of_ping);
        after();
    }
    return 0;
}
