// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/processors.h"

#include <gtest/gtest.h>

namespace bd {
namespace {

constexpr long kTooFew = 22;

// A kernel that is made for so many processors, of which the process may use every `step`th.
std::size_t count(std::size_t possible, std::size_t step) {
    return count_processors(
        [=](std::span<std::uint64_t> words) {
            const std::size_t needed = (possible + 63) / 64;
            if (words.size() < needed) return -kTooFew;
            for (std::size_t i = 0; i < possible; i += step) words[i / 64] |= std::uint64_t{1} << i % 64;
            return static_cast<long>(needed * 8);
        },
        kTooFew);
}

TEST(Processors, AreCountedHoweverManyTheKernelKnows) {
    EXPECT_EQ(count(1, 1), 1u);
    EXPECT_EQ(count(1024, 1), 1024u);
    EXPECT_EQ(count(1025, 1), 1025u);
    EXPECT_EQ(count(8192, 2), 4096u);
    EXPECT_EQ(count(1'000'000, 1), 1'000'000u);
}

TEST(Processors, ThereIsOneWhereTheKernelRefuses) {
    EXPECT_EQ(count_processors([](std::span<std::uint64_t>) { return -38L; }, kTooFew), 1u);
    EXPECT_EQ(count_processors([](std::span<std::uint64_t>) { return -kTooFew; }, kTooFew), 1u);
}

}  // namespace
}  // namespace bd
