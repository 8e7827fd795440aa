// SPDX-License-Identifier: GPL-2.0-or-later
//
// The set of ticks, against a sorted set.

#include "engine/cache/tick_set.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "runs.h"

namespace bd {
namespace {

// How many are later than `tick`, and how many come before it.
std::size_t naive_behind(const std::set<std::uint64_t>& ticks, std::uint64_t tick) {
    return static_cast<std::size_t>(std::distance(ticks.upper_bound(tick), ticks.end()));
}
std::size_t naive_before(const std::set<std::uint64_t>& ticks, std::uint64_t tick) {
    return static_cast<std::size_t>(std::distance(ticks.begin(), ticks.lower_bound(tick)));
}

TEST(TickSet, CountsLikeASortedSet) {
    for (unsigned seed = 0; seed < test::runs(40); ++seed) {
        std::mt19937_64 random(seed);
        // In one place, in the neighbourhood of each border between counts, or all over.
        const std::uint64_t span = std::uint64_t{1} << (4 + random() % 22);
        const std::uint64_t base = random() % 3 == 0 ? 0 : (std::uint64_t{1} << (random() % 26)) - random() % 3;
        TickSet set(seed % 2 == 0 ? 1 : base + span);
        std::set<std::uint64_t> expected;
        for (unsigned i = 0; i < 2000; ++i) {
            const std::uint64_t tick = base + random() % span;
            if (expected.insert(tick).second) {
                set.insert(tick);
            } else if (random() % 2 == 0) {
                set.remove(tick);
                expected.erase(tick);
            }
            ASSERT_EQ(set.size(), expected.size());
            if (i % 8 != 0) continue;
            const std::uint64_t asked = (base + random() % span) % set.capacity();
            const std::size_t behind = naive_behind(expected, asked);
            ASSERT_EQ(set.count_behind(asked), behind) << "seed " << seed << ", tick " << asked;
            ASSERT_TRUE(set.has_behind(asked, behind)) << "seed " << seed << ", tick " << asked;
            ASSERT_FALSE(set.has_behind(asked, behind + 1)) << "seed " << seed << ", tick " << asked;
            const std::size_t limit = random() % (expected.size() + 1);
            ASSERT_EQ(set.has_behind(asked, limit), behind >= limit) << "seed " << seed << ", tick " << asked;
        }
        const std::uint64_t capacity = set.capacity();
        const TickRanks ranks = set.take_ranks();
        EXPECT_EQ(ranks.size(), expected.size());
        for (const std::uint64_t asked :
             {std::uint64_t{0}, base, base + span / 2, base + span, capacity, 2 * capacity}) {
            EXPECT_EQ(ranks.before(asked), naive_before(expected, asked)) << "seed " << seed << ", tick " << asked;
        }
        set.clear(64);
        EXPECT_EQ(set.size(), 0u);
        set.insert(63);
        EXPECT_EQ(set.count_behind(62), 1u);
        EXPECT_EQ(set.count_behind(63), 0u);
    }
}

// All words full: no count runs over into its neighbour.
TEST(TickSet, TakesEveryTick) {
    constexpr std::uint64_t kTicks = 3u << 17;
    TickSet set(kTicks);
    for (std::uint64_t tick = 0; tick < kTicks; ++tick) set.insert(tick);
    for (std::uint64_t tick = 0; tick < kTicks; tick += 61) ASSERT_EQ(set.count_behind(tick), kTicks - tick - 1);
    for (std::uint64_t tick = 1; tick < kTicks; tick += 2) set.remove(tick);
    for (std::uint64_t tick = 0; tick < kTicks; tick += 61) ASSERT_EQ(set.count_behind(tick), (kTicks - tick - 1) / 2);
}

// All at once as one by one.
TEST(TickSet, TakesTheFirstTicksAtOnce) {
    for (const std::uint64_t last : {0, 1, 62, 63, 64, 65, 1023, 1024, 5000, 1 << 16, (1 << 19) + 7}) {
        TickSet set(last + 1);
        TickSet expected(last + 1);
        set.insert_first(last);
        for (std::uint64_t tick = 1; tick <= last; ++tick) expected.insert(tick);
        ASSERT_EQ(set.size(), last);
        for (std::uint64_t tick = 0; tick < set.capacity(); tick += 1 + tick / 64) {
            ASSERT_EQ(set.count_behind(tick), expected.count_behind(tick)) << last << ", tick " << tick;
        }
        for (std::uint64_t tick = 1; tick <= last; ++tick) set.remove(tick);
        EXPECT_EQ(set.count_behind(0), 0u);
        EXPECT_EQ(set.take_ranks().size(), 0u);
    }
}

// What is noted between two ticks stays between them.
TEST(TickSet, RenumbersPointsOfTimeInOrder) {
    TickSet set(1000);
    for (const std::uint64_t tick : {10u, 20u, 500u}) set.insert(tick);
    const TickRanks ranks = set.take_ranks();
    EXPECT_EQ(ranks.renumbered(0), 0u);
    EXPECT_EQ(ranks.renumbered(9), 0u);
    EXPECT_EQ(ranks.renumbered(10), 1u);
    EXPECT_EQ(ranks.renumbered(19), 1u);
    EXPECT_EQ(ranks.renumbered(20), 2u);
    EXPECT_EQ(ranks.renumbered(500), 3u);
    EXPECT_EQ(ranks.renumbered(~TouchTime{0} - 1), 3u);
}

// As of slots that were touched when the set had room for less: what lies between them keeps its place.
TEST(TickSet, RanksCountTicksThatTheSetHasNoRoomFor) {
    TickSet set(4096);
    set.insert(5);
    const std::vector<TouchTime> more{0, 100000, 7};
    const TickRanks ranks = set.take_ranks(more);
    EXPECT_EQ(ranks.size(), 3u);
    EXPECT_EQ(ranks.renumbered(6), 1u);
    EXPECT_EQ(ranks.renumbered(99999), 2u);
    EXPECT_EQ(ranks.renumbered(100000), 3u);
    EXPECT_EQ(ranks.renumbered(200000), 3u);
}

}  // namespace
}  // namespace bd
