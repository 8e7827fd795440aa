// SPDX-License-Identifier: GPL-2.0-or-later
//
// LRU stack distances of what is absent from a cache, and of all that was ever touched, against plain lists.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/line_table.h"
#include "engine/cache/absent_lines.h"
#include "engine/cache/late_reuses.h"
#include "engine/cache/touched_lines.h"
#include "engine/why/distances.h"
#include "runs.h"

namespace bd {
namespace {

// Touches a line. How many others have been touched since it was.
std::optional<std::size_t> touch(std::vector<std::uint64_t>& order, std::uint64_t line) {
    std::optional<std::size_t> distance;
    const auto found = std::ranges::find(order, line);
    if (found != order.end()) {
        distance = static_cast<std::size_t>(order.end() - found) - 1;
        order.erase(found);
    }
    order.push_back(line);
    return distance;
}

void expect_equal(const Reuse& reuse, const std::optional<std::size_t>& distance) {
    if (distance) {
        ASSERT_EQ(reuse.distance, *distance);
        EXPECT_NE(reuse.last_touch, 0u);
    } else {
        ASSERT_EQ(reuse.distance, Reuse::kFirstTouch);
        EXPECT_EQ(reuse.last_touch, 0u);
    }
}

// Neighbours, and lines far away from each other, the last one too.
std::uint64_t random_line(std::mt19937_64& random, std::uint64_t lines) {
    const std::uint64_t line = random() % lines;
    return random() % 4 == 0 ? ~std::uint64_t{0} / 64 - line * 4096 : line;
}

// A cache of any replacement whatever; times may be later than the lines have room for, as I1's are at a miss.
void expect_absent_lines_equal(unsigned seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const std::uint64_t lines = 2 + random() % 60;
    AbsentLines absent({.fewest_times = 1 + random() % 300});
    std::vector<TouchTime> times(1 + random() % 40);
    std::vector<std::uint64_t> held(times.size(), ~std::uint64_t{0});
    std::vector<std::uint64_t> order;
    TouchTime clock = 0;
    unsigned renumberings = 0;
    for (unsigned i = 0; i < 3000; ++i) {
        const std::uint64_t line = random_line(random, lines);
        const auto found = std::ranges::find(held, line);
        auto slot = static_cast<std::size_t>(found - held.begin());
        const std::optional<std::size_t> distance = touch(order, line);
        if (found == held.end()) {
            if (clock >= absent.last_time()) {
                absent.renumber(std::span(times), &clock);
                ++renumberings;
            }
            slot = random() % held.size();
            const Reuse reuse = absent.load(LineNumber{line}, std::span<const TouchTime>(times));
            ASSERT_NO_FATAL_FAILURE(expect_equal(reuse, distance));
            if (times[slot] != 0) absent.evict(LineNumber{held[slot]}, times[slot]);
            held[slot] = line;
        }
        clock += static_cast<TouchTime>(1 + (random() % 50 == 0 ? random() % 2000000 : 0));
        times[slot] = clock;
        if (random() % 30 == 0) {
            slot = random() % held.size();
            if (times[slot] != 0) absent.leave(LineNumber{held[slot]}, times[slot]);
            times[slot] = 0;
            held[slot] = ~std::uint64_t{0};
        }
        if (random() % 1000 == 0) {
            absent.clear();
            order.clear();
            std::ranges::fill(times, TouchTime{0});
            std::ranges::fill(held, ~std::uint64_t{0});
        }
    }
    EXPECT_GT(renumberings, 0u);
}

TEST(AbsentLines, HaveTheDistancesOfAList) {
    for (unsigned seed = 0; seed < test::runs(60) && !testing::Test::HasFailure(); ++seed) {
        expect_absent_lines_equal(seed);
    }
}

// The same, but each answer may come later; and touches of slots that have become old are reported and counted.
void expect_late_reuses_equal(unsigned seed, std::size_t* old_touches) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::vector<TouchTime> times(1 + random() % 80);
    const std::uint64_t lines = 2 + random() % (times.size() * 4);
    LateReuses late({.fewest_times = 1 + random() % 3000}, times.size());
    std::vector<std::uint64_t> held(times.size(), ~std::uint64_t{0});
    std::vector<bool> is_forgotten(times.size());
    std::vector<std::uint64_t> order;
    std::vector<std::optional<std::size_t>> wanted;
    std::vector<Reuse> found;
    const auto set = [&](std::uint32_t miss, const Reuse& reuse) { found.at(miss) = reuse; };
    TouchTime clock = 0;
    std::size_t renumberings = 0;
    const auto settle = [&] {
        late.settle(set);
        for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NO_FATAL_FAILURE(expect_equal(found[i], wanted[i]));
        wanted.clear();
        found.clear();
    };
    for (unsigned i = 0; i < 4000; ++i) {
        if (random() % 100 == 0) {
            ASSERT_NO_FATAL_FAILURE(settle());
        }
        if (wanted.empty() && clock >= late.last_time()) {
            late.renumber(std::span(times), &clock);
            ++renumberings;
        }
        // Some lines are touched more often than others.
        const std::uint64_t line = random_line(random, random() % 2 == 0 ? lines : 1 + lines / 4);
        const auto at = std::ranges::find(held, line);
        auto slot = static_cast<std::size_t>(at - held.begin());
        const std::optional<std::size_t> distance = touch(order, line);
        ++clock;
        if (at == held.end()) {
            slot = random() % held.size();
            if (random() % 2 == 0) slot = static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
            wanted.push_back(distance);
            found.emplace_back();
            if (late.is_due()) late.age(times, clock, set, [&](std::uint32_t old) { is_forgotten[old] = true; });
            const LineNumber evicted = times[slot] == 0 ? kNoLine : LineNumber{held[slot]};
            late.load(static_cast<std::uint32_t>(wanted.size() - 1), LineNumber{line}, static_cast<std::uint32_t>(slot),
                      evicted, times, set);
            held[slot] = line;
        } else {
            ASSERT_EQ(late.is_old(times[slot]), is_forgotten[slot]);
            if (late.is_old(times[slot])) {
                late.touch_old(times[slot], set);
                ++*old_touches;
            }
        }
        is_forgotten[slot] = false;
        times[slot] = clock;
        if (random() % 1000 == 0) {
            ASSERT_NO_FATAL_FAILURE(settle());
            late.clear();
            order.clear();
            std::ranges::fill(times, TouchTime{0});
            std::ranges::fill(held, ~std::uint64_t{0});
            is_forgotten.assign(times.size(), false);
        }
    }
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_GT(renumberings, 0u);
}

TEST(LateReuses, HaveTheDistancesOfAList) {
    std::size_t old_touches = 0;
    const unsigned seeds = test::runs(60);
    for (unsigned seed = 0; seed < seeds && !testing::Test::HasFailure(); ++seed) {
        expect_late_reuses_equal(seed, &old_touches);
    }
    EXPECT_GT(old_touches, seeds * 10);
}

TEST(TouchedLines, HaveTheCausesOfAList) {
    for (unsigned seed = 0; seed < test::runs(60) && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 random(seed);
        const auto room = static_cast<std::uint32_t>(1 + random() % 40);
        TouchedLines touched(room, {.fewest_times = 1 + random() % 300 / (1 + seed % 2 * 299)});
        std::vector<std::uint64_t> order;
        for (unsigned i = 0; i < 3000; ++i) {
            const std::uint64_t line = random_line(random, 2 + seed * 3);
            const bool misses = random() % 2 == 0;
            const std::optional<std::size_t> distance = touch(order, line);
            const Cause cause = touched.touch(LineNumber{line}, misses);
            if (misses) {
                ASSERT_EQ(cause, !distance          ? Cause::kFirst
                                 : *distance < room ? Cause::kConflict
                                                    : Cause::kCapacity);
            }
            if (random() % 1000 == 0) {
                touched.clear();
                order.clear();
            }
        }
    }
}

TEST(LineTable, FindsAgainWhatItHasHoweverManyRegionsThereAre) {
    LineTable<TouchTime> times;
    for (std::uint64_t i = 0; i < 3000; ++i) {
        TouchTime& time = times[LineNumber{i * 5000}];
        EXPECT_EQ(time, 0u);
        time = static_cast<TouchTime>(i + 1);
    }
    for (std::uint64_t i = 0; i < 3000; ++i) EXPECT_EQ(times[LineNumber{i * 5000}], i + 1);
    std::uint64_t sum = 0;
    times.for_each([&](TouchTime time) { sum += time; });
    EXPECT_EQ(sum, 3000u * 3001 / 2);
    times.clear();
    EXPECT_EQ(times[LineNumber{5000}], 0u);
}

TEST(Reuse, ConflictsAreWhatAFullyAssociativeCacheWouldHit) {
    EXPECT_EQ((Reuse{}.cause(8)), Cause::kFirst);
    EXPECT_EQ((Reuse{7, 1}.cause(8)), Cause::kConflict);
    EXPECT_EQ((Reuse{8, 1}.cause(8)), Cause::kCapacity);
}

// Whole powers of two are easy; between them, the fourth power tells.
TEST(Distances, BucketsAreQuarterPowersOfTwo) {
    for (unsigned log = 0; log < 32; ++log) {
        EXPECT_EQ(Distances::bucket_of(1u << log), 1 + 4 * log);
        if (log > 2) {
            EXPECT_EQ(Distances::bucket_of((1u << log) - 1), 4 * log);
        }
    }
    const auto fourth_power = [](std::uint32_t distance) {
        const auto number = static_cast<unsigned __int128>(distance);
        return number * number * number * number;
    };
    std::mt19937 random(1);
    for (unsigned i = 0; i < 20000; ++i) {
        const auto distance = static_cast<std::uint32_t>((random() | 1) >> random() % 32);
        if (distance == 0) continue;
        const unsigned bucket = Distances::bucket_of(distance);
        EXPECT_GE(fourth_power(distance) >> (bucket - 1), 1u) << distance;
        EXPECT_EQ(fourth_power(distance) >> (bucket - 1) >> 1, 0u) << distance;
    }
    EXPECT_EQ(Distances::bucket_of(0), 1u);
    EXPECT_EQ(Distances::bucket_of(~std::uint32_t{0} - 1), 128u);
}

}  // namespace
}  // namespace bd
