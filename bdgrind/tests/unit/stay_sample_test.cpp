// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/why/stay_sample.h"

#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bd {
namespace {

StayKey by(unsigned loader, unsigned group = 0) {
    return {CostId{loader}, group};
}
StaySum sum(StayKey key, std::uint64_t stays, std::uint64_t unused, std::uint64_t late) {
    return {key, stays, unused, late, unused - late};
}
using StaySums = std::vector<StaySum>;

TEST(StaySample, BytesOfAnotherStayAreLate) {
    StaySample stays;
    stays.add(by(1), 640, 64, 0xff);
    EXPECT_EQ(stays.sums(), (StaySums{sum(by(1), 1, 56, 0)}));
    // Each has what the other one lacks: eight bytes.
    stays.add(by(2), 640, 64, 0xff00);
    EXPECT_EQ(stays.sums(), (StaySums{sum(by(1), 1, 56, 8), sum(by(2), 1, 56, 8)}));
    // Another line has nothing to do with it.
    stays.add(by(2), 704, 64, ~std::uint64_t{0});
    EXPECT_EQ(stays.sums(), (StaySums{sum(by(1), 1, 56, 8), sum(by(2), 2, 56, 8)}));
}

TEST(StaySample, ShortLinesHaveNoMoreBytes) {
    StaySample stays;
    stays.add(by(1), 16, 16, 0x3);
    EXPECT_EQ(stays.sums(), (StaySums{sum(by(1), 1, 14, 0)}));
}

// The first half belongs to an object that is gone, and what used it later is another one's.
TEST(StaySample, ALifeEndsWithTheObject) {
    StaySample stays;
    stays.add(by(1), 64, 64, 0xf);
    stays.end_life(32, 64);
    stays.add(by(2), 64, 64, 0xf0 | std::uint64_t{0xf} << 60);
    // Of the first stay's 60 bytes, four in the second half were used by the second stay. That one misses four bytes of
    // the first half that were used in a life that is over.
    EXPECT_EQ(stays.sums(), (StaySums{sum(by(1), 1, 60, 4), sum(by(2), 1, 56, 0)}));
    stays.end_life(0, 1u << 20);
    stays.add(by(1), 64, 64, ~std::uint64_t{0});
    EXPECT_EQ(stays.sums(), (StaySums{sum(by(1), 2, 60, 4), sum(by(2), 1, 56, 0)}));
}

// However few lines there are, and however large the object is.
TEST(StaySample, LinesBesideALargeObjectLiveOn) {
    for (const Address begin : {Address{64}, Address{6464}}) {
        StaySample stays;
        stays.add(by(1), 6400, 64, 0xff);
        stays.end_life(begin, 6400 - 64);
        stays.add(by(1), 6400, 64, 0xff00);
        EXPECT_EQ(stays.sums(), (StaySums{sum(by(1), 2, 112, 16)}));
    }
    // And where lines lie between.
    StaySample stays;
    stays.add(by(1), 6400, 64, 0xff);
    stays.end_life(64, 6400 - 1024);
    stays.add(by(1), 6400, 64, 0xff00);
    EXPECT_EQ(stays.sums(), (StaySums{sum(by(1), 2, 112, 16)}));
}

TEST(StaySample, ManyLoadersOfALineAreNotToldApart) {
    StaySample stays;
    for (unsigned i = 1; i <= StaySample::kMostLoaders + 5; ++i) stays.add(by(i), 64, 64, i == 1 ? 1 : 2);
    const StaySums sums = stays.sums();
    ASSERT_EQ(sums.size(), StaySample::kMostLoaders + 1);
    EXPECT_EQ(sums[0], sum({}, 5, 5 * 63, 5));
    EXPECT_EQ(sums[1], sum(by(1), 1, 63, 1));
}

// All stays, as they were.
struct Naive {
    struct Stay {
        StayKey key;
        std::vector<bool> used;
        std::vector<unsigned> life;  // of each byte, by number
    };
    std::map<Address, std::vector<Stay>> stays;
    std::map<Address, unsigned> lives;

    void add(const StayKey& key, Address address, std::uint64_t used) {
        Stay stay{key, {}, {}};
        for (unsigned i = 0; i < 64; ++i) {
            stay.used.push_back((used >> i & 1) != 0);
            stay.life.push_back(lives[address + i]);
        }
        stays[address].push_back(stay);
    }
    StaySums sums() const {
        std::map<StayKey, StaySum> sums;
        for (const auto& [address, all] : stays) {
            for (const Stay& stay : all) {
                StaySum& sum = sums[stay.key];
                sum.key = stay.key;
                ++sum.stays;
                for (unsigned i = 0; i < 64; ++i) {
                    if (stay.used[i]) continue;
                    ++sum.unused;
                    bool late = false;
                    for (const Stay& other : all) late |= other.used[i] && other.life[i] == stay.life[i];
                    ++(late ? sum.late : sum.never);
                }
            }
        }
        StaySums result;
        for (const auto& [key, each] : sums) result.push_back(each);
        return result;
    }
};

TEST(StaySample, EqualsAListOfAllStays) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937_64 random(seed);
        StaySample stays;
        Naive naive;
        for (unsigned i = 0; i < 100; ++i) {
            if (random() % 8 == 0) {
                const Address begin = 1024 + random() % 256;
                const std::uint64_t bytes = 1 + random() % (random() % 4 == 0 ? 2000 : 80);
                stays.end_life(begin, bytes);
                for (Address byte = begin; byte < begin + bytes; ++byte) ++naive.lives[byte];
                continue;
            }
            const Address line = 1024 + random() % 5 * 64;
            const std::uint64_t used = random() & random() & random() & random() & random() & random();
            const StayKey key = by(1 + static_cast<unsigned>(random() % 3), random() % 2);
            stays.add(key, line, 64, used);
            naive.add(key, line, used);
        }
        ASSERT_EQ(stays.sums(), naive.sums()) << "seed " << seed;
    }
}

// Of a hundred times too many lines, some are looked at from the beginning to the end, the others not at all.
TEST(StaySample, HasABound) {
    constexpr std::uint64_t kMost = 128;
    StaySample stays(kMost);
    EXPECT_EQ(stays.one_in(), 1u);
    for (unsigned round = 0; round < 3; ++round) {
        for (Address line = 0; line < 100 * kMost; ++line) {
            if (stays.has(line * 64)) stays.add(by(1), line * 64, 64, std::uint64_t{1} << round);
        }
    }
    EXPECT_EQ(stays.one_in(), 128u);
    const StaySums sums = stays.sums();
    ASSERT_EQ(sums.size(), 1u);
    const std::uint64_t lines = sums[0].stays / 3;
    EXPECT_LE(lines, kMost);
    EXPECT_GT(lines, kMost / 4);
    EXPECT_EQ(sums[0], sum(by(1), 3 * lines, 3 * 63 * lines, 3 * 2 * lines));
}

TEST(StaySample, ForgetsStaysButNotWhatWasUsed) {
    StaySample stays;
    stays.add(by(1), 64, 64, 0x1);
    stays.add(by(2), 64, 64, 0x1);
    stays.drop_if([](CostId loader) { return loader == CostId{1}; });
    EXPECT_EQ(stays.sums(), (StaySums{sum(by(2), 1, 63, 0)}));
    stays.clear_counts();
    EXPECT_EQ(stays.sums(), StaySums{});
    stays.add(by(2), 64, 64, 0x2);
    EXPECT_EQ(stays.sums(), (StaySums{sum(by(2), 1, 63, 1)}));
}

}  // namespace
}  // namespace bd
