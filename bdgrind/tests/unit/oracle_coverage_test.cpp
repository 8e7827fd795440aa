// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the random runs of oracle_test.cpp cover, as an oracle is worth no more than that. Counted over many runs: a
// single one need not have everything.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "engine/cache/hierarchy.h"
#include "naive_engine.h"
#include "scenario.h"

namespace bd {
namespace {

using test::Counts;
using test::random_scenario;
using test::Scenario;
using test::with_cores;
using test::with_inclusive_ll;
using test::with_l2;
using test::with_objects;
using test::with_tlbs;

// What is compared by PrefetchersAreTheSame.
TEST(Oracle, TheGeneratedRunsCoverPrefetches) {
    for (const unsigned which : {1, 2, 4, 8}) {
        std::array<std::uint64_t, 2> used{};  // in LL, in L2
        std::array<std::uint64_t, 2> lost{};
        for (unsigned seed = 0; seed < 400; ++seed) {
            Scenario scenario = with_l2(random_scenario(seed), seed);
            const PrefetchRules rules{
                .adjacent = which == 1, .next = which == 8, .stream = which == 2, .stride = which == 4};
            const bool into_l2 = seed % 2 != 0;
            (into_l2 ? scenario.l2_prefetchers : scenario.prefetchers) = rules;
            const Counts totals = run_naively(scenario, scenario.records.size()).totals;
            const auto count = [&](Event code, Event data) { return totals[column(code)] + totals[column(data)]; };
            used[0] += count(Event::kIPfUse, Event::kDPfUse);
            lost[0] += count(Event::kIPfLoss, Event::kDPfLoss);
            used[1] += count(Event::kIPfUseL2, Event::kDPfUseL2);
            lost[1] += count(Event::kIPfLossL2, Event::kDPfLossL2);
        }
        for (const std::size_t level : {0, 1}) {
            EXPECT_GT(used[level], 20u) << which << ", level " << level;
            EXPECT_GT(lost[level], 20u) << which << ", level " << level;
        }
    }
}

// What is compared by AnInclusiveLastLevelIsTheSame: how many runs have other misses than without inclusion.
TEST(Oracle, TheGeneratedRunsCoverInclusion) {
    Counts runs{};
    for (unsigned seed = 0; seed < 400; ++seed) {
        Scenario scenario = with_inclusive_ll(random_scenario(seed), seed);
        const Counts totals = run_naively(scenario, scenario.records.size(), {}, 0, true).totals;
        scenario.caches.ll_inclusion = Inclusion::kNone;
        const Counts without = run_naively(scenario, scenario.records.size(), {}, 0, true).totals;
        for (std::size_t i = 0; i < kEventCount; ++i) runs[i] += totals[i] != without[i];
    }
    for (const Event event : {Event::kI1mr, Event::kD1mr, Event::kD1mw, Event::kI2mr, Event::kD2mr, Event::kILmr,
                              Event::kDLmr, Event::kI1conf, Event::kD1conf, Event::kSpLoss1, Event::kSpLoss2}) {
        EXPECT_GT(runs[column(event)], 40u) << kEvents[column(event)].name;
    }
}

// What is compared by PageMissesAreTheSame.
TEST(Oracle, TheGeneratedRunsCoverPageMisses) {
    Counts misses{};
    for (unsigned seed = 0; seed < 200; ++seed) {
        const Scenario scenario = with_tlbs(random_scenario(seed), seed);
        const Counts totals = run_naively(scenario, scenario.records.size()).totals;
        for (std::size_t i = 0; i < totals.size(); ++i) misses[i] += totals[i];
    }
    const std::size_t first = column(Event::kIT1mr);
    for (std::size_t i = 0; i < 12; ++i) EXPECT_GT(misses[first + i], 500u) << kEvents[first + i].name;
    for (std::size_t i = 0; i < 6; ++i) EXPECT_LT(misses[first + 6 + i], misses[first + i]) << kEvents[first + i].name;
}

// What is compared by ReuseIsTheSame.
TEST(Oracle, TheGeneratedRunsCoverReuse) {
    std::map<std::string, std::uint64_t> carried;
    std::uint64_t late = 0;
    std::uint64_t never = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        const Scenario scenario = random_scenario(seed);
        const test::RunCosts costs = run_naively(scenario, scenario.records.size(), {}, 0, true);
        for (const auto& [key, counts] : costs.reuses) {
            const std::string by = !key.scope ? "none" : key.scope->loop ? "loop" : "call";
            carried[key.cause + " " + by] += counts.misses;
            if (key.loaded_by && key.evicted_by && *key.loaded_by != *key.evicted_by) ++carried["different"];
        }
        for (const auto& [key, counts] : costs.stays) {
            late += counts.late;
            never += counts.never;
        }
    }
    for (const char* what : {"first touch none", "conflict none", "conflict call", "conflict loop", "capacity none",
                             "capacity call", "capacity loop", "different"}) {
        EXPECT_GT(carried[what], 30u) << what;
    }
    EXPECT_GT(late, 1'000u);
    EXPECT_GT(never, 1'000u);
}

// What is compared by CausesAndDistancesAreTheSame.
TEST(Oracle, TheGeneratedRunsCoverDistancesOfObjectsAndPaths) {
    std::map<std::string, std::uint64_t> misses;
    std::uint64_t in_calls = 0;
    std::uint64_t recursive = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        const Scenario scenario = with_objects(random_scenario(seed), seed);
        const test::RunCosts costs =
            run_naively(scenario, scenario.records.size(), test::PathRules{.folded = false}, 2, true);
        for (const auto& [key, counts] : costs.object_distances) {
            misses[key.group.substr(0, key.group.find(' '))] += counts.misses;
        }
        for (const auto& [key, counts] : costs.inclusive_distances) {
            in_calls += key.callee ? counts.misses : 0;
            recursive += key.callee == key.function ? counts.misses : 0;
        }
    }
    for (const char* kind : {"heap", "mapping", "stack", "unknown"}) EXPECT_GT(misses[kind], 500u) << kind;
    EXPECT_GT(in_calls, 5'000u);
    EXPECT_GT(recursive, 200u);
}

bool is_of_l2(std::size_t event) {
    const EventGroup group = kEvents[event].group;
    return group == EventGroup::kMissesL2 || group == EventGroup::kUseL2 || group == EventGroup::kCausesL2;
}

// What is compared by ThreeLevelsAreTheSame.
TEST(Oracle, TheGeneratedRunsCoverL2) {
    Counts totals{};
    for (unsigned seed = 0; seed < 800; ++seed) {
        const Scenario scenario = with_l2(random_scenario(seed), seed);
        const test::RunCosts costs = run_naively(scenario, scenario.records.size(), {}, 0, true);
        for (std::size_t i = 0; i < kEventCount; ++i) totals[i] += costs.totals[i];
    }
    for (std::size_t i = 0; i < kEventCount; ++i) {
        if (!is_of_l2(i)) continue;
        EXPECT_GT(totals[i], 300u) << kEvents[i].name;
    }
}

TEST(Oracle, TheGeneratedRunsCoverEveryCase) {
    Counts totals{};
    std::uint64_t calls = 0;
    std::uint64_t recursive = 0;
    std::uint64_t deeper = 0;
    std::uint64_t with_callers = 0;
    std::uint64_t jumps = 0;
    std::size_t common = 0;
    std::size_t large = 0;
    std::map<Marker, unsigned> markers;
    for (unsigned seed = 0; seed < 400; ++seed) {
        const Scenario scenario = with_cores(random_scenario(seed), seed);
        common += has_common_lines(scenario.caches) ? 1 : 0;
        large += scenario.caches.d1.lines() > 4096 ? 1 : 0;
        for (const Scenario::Record& record : scenario.records)
            markers[record.marker] += record.is_marker ? 1 : 0;
        const test::RunCosts costs = run_naively(scenario, scenario.records.size(), {}, 0, true);
        for (std::size_t i = 0; i < kEventCount; ++i) totals[i] += costs.totals[i];
        for (const auto& [key, count] : costs.jumps) jumps += count;
        for (const auto& [key, counts] : costs.arcs) {
            calls += counts.calls;
            if (key.context.function == key.callee_context.function) recursive += counts.calls;
            if (key.callee_context.level > 1) deeper += counts.calls;
            if (key.callee_context.callers.size() > 1) with_callers += counts.calls;
        }
    }
    for (std::size_t i = 0; i < kEventCount; ++i) {
        const EventGroup group = kEvents[i].group;
        // Other tests say that these are covered.
        const bool is_of_others = group == EventGroup::kTranslations || group == EventGroup::kCopies ||
                                  group == EventGroup::kPrefetches || group == EventGroup::kPrefetchesL2;
        if (is_of_l2(i) || is_of_others) continue;
        EXPECT_GT(totals[i], 300u) << kEvents[i].name;
    }
    EXPECT_GT(calls, 5'000u);
    EXPECT_GT(jumps, 1'000u);
    EXPECT_GT(recursive, 500u);
    EXPECT_GT(deeper, 500u);
    EXPECT_GT(with_callers, 500u);
    EXPECT_GT(common, 50u);
    EXPECT_LT(common, 150u);
    EXPECT_GT(large, 3u);
    for (unsigned i = 0; i < static_cast<unsigned>(Marker::kAllocatorEntered); ++i) {
        EXPECT_GT(markers[static_cast<Marker>(i)], 50u) << "marker " << i;
    }
}

TEST(Oracle, TheGeneratedRunsHaveObjectsOfEveryKind) {
    std::map<std::string, std::uint64_t> lines;
    std::uint64_t patterns = 0;
    std::map<Marker, unsigned> markers;
    for (unsigned seed = 0; seed < 300; ++seed) {
        const Scenario scenario = with_cores(with_objects(random_scenario(seed), seed), seed);
        for (const Scenario::Record& record : scenario.records) markers[record.marker] += record.is_marker ? 1 : 0;
        const test::RunCosts costs = run_naively(scenario, scenario.records.size(), {}, 2);
        for (const auto& [key, counts] : costs.objects) {
            lines[key.group.substr(0, key.group.find(' '))] += counts[column(Event::kEvLine1)];
        }
        for (const auto& [key, count] : costs.patterns) patterns += count;
    }
    for (const char* kind : {"code", "heap", "mapping", "stack", "unknown"}) EXPECT_GT(lines[kind], 500u) << kind;
    EXPECT_GT(patterns, 500u);
    for (auto i = static_cast<unsigned>(Marker::kAllocatorEntered); i < static_cast<unsigned>(Marker::kCount); ++i) {
        EXPECT_GT(markers[static_cast<Marker>(i)], 300u) << "marker " << i;
    }
}

}  // namespace
}  // namespace bd
