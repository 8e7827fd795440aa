// SPDX-License-Identifier: GPL-2.0-or-later
//
// Does what its first argument says, a letter at a time:
//
//   a to z    touch(): reads a byte each of 1 to 26 lines that were never read before
//   0 to 9    makes a client request: the first of the group that the second argument names, as BD, or one of those
//             behind it. A group that does not exist makes the same program that asks for nothing.
//   ( ... )   does this one level down: level0 calls level1, which calls level2
//   < ... >   does this in one more call of the same level
//   !         bump(): an atomic instruction
//   ~         nap(): one system call, that takes 20 ms
//   *         wait_for_input(): runs on the spot until there is something to read, or its end, on standard input
//   F ... |   forks; this is for the parent, which waits first, and what comes then for the child
//
// What is read at all is in the LL before level0 begins (no jump tables, therefore), but for the lines that touch()
// reads. So the LL read misses of a call are the lines that are touched in it.
//
// x86: no (instructions of 64 bits)
// build: -O1 -fno-inline -fno-optimize-sibling-calls -fno-ipa-cp -fno-jump-tables -static

#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bdgrind.h"

enum { kLine = 64, kLines = 4096 };

static _Alignas(4096) volatile char lines[kLines * kLine];
static volatile char *fresh;  // the first line that was never read
static unsigned long group;

static void touch(volatile char *first, long count)
{
    for (long i = 0; i < count; ++i)
        first[i * kLine];
}

static void request(unsigned long number)
{
    VALGRIND_DO_CLIENT_REQUEST_STMT(group + number, "half\nway", 0, 0, 0, 0);
}

#define ALWAYS_INLINE static inline __attribute__((always_inline))

// Without functions of the library, which might make further calls.
#if defined(__x86_64__)

static void bump(void)
{
    static int count;
    __asm__ volatile("lock incl %0" : "+m"(count));
}

ALWAYS_INLINE long system_call(long number, const void *first, long second, const void *third)
{
    register long fourth __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(first), "S"(second), "d"(third), "r"(fourth)
                     : "rcx", "r11", "memory");
    return number;
}

#elif defined(__aarch64__)

static void bump(void)
{
    static int count;
    __asm__ volatile(".arch_extension lse\n\tldadd %w1, wzr, %0" : "+Q"(count) : "r"(1));
}

ALWAYS_INLINE long system_call(long number, const void *first, long second, const void *third)
{
    register long n __asm__("x8") = number, a __asm__("x0") = (long)first, b __asm__("x1") = second;
    register long c __asm__("x2") = (long)third, d __asm__("x3") = 0;
    __asm__ volatile("svc #0" : "+r"(a) : "r"(n), "r"(b), "r"(c), "r"(d) : "memory");
    return a;
}

#endif

static void nap(void)
{
    static const struct timespec time = {0, 20 * 1000 * 1000};
    system_call(SYS_nanosleep, &time, 0, NULL);
}

static void wait_for_input(void)
{
    static const struct timespec at_once = {0, 0};
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    long result;
    do {
        for (volatile int i = 0; i < 1000; ++i) {}
        result = system_call(SYS_ppoll, &input, 1, &at_once);
    } while (result == 0);
}

// Returns where the parent, or the child, goes on.
static const char *split(const char *text)
{
    pid_t child = fork();
    if (child == 0)
        return strchr(text, '|');
    waitpid(child, NULL, 0);
    return text;
}

typedef const char *Level(const char *text);

// Returns the end of what was done.
ALWAYS_INLINE const char *run(const char *text, Level *same, Level *next)
{
    for (;; ++text) {
        if (*text >= 'a' && *text <= 'z') {
            long count = *text - 'a' + 1;
            volatile char *first = fresh;
            fresh = first + count * kLine;
            touch(first, count);
        } else if (*text >= '0' && *text <= '9') {
            request((unsigned long)(*text - '0'));
        } else if (*text == '(') {
            text = next(text + 1);
        } else if (*text == '<') {
            text = same(text + 1);
        } else if (*text == '!') {
            bump();
        } else if (*text == '~') {
            nap();
        } else if (*text == '*') {
            wait_for_input();
        } else if (*text == 'F') {
            text = split(text);
        } else {
            return text;
        }
    }
}

static const char *level2(const char *text) { return run(text, level2, level2); }
static const char *level1(const char *text) { return run(text, level1, level2); }
static const char *level0(const char *text) { return run(text, level0, level1); }

int main(int count, char **arguments)
{
    if (count != 3)
        return 1;
    group = VG_USERREQ_TOOL_BASE((unsigned char)arguments[2][0], (unsigned char)arguments[2][1]);
    fresh = lines;
    if (arguments[1] + strlen(arguments[1]) < arguments[1])
        return 1;
    level0(arguments[1]);
    return 0;
}
