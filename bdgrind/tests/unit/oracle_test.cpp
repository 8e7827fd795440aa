// SPDX-License-Identifier: GPL-2.0-or-later
//
// Random runs through the engine and through the naive engine: everything must be equal, to the last count.
//
// A failure prints its seed and the shortest beginning of the run that shows it. BD_SEED=<seed> in the
// environment runs that one alone.

#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/hierarchy.h"
#include "naive_engine.h"
#include "profile/callgrind_writer.h"
#include "profile/profile.h"
#include "scenario.h"
#include "text.h"

namespace bd {
namespace {

using test::ArcKey;
using test::BuiltScenario;
using test::ContextKey;
using test::Counts;
using test::InstructionKey;
using test::random_scenario;
using test::Scenario;

#ifdef __SANITIZE_ADDRESS__
constexpr unsigned kRuns = 600;
#else
constexpr unsigned kRuns = 3000;
#endif

struct Variant {
    bool cache_sim = true;
    bool cache_use = true;
    std::size_t batch = ~std::size_t{0};  // records per batch
};

// Feeds the first `records` records to an engine.
void replay(Engine& engine, const BuiltScenario& built, std::size_t records, std::size_t batch) {
    for (std::size_t first = 0; first < records;) {
        const std::size_t count = std::min(batch, records - first);
        engine.replay(built.trace().batch(first, first + count));
        first += count;
    }
    engine.finish();
}

EngineConfig config_of(const Scenario& scenario, const Variant& variant) {
    return {.caches = scenario.caches,
            .cache_sim = variant.cache_sim,
            .cache_use = variant.cache_use,
            .contexts = {.skip_direct_recursion = scenario.skip_direct_recursion, .separate_callers = true}};
}

void add_to(Counts& counts, ConstCosts costs) {
    for (std::size_t i = 0; i < costs.size(); ++i) counts[i] += costs[i];
}

ContextKey key_of(const Context& context) {
    ContextKey key{context.function().id, context.level()};
    for (const Function* caller : context.callers()) key.callers.push_back(caller->id);
    return key;
}

// The engine's counts, put together from what it keeps.
test::RunCosts costs_of(const Engine& engine) {
    test::RunCosts costs;
    for (const BlockCost* cost : engine.blocks().all()) {
        const Block& block = *cost->block;
        for (unsigned i = 0; i < block.instruction_count; ++i) {
            Counts counts{};
            for (const Exit& exit : block.exits()) {
                const std::uint64_t taken = cost->exits[exit.index].taken;
                if (i < exit.instructions) counts[column(Event::kIr)] += taken;
                for (unsigned a = 0; a < exit.accesses; ++a) {
                    if (block.accesses()[a].instruction != i) continue;
                    counts[column(block.accesses()[a].kind == AccessKind::kRead ? Event::kDr : Event::kDw)] +=
                        taken;
                }
            }
            if (cost->instructions[i] != kNoCost) add_to(counts, engine.costs()[cost->instructions[i]]);
            if (counts == Counts{}) continue;
            costs.self[InstructionKey{block.id, key_of(*cost->context), i}] = counts;
            add_to(costs.totals, counts);
        }
    }
    for (std::uint32_t id = 1; id <= engine.arcs().size(); ++id) {
        const Arc& arc = engine.arcs()[ArcId{id}];
        test::ArcCounts& counts =
            costs.arcs[ArcKey{arc.site.from->block->id, key_of(*arc.site.from->context), arc.site.exit,
                              arc.callee->block->id, key_of(*arc.callee->context)}];
        counts.calls += arc.calls;
        add_to(counts.inclusive, engine.arcs().costs(ArcId{id}));
    }
    return costs;
}

// How the engine differs from the naive one after so many records.
std::string differences_after(const Scenario& scenario, const BuiltScenario& built, std::size_t records,
                              const Variant& variant) {
    Engine engine(config_of(scenario, variant));
    replay(engine, built, records, variant.batch);
    return differences(run_naively(scenario, records), costs_of(engine), engine.events().width());
}

// The shortest beginning of a run that differs.
std::string shortest_failure(const Scenario& scenario, const BuiltScenario& built, const Variant& variant) {
    for (std::size_t records = 0; records <= scenario.records.size(); ++records) {
        const std::string different = differences_after(scenario, built, records, variant);
        if (!different.empty()) {
            return "after " + std::to_string(records) + " of " + std::to_string(scenario.records.size()) +
                   " records:\n" + different;
        }
    }
    return "not found again";
}

// Calls check(seed) for every seed, until one fails.
template <class Check>
void for_each_seed(unsigned count, Check check) {
    if (const char* seed = std::getenv("BD_SEED")) {
        check(static_cast<unsigned>(std::strtoul(seed, nullptr, 10)));
        return;
    }
    for (unsigned seed = 0; seed < count && !testing::Test::HasFailure(); ++seed) check(seed);
}

void expect_equal(unsigned seed, const Variant& variant) {
    const Scenario scenario = random_scenario(seed);
    const BuiltScenario built(scenario);
    if (!differences_after(scenario, built, scenario.records.size(), variant).empty()) {
        ADD_FAILURE() << "seed " << seed << " (BD_SEED=" << seed << "), "
                      << shortest_failure(scenario, built, variant);
    }
}

TEST(Oracle, TheEngineEqualsTheNaiveOne) {
    for_each_seed(kRuns, [](unsigned seed) {
        std::mt19937 random(seed);
        expect_equal(seed, {.batch = random() % 3 == 0 ? 1 + random() % 20 : ~std::size_t{0}});
    });
}

TEST(Oracle, WithoutCacheUseMissesAreTheSame) {
    for_each_seed(kRuns / 4, [](unsigned seed) { expect_equal(seed, {.cache_use = false}); });
}

TEST(Oracle, WithoutCachesCallsAndInstructionsAreTheSame) {
    for_each_seed(kRuns / 4, [](unsigned seed) { expect_equal(seed, {.cache_sim = false}); });
}

std::string profile_text(const Scenario& scenario, const BuiltScenario& built, const Variant& variant) {
    Engine engine(config_of(scenario, variant));
    replay(engine, built, scenario.records.size(), variant.batch);
    const Profile profile(engine, {.lines = true, .instructions = true});
    test::Text text;
    CallgrindWriter(text, {}).write({.creator = "bdgrind", .pid = 1, .command = "cmd", .descriptions = {}},
                                    profile);
    return text.finished();
}

TEST(Oracle, TheSameTraceCutInOtherBatchesGivesTheSameBytes) {
    for_each_seed(kRuns / 6, [](unsigned seed) {
        const Scenario scenario = random_scenario(seed);
        const BuiltScenario built(scenario);
        const std::string at_once = profile_text(scenario, built, {});
        for (const std::size_t batch : {1u, 2u, 7u}) {
            ASSERT_EQ(profile_text(scenario, built, {.batch = batch}), at_once)
                << "seed " << seed << " batch " << batch;
        }
    });
}

// The oracle is worth what its runs cover. (Counted over many runs: a single one need not have everything.)
TEST(Oracle, TheRunsCoverWhatTheyAreFor) {
    Counts totals{};
    std::uint64_t calls = 0;
    std::uint64_t recursive = 0;
    std::uint64_t deeper = 0;
    std::uint64_t with_callers = 0;
    std::size_t common = 0;
    std::map<Marker, unsigned> markers;
    for (unsigned seed = 0; seed < 300; ++seed) {
        const Scenario scenario = random_scenario(seed);
        common += is_common(scenario.caches) ? 1 : 0;
        for (const Scenario::Record& record : scenario.records)
            markers[record.marker] += record.is_marker ? 1 : 0;
        const test::RunCosts costs = run_naively(scenario, scenario.records.size());
        for (std::size_t i = 0; i < kEventCount; ++i) totals[i] += costs.totals[i];
        for (const auto& [key, counts] : costs.arcs) {
            calls += counts.calls;
            if (key.context.function == key.callee_context.function) recursive += counts.calls;
            if (key.callee_context.level > 1) deeper += counts.calls;
            if (key.callee_context.callers.size() > 1) with_callers += counts.calls;
        }
    }
    for (std::size_t i = 0; i < kEventCount; ++i) EXPECT_GT(totals[i], 2'000u) << kEvents[i].name;
    EXPECT_GT(calls, 5'000u);
    EXPECT_GT(recursive, 500u);
    EXPECT_GT(deeper, 500u);
    EXPECT_GT(with_callers, 500u);
    EXPECT_GT(common, 50u);
    EXPECT_LT(common, 150u);
    for (unsigned i = 0; i < static_cast<unsigned>(Marker::kCount); ++i) {
        EXPECT_GT(markers[static_cast<Marker>(i)], 50u) << "marker " << i;
    }
}

}  // namespace
}  // namespace bd
