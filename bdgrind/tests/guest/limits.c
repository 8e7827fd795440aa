// SPDX-License-Identifier: GPL-2.0-or-later
//
// build: -O1
//
// limits MEGABYTES CALLS: limits its own address space, then makes so many calls and says what came of them. With a
// dynamic linker and stdio, so that Valgrind, too, needs more memory after that.

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { kBytes = 65536 };
static unsigned char bytes[kBytes];

__attribute__((noinline)) static unsigned long step(unsigned long sum, unsigned long i)
{
    unsigned char *byte = &bytes[i * 64 % kBytes];
    *byte = (unsigned char)(*byte + i);
    return sum * 31 + *byte;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    const rlim_t limit = strtoul(argv[1], NULL, 10) << 20;
    const struct rlimit both = {limit, limit};
    if (setrlimit(RLIMIT_AS, &both) != 0) return 3;
    const unsigned long calls = strtoul(argv[2], NULL, 10);
    unsigned long sum = 0;
    for (unsigned long i = 0; i < calls; ++i) sum = step(sum, i);
    char *const text = malloc(100);
    if (text == NULL) return 4;
    snprintf(text, 100, "%lu", sum);
    return puts(text) >= 0 && fflush(stdout) == 0 ? 0 : 5;
}
