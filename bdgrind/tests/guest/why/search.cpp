// SPDX-License-Identifier: GPL-2.0-or-later
//
// Searches in a tree for numbers at random: chains, but in another order each time. No order of its nodes helps much.

#include <cstdint>
#include <cstdio>
#include <map>

int main() {
    std::map<std::uint32_t, int> tree;
    std::uint32_t number = 1;
    const auto next = [&number] { return number = number * 1664525 + 1013904223; };
    for (int i = 0; i < 12000; ++i) tree[next()] = i;
    std::uint64_t sum = 0;
    for (int i = 0; i < 30000; ++i) {
        const auto found = tree.lower_bound(next());
        if (found != tree.end()) sum += static_cast<std::uint64_t>(found->second);
    }
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
