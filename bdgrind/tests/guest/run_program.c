// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs a program, as a child, and ends as that does.
//
// build: -O0

#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    int status = 0;
    pid_t child;
    if (count < 2)
        return 2;
    child = fork();
    if (child == 0) {
        execv(arguments[1], arguments + 1);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}
