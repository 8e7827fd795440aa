// SPDX-License-Identifier: GPL-2.0-or-later
//
// How many processors a process may run on.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bd {

// As many as `ask` tells, at least 1. `ask` has the kernel's manners: it sets a bit for each in the words that it is
// given and returns how many bytes it has written, or a negative number; that too few words were given is -`too_few`.
template <class Ask>
std::size_t count_processors(Ask ask, long too_few) {
    constexpr std::size_t kMostWords = std::size_t{1} << 14;  // a million of them
    for (std::vector<std::uint64_t> words(16);; words.assign(words.size() * 4, 0)) {
        const long bytes = ask(std::span(words));
        if (bytes == -too_few && words.size() < kMostWords) continue;
        std::size_t count = 0;
        for (const std::uint64_t word : words) count += static_cast<std::size_t>(std::popcount(word));
        return bytes <= 0 || count == 0 ? 1 : count;
    }
}

}  // namespace bd
