// SPDX-License-Identifier: GPL-2.0-or-later
//
// Random runs through the engine and through the naive engine: everything must be equal, to the last count.
//
// A failure prints its seed and the shortest beginning of the run that shows it. BD_SEED=<seed> in the
// environment runs that one alone.

#include <cstdlib>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "engine/cache/hierarchy.h"
#include "engine/replay/engine.h"
#include "engine_costs.h"
#include "naive_engine.h"
#include "profile/callgrind_writer.h"
#include "profile/profile.h"
#include "runs.h"
#include "scenario.h"
#include "text.h"

namespace bd {
namespace {

using test::BuiltScenario;
using test::Counts;
using test::random_scenario;
using test::Scenario;
using test::with_cores;
using test::with_exclusive_ll;
using test::with_inclusive_ll;
using test::with_l2;
using test::with_objects;
using test::with_tlbs;

#ifdef __SANITIZE_ADDRESS__
constexpr unsigned kRuns = 200;
#else
constexpr unsigned kRuns = 3000;
#endif

struct RunVariant {
    bool cache_sim = true;
    bool cache_use = true;
    std::size_t batch = ~std::size_t{0};  // records per batch
    bool separate_threads = false;
    std::uint64_t dump_every = 0;
    bool more_events = true;  // jumps, and these:
    bool branches = true;
    bool write_backs = true;
    unsigned dumps_between_batches = 0;  // one after so many batches; 0: none
    std::optional<test::PathRules> paths{};  // with a context tree
    unsigned object_depth = 0;               // with data objects, separated by so many callers
    bool patterns = false;                   // of their use, too
    std::uint64_t why_times = 0;             // asks why lines are loaded, times being counted anew after so many; 0: no
    bool stays = false;                      // with what became of lines, too
    std::uint32_t least_distance = 0;        // of hits, a power of two; 0: these are not told
    std::uint64_t whole_reuses = ~std::uint64_t{0};  // reuse is of all lines until so many have been loaded
};

// Calls dump(thread) where a part of the counts is to be written, and last when it is all over. Where the counts are
// zeroed for good, zero() is called.
template <class Dump, class Zero>
void replay(Engine& engine, const BuiltScenario& built, std::size_t records, const RunVariant& variant, Dump dump,
            Zero zero) {
    const auto serve_dump = [&](std::uint32_t thread) {
        engine.settle();
        dump(thread);
        engine.zero(thread);
    };
    unsigned batches = 0;
    for (std::size_t first = 0; first < records;) {
        const std::size_t count = std::min(variant.batch, records - first);
        Batch batch = built.trace().batch(first, first + count);
        while (!batch.empty()) {
            batch = batch.subspan(engine.replay(batch));
            for (const Request& request : engine.requests()) {
                if (request.kind == RequestKind::kZero) {
                    engine.zero(request.thread);
                    zero();
                } else {
                    serve_dump(request.thread);
                }
            }
            engine.clear_requests();
        }
        if (variant.dumps_between_batches != 0 && ++batches % variant.dumps_between_batches == 0) serve_dump(0);
        first += count;
    }
    engine.finish();
    dump(0);
}

EngineConfig config_of(const Scenario& scenario, const RunVariant& variant) {
    const bool all_events = variant.cache_sim && variant.cache_use;
    return {.caches = scenario.caches,
            .cache_sim = variant.cache_sim,
            .cache_use = variant.cache_use,
            .contexts = {.skip_direct_recursion = scenario.skip_direct_recursion, .separate_callers = true},
            .collect_at_start = true,
            .separate_threads = variant.separate_threads,
            .dump_every = variant.dump_every,
            .write_back = variant.more_events && variant.write_backs,
            .callgrind_prefetcher = scenario.callgrind_prefetcher,
            .prefetchers = scenario.prefetchers,
            .l2_prefetchers = scenario.l2_prefetchers,
            .branch_sim = variant.more_events && variant.branches,
            .collect_jumps = variant.more_events,
            .bus_events = all_events,
            .system_calls = all_events,
            .system_cpu_time = all_events,
            .context_tree = variant.paths.has_value(),
            .context_tree_rules = {.by_site = variant.paths && variant.paths->by_site,
                                   .recursion = variant.paths && variant.paths->folded ? ContextRecursion::kFolded
                                                                                       : ContextRecursion::kApart},
            .objects = variant.object_depth != 0,
            .object_rules = {.depth = variant.object_depth},
            .why = variant.why_times != 0,
            .whole_reuses = variant.whole_reuses,
            .reuse_rules = {.fewest_times = variant.why_times, .least_distance = variant.least_distance},
            .tlbs = scenario.tlbs,
            .cores = scenario.cores};
}

// How the engine differs from the naive one after so many records.
std::string differences_after(const Scenario& scenario, const BuiltScenario& built, std::size_t records,
                              const RunVariant& variant) {
    Engine engine(config_of(scenario, variant));
    test::RunCosts costs;
    replay(
        engine, built, records, variant,
        [&](std::uint32_t thread) { test::add_costs_of(engine, thread, costs); }, [&] { costs = {}; });
    const bool why = variant.why_times != 0;
    test::RunCosts expected = run_naively(scenario, records, variant.paths, variant.object_depth, why,
                                          variant.whole_reuses, false, variant.least_distance);
    // No allocator does that. A scenario may, where the engines find a return of another call than it had in mind.
    if (expected.blocks_overlap) return {};
    if (!variant.stays) expected.stays = costs.stays = {};
    const std::string different =
        differences(expected, costs, engine.events(), variant.more_events, variant.patterns);
    return why ? different + reuse_differences(expected, costs) : different;
}

// The shortest beginning of a run that differs.
std::string shortest_failure(const Scenario& scenario, const BuiltScenario& built, const RunVariant& variant) {
    for (std::size_t records = 0; records <= scenario.records.size(); ++records) {
        const std::string different = differences_after(scenario, built, records, variant);
        if (!different.empty()) {
            return "after " + std::to_string(records) + " of " + std::to_string(scenario.records.size()) +
                   " records:\n" + different;
        }
    }
    return "not found again";
}

// Calls check(seed) for every seed, until one fails. (BD_RUNS: fewer, see runs.h.)
template <class Check>
void for_each_seed(unsigned count, Check check) {
    if (const char* seed = std::getenv("BD_SEED")) {
        check(static_cast<unsigned>(std::strtoul(seed, nullptr, 10)));
        return;
    }
    for (unsigned seed = 0; seed < test::runs(count) && !testing::Test::HasFailure(); ++seed) check(seed);
}

void expect_equal(const Scenario& scenario, unsigned seed, const RunVariant& variant) {
    const BuiltScenario built(scenario);
    if (!differences_after(scenario, built, scenario.records.size(), variant).empty()) {
        ADD_FAILURE() << "seed " << seed << " (BD_SEED=" << seed << "), "
                      << shortest_failure(scenario, built, variant);
    }
}

void expect_equal(unsigned seed, const RunVariant& variant) {
    expect_equal(random_scenario(seed), seed, variant);
}

TEST(Oracle, TheEngineEqualsTheNaiveOne) {
    for_each_seed(kRuns, [](unsigned seed) {
        std::mt19937 random(seed);
        expect_equal(seed, {.batch = random() % 3 == 0 ? 1 + random() % 20 : ~std::size_t{0},
                            .more_events = random() % 4 != 0});
    });
}

TEST(Oracle, WithoutCacheUseMissesAreTheSame) {
    for_each_seed(kRuns / 4, [](unsigned seed) {
        expect_equal(seed, {.cache_use = false, .more_events = seed % 2 != 0});
    });
}

TEST(Oracle, WithoutCachesCallsAndInstructionsAreTheSame) {
    for_each_seed(kRuns / 4, [](unsigned seed) { expect_equal(seed, {.cache_sim = false}); });
}

// Whatever else can be asked for. `plain`: but for what takes other loops than the fastest.
RunVariant random_variant(std::mt19937& random, bool plain) {
    const unsigned object_depth = random() % 4 == 0 ? static_cast<unsigned>(1 + random() % 3) : 0;
    const test::PathRules paths{.by_site = random() % 3 == 0, .folded = random() % 2 == 0};
    return {.cache_use = object_depth != 0 || random() % 8 != 0,
            .batch = random() % 2 == 0 ? 1 + random() % 40 : ~std::size_t{0},
            .dump_every = random() % 4 == 0 ? 1 + random() % 40 : 0,
            .more_events = !plain && random() % 2 == 0,
            .branches = random() % 2 == 0,
            .write_backs = random() % 4 != 0,
            .paths = random() % 3 == 0 ? std::optional(paths) : std::nullopt,
            .object_depth = object_depth,
            .why_times = plain || random() % 2 == 0 ? 0 : 1 + random() % 500};
}

// With an L2, whatever else is asked for; in one part or in many.
TEST(Oracle, ThreeLevelsAreTheSame) {
    for_each_seed(kRuns, [](unsigned seed) {
        std::mt19937 random(seed);
        const bool plain = random() % 3 == 0;  // as it is simulated fastest
        const RunVariant variant = random_variant(random, plain);
        const Scenario scenario = with_l2(random_scenario(seed), seed);
        expect_equal(variant.object_depth == 0 ? scenario : with_objects(scenario, seed), seed, variant);
    });
}

// With other replacement policies, indices and places of pages in L2 and LL, whatever else is asked for; in one part or
// in many.
TEST(Oracle, ReplacementPoliciesAreTheSame) {
    for_each_seed(kRuns, [](unsigned seed) {
        std::mt19937 random(seed);
        const bool plain = random() % 3 == 0;  // as it is simulated fastest
        const RunVariant variant = random_variant(random, plain);
        const Scenario simple = random_scenario(seed);
        Scenario scenario = with_policies(random() % 2 == 0 ? simple : with_l2(simple, seed), seed);
        expect_equal(variant.object_depth == 0 ? scenario : with_objects(scenario, seed), seed, variant);
    });
}

// With prefetchers for LL, whatever else is asked for; in one part or in many.
TEST(Oracle, PrefetchersAreTheSame) {
    for_each_seed(kRuns, [](unsigned seed) {
        std::mt19937 random(seed);
        const bool plain = random() % 3 == 0;  // as it is simulated fastest
        const RunVariant variant = random_variant(random, plain);
        const Scenario simple = with_prefetchers(random_scenario(seed), seed);
        Scenario scenario = random() % 2 == 0 ? simple : with_l2(simple, seed);
        if (random() % 3 == 0) scenario = with_policies(scenario, seed);
        expect_equal(variant.object_depth == 0 ? scenario : with_objects(scenario, seed), seed, variant);
    });
}

// With an exclusive LL, whatever else is asked for; in one part or in many.
TEST(Oracle, AnExclusiveLastLevelIsTheSame) {
    for_each_seed(2 * kRuns, [](unsigned seed) {
        std::mt19937 random(seed);
        const bool plain = random() % 3 == 0;  // as it is simulated fastest
        const RunVariant variant = random_variant(random, plain);
        Scenario scenario = with_exclusive_ll(random_scenario(seed), seed);
        if (random() % 3 == 0) scenario = with_policies(scenario, seed);
        if (random() % 3 == 0) scenario = with_prefetchers(scenario, seed);
        expect_equal(variant.object_depth == 0 ? scenario : with_objects(scenario, seed), seed, variant);
    });
}

// With an inclusive LL, whatever else is asked for; in one part or in many.
TEST(Oracle, AnInclusiveLastLevelIsTheSame) {
    for_each_seed(2 * kRuns, [](unsigned seed) {
        std::mt19937 random(seed);
        const bool plain = random() % 3 == 0;  // as it is simulated fastest
        RunVariant variant = random_variant(random, plain);
        variant.least_distance = random() % 2 == 0 ? 2u << random() % 4 : 0;
        Scenario scenario = with_inclusive_ll(random_scenario(seed), seed);
        if (random() % 3 == 0) scenario = with_policies(scenario, seed);
        if (random() % 3 == 0) scenario = with_prefetchers(scenario, seed);
        expect_equal(variant.object_depth == 0 ? scenario : with_objects(scenario, seed), seed, variant);
    });
}

// Pages that miss a TLB, by instruction, call, path and data, whatever else is asked for; in one part or in many.
TEST(Oracle, PageMissesAreTheSame) {
    for_each_seed(kRuns, [](unsigned seed) {
        std::mt19937 random(seed);
        const bool plain = random() % 3 == 0;  // as it is simulated fastest
        RunVariant variant = random_variant(random, plain);
        variant.patterns = variant.object_depth != 0;
        const Scenario simple = random_scenario(seed);
        Scenario scenario = with_tlbs(random() % 2 == 0 ? simple : with_l2(simple, seed), seed);
        expect_equal(variant.object_depth == 0 ? scenario : with_objects(scenario, seed, false), seed, variant);
    });
}

// Without branches, they are counted on the fast path, too.
TEST(Oracle, JumpsAloneAreTheSame) {
    for_each_seed(kRuns / 2, [](unsigned seed) {
        std::mt19937 random(seed);
        expect_equal(seed, {.cache_sim = random() % 4 != 0,
                            .batch = random() % 3 == 0 ? 1 + random() % 20 : ~std::size_t{0},
                            .dump_every = random() % 3 == 0 ? 1 + random() % 40 : 0,
                            .branches = false,
                            .write_backs = random() % 2 == 0});
    });
}

TEST(Oracle, PartsAddUpToTheWhole) {
    for_each_seed(kRuns / 2, [](unsigned seed) {
        std::mt19937 random(seed);
        expect_equal(seed, {.batch = 1 + random() % 30,
                            .dump_every = random() % 2 == 0 ? 0 : 1 + random() % 40,
                            .more_events = random() % 2 != 0,
                            .dumps_between_batches = static_cast<unsigned>(random() % 4)});
    });
}

// All that was counted, by the path of calls that led there; in one part or in many.
TEST(Oracle, ContextTreesAreTheSame) {
    for_each_seed(kRuns / 3, [](unsigned seed) {
        std::mt19937 random(seed);
        expect_equal(seed, {.cache_sim = random() % 8 != 0,
                            .cache_use = random() % 8 != 0,
                            .batch = random() % 3 == 0 ? 1 + random() % 20 : ~std::size_t{0},
                            .dump_every = random() % 3 == 0 ? 1 + random() % 40 : 0,
                            .more_events = random() % 4 != 0,
                            .paths = test::PathRules{.by_site = random() % 3 == 0, .folded = random() % 2 == 0}});
    });
}

// All that was loaded, by the data that it was loaded for; in one part or in many. And all else, as ever.
TEST(Oracle, DataObjectsAreTheSame) {
    for_each_seed(kRuns / 2, [](unsigned seed) {
        std::mt19937 random(seed);
        const RunVariant variant{.batch = random() % 3 == 0 ? 1 + random() % 20 : ~std::size_t{0},
                              .dump_every = random() % 3 == 0 ? 1 + random() % 40 : 0,
                              .more_events = random() % 4 != 0,
                              .dumps_between_batches = static_cast<unsigned>(random() % 3),
                              .object_depth = static_cast<unsigned>(1 + random() % 3)};
        expect_equal(with_objects(random_scenario(seed), seed), seed, variant);
    });
}

// What cores do with caches of their own, and to each other, by core, instruction, call, path and data; in one part or
// in many. Lines have 64 bytes at most.
TEST(Oracle, WhatCoresDoIsTheSame) {
    for_each_seed(2 * kRuns, [](unsigned seed) {
        std::mt19937 random(seed);
        Scenario plain = random_scenario(seed);
        const auto levels = random() % 5;
        if (levels == 2) plain = with_l2(plain, seed);
        if (levels == 3) plain = with_exclusive_ll(plain, seed);
        if (levels == 4) plain = with_inclusive_ll(plain, seed);
        if (plain.caches.d1.line_bytes > 64) return;
        if (random() % 4 == 0) plain = with_tlbs(plain, seed);
        if (random() % 4 == 0) plain = with_policies(plain, seed);
        if (random() % 4 == 0) plain = with_prefetchers(plain, seed);
        const bool is_simple = random() % 3 == 0;  // as it is simulated fastest
        const unsigned object_depth = random() % 2 == 0 ? static_cast<unsigned>(1 + random() % 3) : 0;
        const test::PathRules paths{.by_site = random() % 3 == 0, .folded = random() % 2 == 0};
        const RunVariant variant{.cache_use = object_depth != 0 || random() % 8 != 0,
                                 .batch = random() % 3 == 0 ? 1 + random() % 20 : ~std::size_t{0},
                                 .dump_every = random() % 3 == 0 ? 1 + random() % 40 : 0,
                                 .more_events = !is_simple && random() % 2 == 0,
                                 .branches = random() % 2 == 0,
                                 .write_backs = random() % 2 == 0,
                                 .dumps_between_batches = static_cast<unsigned>(random() % 3),
                                 .paths = random() % 2 == 0 ? std::optional(paths) : std::nullopt,
                                 .object_depth = object_depth,
                                 .why_times = random() % 8 == 0 ? 1 + random() % 500 : 0};
        expect_equal(with_cores(object_depth == 0 ? plain : with_objects(plain, seed), seed), seed, variant);
    });
}

bool is_of_a_core(std::size_t event) {
    const EventGroup group = kEvents[event].group;
    return group != EventGroup::kUse2 && group != EventGroup::kPrefetches && group != EventGroup::kBranches &&
           group != EventGroup::kBus &&
           group != EventGroup::kSystemCalls && group != EventGroup::kSystemCpuTime;
}

// What is compared by WhatCoresDoIsTheSame. What belongs to cores adds up to the whole.
TEST(Oracle, TheGeneratedRunsCoverCores) {
    Counts totals{};
    Counts of_others{};  // but the core that has most
    std::uint64_t lost_to_others = 0;  // lines of LL
    std::uint64_t loaded_again = 0;    // of these
    for (unsigned seed = 0; seed < 2000; ++seed) {
        Scenario scenario = with_cores(with_tlbs(with_l2(random_scenario(seed), seed), seed), seed);
        if (scenario.caches.d1.line_bytes > 64) continue;
        scenario.cores = 3;
        if (seed % 2 == 0) scenario.l2_prefetchers = {.adjacent = true, .stream = true};
        const BuiltScenario built(scenario);
        Engine engine(config_of(scenario, {}));
        test::RunCosts costs;
        replay(
            engine, built, scenario.records.size(), {},
            [&](std::uint32_t thread) { test::add_costs_of(engine, thread, costs); }, [&] { costs = {}; });
        for (std::size_t i = 0; i < kEventCount; ++i) {
            std::uint64_t sum = 0;
            std::uint64_t most = 0;
            for (const auto& [core, counts] : costs.cores) {
                sum += counts[i];
                most = std::max(most, counts[i]);
            }
            EXPECT_EQ(sum, is_of_a_core(i) ? costs.totals[i] : 0) << "seed " << seed << ' ' << kEvents[i].name;
            totals[i] += costs.totals[i];
            of_others[i] += sum - most;
        }
        for (const auto& [cores, counts] : costs.lost) {
            if (cores.first == cores.second) continue;
            lost_to_others += counts.lines;
            loaded_again += counts.again;
        }
    }
    for (std::size_t i = 0; i < kEventCount; ++i) {
        const EventGroup group = kEvents[i].group;
        if (!is_of_a_core(i) || group == EventGroup::kCauses || group == EventGroup::kCausesL2) continue;
        EXPECT_GT(of_others[i], 300u) << kEvents[i].name;
    }
    EXPECT_GT(totals[column(Event::kD1copy)], 3'000u);
    EXPECT_GT(lost_to_others, 3'000u);
    EXPECT_GT(loaded_again, 300u);
}

// Why each line was loaded, whatever else is asked for, and however often times are counted anew.
TEST(Oracle, CausesAndDistancesAreTheSame) {
    for_each_seed(kRuns, [](unsigned seed) {
        std::mt19937 random(seed);
        const unsigned object_depth = random() % 4 == 0 ? static_cast<unsigned>(1 + random() % 3) : 0;
        const test::PathRules paths{.by_site = random() % 3 == 0, .folded = random() % 2 == 0};
        const RunVariant variant{.cache_use = object_depth != 0 || random() % 4 != 0,
                                 .batch = random() % 2 == 0 ? 1 + random() % 40 : ~std::size_t{0},
                                 .dump_every = random() % 4 == 0 ? 1 + random() % 40 : 0,
                                 .more_events = random() % 3 == 0,
                                 .branches = random() % 2 == 0,
                                 .write_backs = random() % 2 == 0,
                                 .paths = random() % 2 == 0 ? std::optional(paths) : std::nullopt,
                                 .object_depth = object_depth,
                                 .why_times = random() % 2 == 0 ? 1 + random() % 500 : 1u << 22,
                                 .least_distance = random() % 2 == 0 ? 2u << random() % 4 : 0};
        const Scenario scenario = random_scenario(seed);
        expect_equal(object_depth == 0 ? scenario : with_objects(scenario, seed), seed, variant);
    });
}

// Which bytes of heap blocks were used of what each instruction loaded; of free ones, too, while nothing else is there.
TEST(Oracle, PatternsOfUsedBytesAreTheSame) {
    for_each_seed(kRuns / 2, [](unsigned seed) {
        std::mt19937 random(seed);
        Scenario scenario = with_objects(random_scenario(seed), seed, false);
        const bool separate_threads = random() % 3 == 0;
        if (separate_threads) {
            for (Scenario::Function& function : scenario.functions) function.triggers.zero_before = false;
            std::erase_if(scenario.records, [](const Scenario::Record& record) {
                return record.is_marker && record.marker == Marker::kZero;
            });
        }
        expect_equal(scenario, seed, {.batch = random() % 3 == 0 ? 1 + random() % 20 : ~std::size_t{0},
                                      .separate_threads = separate_threads,
                                      .dump_every = random() % 3 == 0 ? 1 + random() % 40 : 0,
                                      .dumps_between_batches = static_cast<unsigned>(random() % 3),
                                      .object_depth = static_cast<unsigned>(1 + random() % 3),
                                      .patterns = true});
    });
}

// Who misses what whom had loaded, and which loop or call carries that; in one part or in many. Times are renumbered
// often in some. What became of lines is known at the end only, so it does not add up where counts are dumped.
TEST(Oracle, ReuseIsTheSame) {
    for_each_seed(kRuns / 2, [](unsigned seed) {
        std::mt19937 random(seed);
        const bool in_parts = random() % 3 == 0;
        Scenario scenario = random_scenario(seed);
        for (Scenario::Function& function : scenario.functions) {
            if (!in_parts) function.triggers.dump_before = function.triggers.dump_after = false;
        }
        expect_equal(scenario, seed, {.batch = random() % 3 == 0 ? 1 + random() % 20 : ~std::size_t{0},
                                      .dump_every = in_parts ? 1 + random() % 40 : 0,
                                      .more_events = random() % 4 != 0,
                                      .why_times = random() % 2 == 0 ? 1 + random() % 500 : 1u << 22,
                                      .stays = !in_parts,
                                      .whole_reuses = random() % 2 == 0 ? random() % 100 : ~std::uint64_t{0}});
    });
}

// Threads' dumps are independent of each other; zeroing all would not be.
TEST(Oracle, ThreadsAddUpToTheWhole) {
    for_each_seed(kRuns / 2, [](unsigned seed) {
        Scenario scenario = random_scenario(seed);
        for (Scenario::Function& function : scenario.functions) function.triggers.zero_before = false;
        std::erase_if(scenario.records, [](const Scenario::Record& record) {
            return record.is_marker && record.marker == Marker::kZero;
        });
        const test::PathRules paths{.by_site = seed % 3 == 0, .folded = seed % 2 == 0};
        expect_equal(scenario, seed, {.batch = 1 + seed % 30, .separate_threads = true, .more_events = seed % 4 < 2,
                                      .paths = seed % 5 == 0 ? std::optional(paths) : std::nullopt,
                                      .object_depth = seed % 3});
    });
}

// All parts, one behind the other.
std::string profile_text(const Scenario& scenario, const BuiltScenario& built, const RunVariant& variant) {
    Engine engine(config_of(scenario, variant));
    test::Text text;
    const auto write = [&](std::uint32_t) {
        const Profile profile(engine, {.lines = true, .instructions = true});
        CallgrindWriter(text, {}).write(RunDescription(), profile);
    };
    replay(engine, built, scenario.records.size(), variant, write, [] {});
    return text.finished();
}

TEST(Oracle, TheSameTraceCutInOtherBatchesGivesTheSameBytes) {
    for_each_seed(kRuns / 6, [](unsigned seed) {
        const Scenario scenario = random_scenario(seed);
        const BuiltScenario built(scenario);
        const std::uint64_t dump_every = seed % 2 == 0 ? 0 : 1 + seed % 50;
        const bool more_events = seed % 4 < 2;
        const auto text_of = [&](std::size_t batch) {
            return profile_text(scenario, built,
                                {.batch = batch, .dump_every = dump_every, .more_events = more_events});
        };
        const std::string at_once = text_of(~std::size_t{0});
        for (const std::size_t batch : {1u, 2u, 7u}) {
            ASSERT_EQ(text_of(batch), at_once)
                << "seed " << seed << " batch " << batch;
        }
    });
}

}  // namespace
}  // namespace bd
