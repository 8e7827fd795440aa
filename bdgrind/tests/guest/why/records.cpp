// SPDX-License-Identifier: GPL-2.0-or-later
//
// Records of a line, found by keys at random and added up in main; with -DREPAIRED, each begins with a line.

#include <cstdio>
#include <vector>

struct
#ifdef REPAIRED
    alignas(64)
#endif
        Record {
    unsigned long key = 1, values[7] = {1, 2, 3, 4, 5, 6, 7};
};

int main() {
    std::vector<Record> records(8192);
    unsigned long sum = 0;
    unsigned chance = 1;
    for (int i = 0; i < 50000; ++i) {
        chance = chance * 1664525U + 1013904223U;
        const Record& record = records[chance >> 19];
        sum += record.key;
        for (unsigned long value : record.values) sum += value ^ chance;
    }
    std::printf("%lu\n", sum);
}
