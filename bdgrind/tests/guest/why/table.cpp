// SPDX-License-Identifier: GPL-2.0-or-later
//
// Look-ups of keys from a list in a large table, inlined into main; with -DREPAIRED, each is asked for ahead.

#include <cstdio>
#include <vector>

constexpr unsigned kSize = 1U << 18;
constexpr unsigned kAhead = 16;

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
        sum += table[keys[i] % kSize];
    }
    std::printf("%lu\n", sum);
}
