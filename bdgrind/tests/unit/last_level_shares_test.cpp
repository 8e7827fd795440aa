// SPDX-License-Identifier: GPL-2.0-or-later
//
// How cores share LL, counted by hand. Random runs are compared with a naive simulation in oracle_test.cpp.

#include "engine/cache/last_level_shares.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "cache_fixture.h"

namespace bd {
namespace {

using test::line;

// Counts as {lines, again}.
std::vector<std::uint64_t> evicted_lines(const LastLevelShares& shares, std::uint32_t evictor, std::uint32_t core) {
    return {shares.evicted(evictor, core).lines, shares.evicted(evictor, core).again};
}

// A line is loaded from memory into a slot.
void load_into(LastLevelShares* shares, std::uint32_t core, std::size_t slot, std::uint64_t number,
               LineNumber evicted = kNoLine, bool is_counted = true) {
    shares->load(core, line(number), is_counted);
    shares->put(core, core, slot, evicted, is_counted);
}

TEST(LastLevelSharesTest, EachCoreHoldsWhatItHasLoaded) {
    LastLevelShares shares(4, 2);
    load_into(&shares, 0, 0, 10);            // 1 line of core 0
    load_into(&shares, 0, 1, 11);            // 2
    load_into(&shares, 1, 2, 12);            // 2 and 1 of core 1
    load_into(&shares, 1, 0, 13, line(10));  // 1 and 2
    EXPECT_EQ(shares.puts(0), 2u);
    EXPECT_EQ(shares.puts(1), 2u);
    EXPECT_EQ(shares.held(0), 1u + 2 + 2 + 1);
    EXPECT_EQ(shares.held(1), 0u + 0 + 1 + 2);
}

TEST(LastLevelSharesTest, ALineThatItsCoreLoadsNextIsLoadedAgain) {
    LastLevelShares shares(1, 3);
    load_into(&shares, 0, 0, 10);
    load_into(&shares, 1, 0, 11, line(10));
    load_into(&shares, 0, 0, 10, line(11));  // again
    load_into(&shares, 2, 0, 12, line(10));
    load_into(&shares, 1, 0, 10, line(12));  // by another core
    load_into(&shares, 0, 0, 13, line(10));
    load_into(&shares, 0, 0, 10, line(13));  // it was no longer core 0's
    EXPECT_EQ(evicted_lines(shares, 1, 0), (std::vector<std::uint64_t>{1, 1}));
    EXPECT_EQ(evicted_lines(shares, 0, 1), (std::vector<std::uint64_t>{2, 0}));
    EXPECT_EQ(evicted_lines(shares, 2, 0), (std::vector<std::uint64_t>{1, 0}));
    EXPECT_EQ(evicted_lines(shares, 1, 2), (std::vector<std::uint64_t>{1, 0}));
    EXPECT_EQ(evicted_lines(shares, 0, 0), (std::vector<std::uint64_t>{1, 0}));
}

TEST(LastLevelSharesTest, WhatIsNotCountedChangesWhoHasWhat) {
    LastLevelShares shares(2, 2);
    load_into(&shares, 0, 0, 10);
    load_into(&shares, 1, 0, 11, line(10), false);
    load_into(&shares, 0, 1, 10);  // its eviction was not counted
    EXPECT_EQ(evicted_lines(shares, 1, 0), (std::vector<std::uint64_t>{0, 0}));
    EXPECT_EQ(shares.puts(1), 0u);
    EXPECT_EQ(shares.held(0), 1u + 1);
    EXPECT_EQ(shares.held(1), 1u);
    load_into(&shares, 1, 1, 12, line(10));
    load_into(&shares, 0, 0, 10, line(11), false);  // loaded again while nothing is counted
    EXPECT_EQ(evicted_lines(shares, 1, 0), (std::vector<std::uint64_t>{1, 0}));
}

TEST(LastLevelSharesTest, LinesLeaveWithoutBeingEvicted) {
    LastLevelShares shares(3, 2);
    load_into(&shares, 0, 0, 10);
    load_into(&shares, 0, 1, 11);
    shares.take(0);
    load_into(&shares, 1, 0, 12);
    EXPECT_EQ(shares.held(0), 1u + 2 + 1);
    shares.clear_lines();
    load_into(&shares, 1, 2, 13);
    EXPECT_EQ(shares.held(0), 4u);
    EXPECT_EQ(shares.held(1), 1u + 1);
    EXPECT_EQ(evicted_lines(shares, 1, 0), (std::vector<std::uint64_t>{0, 0}));
}

TEST(LastLevelSharesTest, WithEmptyCachesNothingIsLoadedAgain) {
    LastLevelShares shares(1, 2);
    load_into(&shares, 0, 0, 10);
    load_into(&shares, 1, 0, 11, line(10));
    shares.clear_lines();
    load_into(&shares, 0, 0, 10);
    EXPECT_EQ(evicted_lines(shares, 1, 0), (std::vector<std::uint64_t>{1, 0}));
}

TEST(LastLevelSharesTest, ZeroedCountsBeginAgainWithTheLinesThatAreThere) {
    LastLevelShares shares(2, 2);
    load_into(&shares, 0, 0, 10);
    load_into(&shares, 0, 1, 11);
    shares.clear_counts();
    EXPECT_EQ(shares.puts(0), 0u);
    EXPECT_EQ(shares.held(0), 0u);
    load_into(&shares, 1, 1, 12, line(11));
    EXPECT_EQ(shares.held(0), 1u);
    EXPECT_EQ(shares.held(1), 1u);
    EXPECT_EQ(evicted_lines(shares, 1, 0), (std::vector<std::uint64_t>{1, 0}));
}

// With an exclusive LL, a line is that of the core whose L2 it has left.
TEST(LastLevelSharesTest, AnotherCoreThanTheOneThatRunsMayOwnTheLine) {
    LastLevelShares shares(1, 3);
    shares.put(0, 1, 0, kNoLine, true);
    shares.put(0, 2, 0, line(10), true);
    EXPECT_EQ(shares.puts(0), 0u);
    EXPECT_EQ(shares.puts(1), 1u);
    EXPECT_EQ(shares.held(1), 1u);
    EXPECT_EQ(evicted_lines(shares, 0, 1), (std::vector<std::uint64_t>{1, 0}));
    shares.load(1, line(10), true);
    EXPECT_EQ(evicted_lines(shares, 0, 1), (std::vector<std::uint64_t>{1, 1}));
}

}  // namespace
}  // namespace bd
