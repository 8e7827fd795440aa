// SPDX-License-Identifier: GPL-2.0-or-later
//
// vfork takes its return address off the stack for the time of the system call and returns without
// the call that it was made by. main is not called by itself for that.
//
// build: -O0 -static
// oracle: no
// callgrind: no
// expect: calls main > vfork = 1; main > main = 0; main > after = 1

#include <sys/wait.h>
#include <unistd.h>

static void after(void) {}

int main(void)
{
    pid_t child = vfork();
    if (child == 0)
        _exit(0);
    after();
    return waitpid(child, NULL, 0) == child ? 0 : 1;
}
