// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1 -static
//
// one_thread ACTION: works, does what only a process of one thread may do or can tell, works again, and says what came
// of it. A tool that has a thread of its own must not be found out.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBytes = 65536, kCalls = 100000 };
static unsigned char bytes[kBytes];
static unsigned long sum;

__attribute__((noinline)) static void step(unsigned long i)
{
    unsigned char *byte = &bytes[i * 64 % kBytes];
    *byte = (unsigned char)(*byte + i);
    sum = sum * 31 + *byte;
}

static void work(void)
{
    for (unsigned long i = 0; i < kCalls; ++i) step(i);
}

static void result(const char *what, int value)
{
    printf("%s: %s\n", what, value == 0 ? "done" : strerror(errno));
}

static void filter_futex(unsigned verdict)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, verdict),
    };
    const struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    result("no new privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    result("filter", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0));
}

static void drop_capabilities(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    result("capset", (int)syscall(SYS_capset, &header, none));
}

// What the kernel keeps for each thread, or asks of a process that it has only one.
static void try_others(void)
{
    cpu_set_t processors;
    result("sched_getaffinity", sched_getaffinity(0, sizeof processors, &processors));
    result("sched_setaffinity", sched_setaffinity(0, sizeof processors, &processors));
    work();
    result("ioprio_set", (int)syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 6));
    printf("ioprio %ld\n", syscall(SYS_ioprio_get, 1, 0));
    work();
    result("name", prctl(PR_SET_NAME, "renamed", 0, 0, 0));
    result("keep capabilities", prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
    work();
    pid_t child;
    char *const words[] = {"/bin/true", NULL};
    errno = posix_spawn(&child, words[0], NULL, NULL, words, NULL);
    result("posix_spawn", errno);
    int status = 1;
    result("waitpid", waitpid(child, &status, 0) == child ? status : -1);
    work();
    result("unshare", unshare(CLONE_FS | CLONE_FILES | CLONE_SYSVSEM));
    work();
    result("ptrace", (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static void say_threads(void)
{
    // Only up to there: what follows, how often the process had to wait, is never as long as the last time.
    char line[256];
    FILE *const status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status) != NULL && strncmp(line, "Threads:", 8) != 0)
        ;
    fputs(line, stdout);
    fclose(status);

    int tasks = 0;
    DIR *const folder = opendir("/proc/self/task");
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        tasks += entry->d_name[0] != '.';
    closedir(folder);
    struct stat task;
    result("stat", stat("/proc/self/task", &task));
    printf("%d in task, which has %d links\n", tasks, (int)task.st_nlink);
}

// The test, at the other end of stdin, may look at this process meanwhile.
static void wait_for_line(void)
{
    char line[16];
    puts("ready");
    fflush(stdout);
    if (read(0, line, sizeof line) < 0) exit(1);
}

static void act(const char *action)
{
    if (strcmp(action, "nothing") == 0) {
        puts(action);
    } else if (strcmp(action, "user-namespace") == 0) {
        result("unshare", unshare(CLONE_NEWUSER));
    } else if (strcmp(action, "own-namespace") == 0) {
        result("setns", setns(open("/proc/self/ns/mnt", O_RDONLY), CLONE_NEWNS));
    } else if (strcmp(action, "futex-refused") == 0) {
        filter_futex(SECCOMP_RET_ERRNO | EPERM);
    } else if (strcmp(action, "futex-kills") == 0) {
        filter_futex(SECCOMP_RET_KILL_PROCESS);
    } else if (strcmp(action, "threads") == 0) {
        say_threads();
        work();
        say_threads();
    } else if (strcmp(action, "nice") == 0) {
        result("setpriority", setpriority(PRIO_PROCESS, 0, 5));
        work();
        wait_for_line();
    } else if (strcmp(action, "identity") == 0) {
        result("setresgid", setresgid(65534, 65534, 65534));
        result("setresuid", setresuid(65534, 65534, 65534));
        work();
        wait_for_line();
    } else if (strcmp(action, "capabilities") == 0) {
        drop_capabilities();
        work();
        wait_for_line();
    } else if (strcmp(action, "others") == 0) {
        try_others();
    } else {
        exit(2);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    work();
    act(argv[1]);
    work();
    printf("%lu\n", sum);
    return 0;
}
