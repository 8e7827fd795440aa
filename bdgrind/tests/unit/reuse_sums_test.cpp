// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/why/reuse_sums.h"

#include <map>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

namespace bd {
namespace {

ReuseKey key(unsigned missed, unsigned loaded_by, unsigned evicted_by, unsigned scope = 0, unsigned cause = 1) {
    return {CostId{missed}, CostId{loaded_by}, CostId{evicted_by}, scope, cause};
}

TEST(ReuseSums, AddsUpWhatHasTheSameKey) {
    ReuseSums sums;
    sums.add(key(1, 2, 3), 10, false, 1);
    sums.add(key(1, 2, 4), 1, false, 1);
    sums.add(key(1, 2, 3), 5, true, 4);
    ASSERT_EQ(sums.all().size(), 2u);
    EXPECT_EQ(sums.all()[0].key, key(1, 2, 3));
    EXPECT_EQ(sums.all()[0].misses, 5u);
    EXPECT_EQ(sums.all()[0].ll_misses, 4u);
    EXPECT_EQ(sums.all()[0].distance, 30u);
    EXPECT_EQ(sums.all()[1].misses, 1u);
}

TEST(ReuseSums, EveryPartOfTheKeyTellsApart) {
    ReuseSums sums;
    for (const ReuseKey& each : {key(1, 1, 1, 1, 1), key(2, 1, 1, 1, 1), key(1, 2, 1, 1, 1), key(1, 1, 2, 1, 1),
                                 key(1, 1, 1, 2, 1), key(1, 1, 1, 1, 2)}) {
        sums.add(each, 1, false, 1);
    }
    EXPECT_EQ(sums.all().size(), 6u);
}

// Twelve rows at most: six are rare, and forget who drove the line out; that leaves seven.
TEST(ReuseSums, RareOnesForgetWhoDroveOut) {
    ReuseSums sums(12);
    for (unsigned i = 1; i <= 12; ++i) {
        for (unsigned times = 0; times < (i <= 6 ? 2 : 100); ++times) sums.add(key(7, 8, i), 3, times == 0, 1);
    }
    EXPECT_EQ(sums.all().size(), 12u);
    sums.add(key(9, 9, 9), 2, false, 1);
    std::map<unsigned, std::uint64_t> by_who;
    for (const ReuseSum& sum : sums.all()) {
        if (sum.key.missed == CostId{7}) by_who[index_of(sum.key.evicted_by)] += sum.misses;
    }
    EXPECT_EQ(by_who, (std::map<unsigned, std::uint64_t>{
                          {0, 12}, {7, 100}, {8, 100}, {9, 100}, {10, 100}, {11, 100}, {12, 100}}));
    EXPECT_EQ(sums.all()[0].ll_misses, 6u);
    EXPECT_EQ(sums.all()[0].distance, 36u);
}

// The bound holds, nothing is lost, and what there is much of stays as it is.
// Of seven sums, the four rarest do not know any more who drove the line out; that leaves four, one too many for a
// quarter to be free, so the two rarest of these do not know who had loaded it, either.
TEST(ReuseSums, TheRarerHalfForgets) {
    ReuseSums sums(7);
    for (std::uint32_t i = 1; i <= 7; ++i) {
        sums.add({.missed = CostId{1}, .loaded_by = CostId{2}, .evicted_by = CostId{10 + i}}, 0, false, i);
    }
    sums.add({.missed = CostId{3}}, 0, false, 1);
    std::map<std::pair<CostId, CostId>, std::uint64_t> misses;
    for (const ReuseSum& sum : sums.all()) {
        if (sum.key.missed == CostId{1}) misses[{sum.key.loaded_by, sum.key.evicted_by}] = sum.misses;
    }
    EXPECT_EQ(misses, (std::map<std::pair<CostId, CostId>, std::uint64_t>{
                          {{CostId{2}, kNoCost}, 10}, {{kNoCost, kNoCost}, 11}, {{CostId{2}, CostId{17}}, 7}}));
}

TEST(ReuseSums, WhatHasForgottenAllIsOneSumForEachCause) {
    ReuseSums sums(4);
    for (std::uint32_t i = 1; i <= 4; ++i) sums.add({.missed = CostId{i}, .scope = i}, 5, true, 1);
    sums.add({.missed = CostId{9}}, 0, false, 1);
    ASSERT_EQ(sums.all().size(), 2u);
    EXPECT_EQ(sums.all()[0].key, ReuseKey{});
    EXPECT_EQ(sums.all()[0].misses, 4u);
    EXPECT_EQ(sums.all()[0].ll_misses, 4u);
    EXPECT_EQ(sums.all()[0].distance, 20u);
}

TEST(ReuseSums, HaveABoundAndLoseNothing) {
    constexpr std::size_t kMost = 64;
    ReuseSums sums(kMost);
    std::mt19937 random(1);
    std::uint64_t misses = 0;
    std::uint64_t ll_misses = 0;
    std::uint64_t distance = 0;
    std::map<unsigned, std::uint64_t> by_cause;
    for (unsigned i = 0; i < 20'000; ++i) {
        const auto below = [&random](unsigned limit) { return static_cast<std::uint32_t>(random() % limit); };
        const bool often = below(2) == 0;
        const ReuseKey each =
            often ? key(1 + below(3), 2, 3, 4, 2) : key(1 + below(40), below(40), below(40), below(40), 1 + below(3));
        const auto far = static_cast<std::uint32_t>(random());
        const bool misses_ll = random() % 3 == 0;
        sums.add(each, far, misses_ll, 1);
        ++misses;
        ll_misses += misses_ll;
        distance += far;
        ++by_cause[each.cause];
        ASSERT_LE(sums.all().size(), kMost);
    }
    std::uint64_t frequent = 0;
    for (const ReuseSum& sum : sums.all()) {
        misses -= sum.misses;
        ll_misses -= sum.ll_misses;
        distance -= sum.distance;
        by_cause[sum.key.cause] -= sum.misses;
        if (sum.key.evicted_by == CostId{3} && sum.key.scope == 4) frequent += sum.misses;
    }
    EXPECT_EQ(misses, 0u);
    EXPECT_EQ(ll_misses, 0u);
    EXPECT_EQ(distance, 0u);
    for (const auto& [cause, count] : by_cause) EXPECT_EQ(count, 0u) << cause;
    EXPECT_GT(frequent, 9'900u);
}

TEST(ReuseSums, DropWhatIsMeant) {
    ReuseSums sums;
    sums.add(key(1, 5, 5), 3, false, 1);
    sums.add(key(2, 5, 5), 4, false, 1);
    sums.drop_if([](CostId missed) { return missed == CostId{1}; });
    sums.add(key(1, 5, 5), 7, false, 1);
    sums.add(key(2, 5, 5), 4, false, 1);
    std::map<unsigned, std::uint64_t> misses;
    for (const ReuseSum& sum : sums.all()) misses[index_of(sum.key.missed)] += sum.misses;
    EXPECT_EQ(misses, (std::map<unsigned, std::uint64_t>{{1, 1}, {2, 2}}));
    sums.clear();
    EXPECT_TRUE(sums.all().empty());
    sums.add(key(1, 5, 5), 7, false, 1);
    EXPECT_EQ(sums.all().size(), 1u);
}

}  // namespace
}  // namespace bd
