// SPDX-License-Identifier: GPL-2.0-or-later
//
// A timer interrupts wherever it happens to: between any two blocks of nested calls, ten times. No
// call is lost and none invented. How often the outer loop runs is up to the machine: the program
// prints it.
//
// build: -O0 -static
// output: varies
// oracle: no
// callgrind: no
// expect: calls main > work = rounds; work > deeper = 2 * rounds; deeper > deepest = 2 * rounds
// expect: calls work = rounds; deeper = 2 * rounds; deepest = 2 * rounds; in_handler = 10
// expect: calls handler = 0; handler > in_handler = 10; main > after = 1

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;
static volatile int sum;

static void in_handler(void) { ++ticks; }

static void set_timer(int microseconds)
{
    struct itimerval timer = {.it_value.tv_usec = microseconds};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void handler(int signal)
{
    (void)signal;
    in_handler();
    if (ticks < 10)
        set_timer(3000);
}

static void deepest(void) { ++sum; }

static void deeper(void)
{
    deepest();
    ++sum;
}

static void work(void)
{
    deeper();
    deeper();
}

static void after(void) {}

int main(void)
{
    int rounds = 0;
    signal(SIGALRM, handler);
    set_timer(3000);
    for (; ticks < 10; ++rounds)
        work();
    after();
    fprintf(stdout, "rounds %d\n", rounds);
    return 0;
}
