// SPDX-License-Identifier: GPL-2.0-or-later
//
// One access in each of many pages, again and again; with -DREPAIRED, on huge pages.

#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/mman.h>

#ifndef SIZE
#define SIZE 4096
#endif
#ifndef STEPS
#define STEPS 16
#endif
#define PAGE 4096UL
#define HUGE (2UL << 20)

__attribute__((noipa)) static unsigned long work(const unsigned char* pages) {
    unsigned long sum = 0;
    // The line within the page is another one in each, so that all sets of the cache are used.
    for (unsigned long i = 0; i < SIZE; ++i) sum += pages[i * (PAGE + 64)];
    return sum;
}

int main(void) {
    const unsigned long size = SIZE * (PAGE + 64) + HUGE;
    unsigned char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    memory += HUGE - (unsigned long)memory % HUGE;
#ifdef REPAIRED
    madvise(memory, size - HUGE, MADV_HUGEPAGE);
#else
    madvise(memory, size - HUGE, MADV_NOHUGEPAGE);
#endif
    for (unsigned long i = 0; i < SIZE; ++i) memory[i * (PAGE + 64)] = (unsigned char)i;
    unsigned long sum = 0;
    for (int step = 0; step < STEPS; ++step) sum += work(memory);
    printf("%lu\n", sum);
}
