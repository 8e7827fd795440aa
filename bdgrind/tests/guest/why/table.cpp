// SPDX-License-Identifier: GPL-2.0-or-later
//
// Look-ups of keys from a list in a large table, with some work on what is found, inlined into main; with -DREPAIRED,
// each is asked for ahead.

#include <cstdio>
#include <vector>

constexpr unsigned kSize = 1U << 18;
constexpr unsigned kAhead = 16;

static inline unsigned long mix(unsigned long key) {
    for (int round = 0; round < 6; ++round) {
        key ^= key >> 16;
        key *= 0x7feb352dU;
        key ^= key >> 15;
    }
    return key;
}

int main() {
    std::vector<unsigned> table(kSize, 3), keys(100000 + kAhead);
    unsigned chance = 1;
    for (unsigned& key : keys) {
        chance = chance * 1664525U + 1013904223U;
        key = chance >> 14;
    }
    unsigned long sum = 0;
    for (std::size_t i = 0; i + kAhead < keys.size(); ++i) {
#ifdef REPAIRED
        __builtin_prefetch(&table[keys[i + kAhead] % kSize]);
#endif
        sum += mix(table[keys[i] % kSize] + sum % 2) + mix(i);
    }
    std::printf("%lu\n", sum);
}
