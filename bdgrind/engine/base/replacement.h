// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which line of a set leaves a cache when another one needs its place: the policies, and their names.
// docs/simulation.md has their rules.

#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/text_output.h"

namespace bd {

enum class ReplacementPolicy : std::uint8_t { kLru, kTreePlru, kBitPlru, kFifo, kRandom, kQuadAge, kLru3Plru4 };

// The ways that kLru3Plru4 is for: three trees of four.
inline constexpr std::uint32_t kTrees = 3;
inline constexpr std::uint32_t kTreeWays = 4;

// A policy that gives each line an age from 0 to 3, in the terms of its name, QLRU_Hxy_Mx_Rx_Ux.
struct QuadAges {
    std::uint8_t hit_at_3 = 0;      // the new age of a line of age 3 that is used
    std::uint8_t hit_at_2 = 0;      // and of one of age 2; younger ones get age 0
    std::uint8_t loaded = 0;        // the age of a line that is loaded
    std::uint8_t replace = 0;       // how a way is chosen: R
    std::uint8_t update = 0;        // how all lines grow older: U
    bool update_on_misses = false;  // only before a line is loaded, not after each access

    constexpr bool operator==(const QuadAges&) const = default;
};

struct Replacement {
    ReplacementPolicy policy = ReplacementPolicy::kLru;
    QuadAges ages{};         // of kQuadAge
    std::uint64_t seed = 0;  // of kRandom

    // Whether the line that leaves follows from when lines were loaded and last used, and from nothing else.
    constexpr bool follows_from_times() const {
        return policy != ReplacementPolicy::kBitPlru && policy != ReplacementPolicy::kQuadAge;
    }

    constexpr bool operator==(const Replacement&) const = default;
};

// Reads a policy's name. Null if it is one, else what is wrong with it; `*replacement` is then unchanged.
const char* parse_replacement(std::string_view text, Replacement* replacement);

// Writes the name, as parse_replacement() reads it.
void write_replacement(TextOutput& out, const Replacement& replacement);

}  // namespace bd
