// SPDX-License-Identifier: GPL-2.0-or-later
//
// pages ORDER MIB STEPS [huge]: visits a table of so many MiB (a power of two), a line at each step: "random" look-ups,
// a "chain", each of whose addresses is read from the line before, or "column", steps of 4160 bytes. With "huge", the
// table is on huge pages. Prints the seconds of the visits.

#include <sys/mman.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kWordsPerLine = 8;

std::uint64_t next_random(std::uint64_t x) {
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

// Links all lines in an order without a pattern: a linear congruence of full period.
void link(std::uint64_t* table, std::size_t lines) {
    for (std::size_t line = 0; line < lines; ++line) {
        table[line * kWordsPerLine] = ((line * 1664525 + 1013904223) & (lines - 1)) * kWordsPerLine;
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 4) {
        std::fputs("pages: ORDER MIB STEPS [huge]\n", stderr);
        return 1;
    }
    const char* const order = arguments[1];
    const std::size_t bytes = std::strtoull(arguments[2], nullptr, 10) << 20;
    const std::uint64_t steps = std::strtoull(arguments[3], nullptr, 10);
    void* const memory = std::aligned_alloc(2 << 20, bytes);
    if (memory == nullptr || madvise(memory, bytes, count > 4 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0) {
        std::perror("pages");
        return 1;
    }
    auto* const table = static_cast<std::uint64_t*>(memory);
    link(table, bytes / 64);
    const std::size_t mask = bytes / 8 - 1;
    std::uint64_t sum = 0;
    std::uint64_t at = 88172645463325252;
    const auto begin = std::chrono::steady_clock::now();
    if (std::strcmp(order, "random") == 0) {
        for (std::uint64_t i = 0; i < steps; ++i) {
            at = next_random(at);
            sum += table[at & mask & ~(kWordsPerLine - 1)];
        }
    } else if (std::strcmp(order, "chain") == 0) {
        at = 0;
        for (std::uint64_t i = 0; i < steps; ++i) at = table[at];
        sum = at;
    } else {
        at = 0;
        for (std::uint64_t i = 0; i < steps; ++i) {
            sum += table[at];
            at = (at + 4160 / 8) & mask & ~(kWordsPerLine - 1);
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("%llu %.3f s\n", static_cast<unsigned long long>(sum), took.count());
    return 0;
}
