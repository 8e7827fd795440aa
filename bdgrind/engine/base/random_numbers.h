// SPDX-License-Identifier: GPL-2.0-or-later
//
// Random numbers that are the same in each run, and how options ask for them.

#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace bd {

// Knuth's linear congruential generator, whose upper bits are good.
class RandomNumbers {
public:
    explicit constexpr RandomNumbers(std::uint64_t seed) : state_(seed) {}

    // 0 to `count` - 1, equally likely.
    std::uint32_t below(std::uint32_t count) {
        state_ = state_ * 6364136223846793005 + 1442695040888963407;
        return static_cast<std::uint32_t>((state_ >> 32) * count >> 32);
    }

private:
    std::uint64_t state_;
};

inline constexpr std::string_view kRandomName = "random";

// Reads what follows kRandomName in the value of an option: nothing, which leaves the seed as it is, or a comma and a
// seed. Null if it is that, else what is wrong with it.
inline const char* parse_seed(std::string_view text, std::uint64_t* seed) {
    if (text.empty()) return nullptr;
    const char* const end = text.data() + text.size();
    if (text.front() == ',') {
        const auto [behind, error] = std::from_chars(text.data() + 1, end, *seed);
        if (error == std::errc{} && behind == end) return nullptr;
    }
    return "behind random, there can be a comma and a number";
}

}  // namespace bd
