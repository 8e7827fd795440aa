// SPDX-License-Identifier: GPL-2.0-or-later
//
// What several cores load: by hand, and random loads compared with what their whole history says.

#include "engine/sharing/core_loads.h"

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "choice.h"

namespace bd {
namespace {

using LoadKey = std::tuple<unsigned, std::uint32_t, std::uint32_t>;  // core, instruction, group
struct LoadCounts {
    std::uint64_t pages = 0;
    std::uint64_t lines = 0;
    std::uint64_t second = 0;
    std::uint64_t further = 0;
    std::map<unsigned, std::uint64_t> misses;
    bool operator==(const LoadCounts&) const = default;
};

void note_load(CoreLoads* loads, unsigned core, Address address, bool misses, std::uint32_t instruction,
               std::uint32_t group = 0, bool is_counted = true) {
    loads->load(static_cast<std::uint8_t>(core), address, misses, [&]() -> CoreLoads::Charged {
        if (!is_counted) return {};
        return {.instruction = CostId{instruction}, .group = group, .is_counted = true};
    });
}

std::map<LoadKey, LoadCounts> load_counts(const CoreLoads& loads) {
    std::map<LoadKey, LoadCounts> found;
    for (const CoreLoad& row : loads.rows()) {
        if (row.is_nothing()) continue;
        LoadCounts& counts = found[{row.core, index_of(row.instruction), row.group}];
        counts.pages += row.pages;
        counts.lines += row.lines;
        counts.second += row.second;
        counts.further += row.further;
        for (const auto& [core, count] : row.misses) counts.misses[core] += count;
    }
    return found;
}

TEST(CoreLoadsTest, APageBelongsToWhatTouchesItFirst) {
    CoreLoads loads(6, true);
    note_load(&loads, 0, 0x5000, true, 1);
    note_load(&loads, 0, 0x5fff, true, 2);
    note_load(&loads, 1, 0x5040, true, 3);
    note_load(&loads, 1, 0x6000, true, 3);
    const std::map<LoadKey, LoadCounts> found = load_counts(loads);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found.at({0, 1, 0}), (LoadCounts{1, 1, 0, 0, {{0, 2}, {1, 1}}}));
    EXPECT_EQ(found.at({0, 2, 0}), (LoadCounts{0, 1, 0, 0, {}}));
    EXPECT_EQ(found.at({1, 3, 0}), (LoadCounts{1, 2, 0, 0, {{1, 1}}}));
}

TEST(CoreLoadsTest, EachCoreLoadsALineForTheFirstTimeOnce) {
    CoreLoads loads(6, true);
    for (int round = 0; round < 3; ++round) {
        for (unsigned core = 0; core < 4; ++core) note_load(&loads, core, 0x1000 + 8 * core, false, 7);
    }
    const std::map<LoadKey, LoadCounts> found = load_counts(loads);
    EXPECT_EQ(found.at({0, 7, 0}), (LoadCounts{1, 1, 0, 0, {}}));
    EXPECT_EQ(found.at({1, 7, 0}), (LoadCounts{0, 0, 1, 0, {}}));
    EXPECT_EQ(found.at({3, 7, 0}), (LoadCounts{0, 0, 0, 1, {}}));
}

TEST(CoreLoadsTest, WhereAllShareOneSetOfCachesLinesAreNotNoted) {
    CoreLoads loads(6, false);
    note_load(&loads, 0, 0x1000, true, 7);
    note_load(&loads, 1, 0x1000, true, 7);
    EXPECT_EQ(load_counts(loads).at({0, 7, 0}), (LoadCounts{1, 0, 0, 0, {{0, 1}, {1, 1}}}));
}

TEST(CoreLoadsTest, WhatHasNoRoomIsInARowOfItsCore) {
    CoreLoads loads(6, true, 2);
    for (std::uint32_t instruction = 1; instruction <= 100; ++instruction) {
        note_load(&loads, instruction % 2, 0x1000 * Address{instruction}, true, instruction);
    }
    EXPECT_EQ(loads.rows().size(), 4u);
    std::uint64_t pages = 0;
    std::uint64_t misses = 0;
    for (const auto& [key, counts] : load_counts(loads)) {
        pages += counts.pages;
        for (const auto& [core, count] : counts.misses) {
            EXPECT_EQ(core, std::get<0>(key));
            misses += count;
        }
    }
    EXPECT_EQ(pages, 100u);
    EXPECT_EQ(misses, 100u);
}

TEST(CoreLoadsTest, WhatIsNotCountedTouchesAllTheSame) {
    CoreLoads loads(6, true);
    note_load(&loads, 0, 0x1000, true, 1, 0, false);
    note_load(&loads, 1, 0x1000, true, 2);
    const std::map<LoadKey, LoadCounts> found = load_counts(loads);
    EXPECT_EQ(found.at({0, 0, 0}), (LoadCounts{1, 0, 0, 0, {{1, 1}}}));
    EXPECT_EQ(found.at({1, 2, 0}), (LoadCounts{0, 0, 1, 0, {}}));
}

TEST(CoreLoadsTest, ZeroedCountsBeginAgainButPagesStayTouched) {
    CoreLoads loads(6, true);
    note_load(&loads, 0, 0x1000, true, 1);
    loads.clear_counts_if([](CostId instruction) { return instruction == CostId{1}; });
    EXPECT_TRUE(load_counts(loads).empty());
    note_load(&loads, 1, 0x1000, true, 2);
    const std::map<LoadKey, LoadCounts> found = load_counts(loads);
    EXPECT_EQ(found.at({0, 1, 0}), (LoadCounts{0, 0, 0, 0, {{1, 1}}}));
    EXPECT_EQ(found.at({1, 2, 0}), (LoadCounts{0, 0, 1, 0, {}}));
}

// Nothing but a list of all loads, which is asked again each time.
TEST(CoreLoadsTest, RandomLoadsAreWhatTheirHistorySays) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        test::Choice choice(seed);
        CoreLoads loads(6, true);
        struct Load {
            unsigned core;
            Address address;
            LoadKey charged;
        };
        std::vector<Load> history;
        std::map<LoadKey, LoadCounts> expected;
        for (int i = 0; i < 300; ++i) {
            const auto core = static_cast<unsigned>(choice.below(4));
            const Address address = 0x10000 + choice.below(3 * 4096);
            const auto instruction = static_cast<std::uint32_t>(1 + choice.below(3));
            const auto group = static_cast<std::uint32_t>(choice.below(2));
            const bool misses = choice.chance(50);
            const bool is_counted = !choice.chance(10);
            note_load(&loads, core, address, misses, instruction, group, is_counted);

            Load latest{core, address, is_counted ? LoadKey{core, instruction, group} : LoadKey{core, 0, 0}};
            std::set<unsigned> cores;
            const Load* first = nullptr;
            for (const Load& each : history) {
                if (each.address / 64 == address / 64) cores.insert(each.core);
                if (first == nullptr && each.address / 4096 == address / 4096) first = &each;
            }
            if (first == nullptr) {
                ++expected[latest.charged].pages;
                first = &latest;
            }
            if (is_counted && !cores.contains(core)) {
                LoadCounts& counts = expected[latest.charged];
                ++(cores.empty() ? counts.lines : cores.size() == 1 ? counts.second : counts.further);
            }
            if (is_counted && misses) ++expected[first->charged].misses[core];
            history.push_back(latest);
        }
        EXPECT_EQ(load_counts(loads), expected) << "seed " << seed;
    }
}

}  // namespace
}  // namespace bd
