// SPDX-License-Identifier: GPL-2.0-or-later
//
// A column of a wide table of bytes, in main: each element in another page; with -DREPAIRED, on huge pages.

#include <cstdio>
#include <sys/mman.h>

constexpr unsigned long kWidth = 4096 + 64;
constexpr unsigned long kHeight = 4096;
constexpr unsigned long kHuge = 2UL << 20;

int main() {
    const unsigned long size = kWidth * kHeight + kHuge;
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    auto* const table = static_cast<unsigned char*>(memory) + kHuge - reinterpret_cast<unsigned long>(memory) % kHuge;
#ifdef REPAIRED
    madvise(table, kWidth * kHeight, MADV_HUGEPAGE);
#else
    madvise(table, kWidth * kHeight, MADV_NOHUGEPAGE);
#endif
    unsigned long sum = 0;
    for (int step = 0; step < 16; ++step) {
        for (unsigned long row = 0; row < kHeight; ++row) sum += table[row * kWidth]++;
    }
    std::printf("%lu\n", sum);
}
