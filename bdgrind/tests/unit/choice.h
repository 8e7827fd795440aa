// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a test chooses at random: the same for the same seed.

#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace bd::test {

class Choice {
public:
    explicit Choice(unsigned seed) : random_(seed) {}

    std::uint64_t any() { return random_(); }
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    std::uint64_t between(std::uint64_t first, std::uint64_t last) { return first + below(last - first + 1); }
    bool chance(unsigned percent) { return below(100) < percent; }
    template <class T>
    const T& one_of(const std::vector<T>& choice) {
        return choice[below(choice.size())];
    }

private:
    std::mt19937_64 random_;
};

}  // namespace bd::test
