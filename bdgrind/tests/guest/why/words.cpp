// SPDX-License-Identifier: GPL-2.0-or-later
//
// A table of words that the library has laid out: its nodes have padding, and fields that are used more than others,
// but nothing that this program could change.

#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_map>

int main() {
    std::unordered_map<std::string, int> counts;
    std::uint32_t number = 7;
    for (int i = 0; i < 60000; ++i) {
        number = number * 1664525 + 1013904223;
        ++counts["word" + std::to_string(number % 9000)];
    }
    std::printf("%zu\n", counts.size());
}
