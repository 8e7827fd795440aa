// SPDX-License-Identifier: GPL-2.0-or-later
//
// fork, vfork with exec, and posix_spawn. The children run before the parent goes on; it does not see
// what they do.
//
// build: -O0
// expect: calls before = 1; main > after = 3; in_child = 0

#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static void before(void) {}
static void in_child(void) {}
static void after(void) {}

static int status_of(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

int main(void)
{
    char *arguments[] = {"sh", "-c", "exit 7", NULL};
    char *environment[] = {NULL};
    before();

    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 7; ++i)
            in_child();
        _exit(6);
    }
    int status = status_of(child);
    after();

    child = vfork();
    if (child == 0) {
        execve("/bin/sh", arguments, environment);
        _exit(1);
    }
    status = status * 10 + status_of(child);
    after();

    posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environment);
    status = status * 10 + status_of(child);
    after();
    return status == 677 ? 0 : 1;
}
