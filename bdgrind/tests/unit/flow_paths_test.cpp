// SPDX-License-Identifier: GPL-2.0-or-later
//
// Paths within functions: random runs through the engine and through the naive one, and some by hand.

#include "engine/costs/flow_paths.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "engine_costs.h"
#include "naive_engine.h"
#include "program.h"
#include "runs.h"
#include "scenario.h"

namespace bd {
namespace {

using test::BuiltScenario;
using test::FlowCounts;
using test::FlowKey;
using test::Scenario;

#ifdef __SANITIZE_ADDRESS__
constexpr unsigned kFlowRuns = 150;
#else
constexpr unsigned kFlowRuns = 1500;
#endif

EngineConfig flow_config(const Scenario& scenario) {
    return {.caches = scenario.caches,
            .contexts = {.skip_direct_recursion = scenario.skip_direct_recursion, .separate_callers = true},
            .callgrind_prefetcher = scenario.callgrind_prefetcher,
            .flow_paths = true};
}

std::string text_of(const FlowKey& key) {
    std::string text = "f" + std::to_string(key.context.function) + ":";
    for (const test::FlowStep& step : key.steps) {
        text += " " + std::to_string(step.block) + (step.is_charged ? "~" : ".") + std::to_string(step.exit);
    }
    return text;
}

// The first few, by path.
std::string flow_differences(const std::map<FlowKey, FlowCounts>& expected,
                             const std::map<FlowKey, FlowCounts>& actual) {
    std::string text;
    unsigned count = 0;
    const auto compare = [&](const FlowKey& key) {
        const auto find = [&](const std::map<FlowKey, FlowCounts>& all) {
            const auto found = all.find(key);
            return found == all.end() ? FlowCounts{} : found->second;
        };
        const FlowCounts mine = find(expected);
        const FlowCounts theirs = find(actual);
        if (mine == theirs || ++count > 5) return;
        text += text_of(key) + ": " + std::to_string(mine.times) + " times, engine " + std::to_string(theirs.times);
        for (std::size_t i = 0; i < kEventCount; ++i) {
            if (mine.total[i] == theirs.total[i]) continue;
            text += std::string(", ") + kEvents[i].name + " " + std::to_string(mine.total[i]) + ", engine " +
                    std::to_string(theirs.total[i]);
        }
        text += mine.rare == theirs.rare ? "\n" : ", other instructions\n";
    };
    for (const auto& [key, counts] : expected) compare(key);
    for (const auto& [key, counts] : actual) {
        if (!expected.contains(key)) compare(key);
    }
    return text;
}

std::map<FlowKey, FlowCounts> flows_of(const BuiltScenario& built, const EngineConfig& config, std::size_t records,
                                       std::size_t batch) {
    Engine engine(config);
    for (std::size_t first = 0; first < records; first += batch) {
        engine.replay_whole(built.trace().batch(first, std::min(records, first + batch)));
    }
    engine.finish();
    test::RunCosts costs;
    test::add_costs_of(engine, 0, costs);
    return costs.flows;
}

void expect_same_flows(const Scenario& scenario, unsigned seed, const EngineConfig& config, std::size_t batch,
                       unsigned object_depth = 0) {
    const BuiltScenario built(scenario);
    const auto differences = [&](std::size_t records) {
        auto expected = run_naively(scenario, records, {}, object_depth, config.why, ~std::uint64_t{0}, true).flows;
        auto actual = flows_of(built, config, records, batch);
        // What is not asked for.
        const EventSet events = config.events();
        for (auto& [key, counts] : expected) {
            for (std::size_t i = 0; i < kEventCount; ++i) {
                if (!events.has(static_cast<Event>(i))) counts.total[i] = 0;
            }
            for (auto& [instruction, rare] : counts.rare) {
                for (std::size_t i = 0; i < kEventCount; ++i) {
                    if (!events.has(static_cast<Event>(i))) rare[i] = 0;
                }
            }
            std::erase_if(counts.rare, [](const auto& each) { return each.second == test::Counts{}; });
        }
        std::erase_if(expected, [](const auto& each) { return each.second == FlowCounts{}; });
        return flow_differences(expected, actual);
    };
    if (differences(scenario.records.size()).empty()) return;
    for (std::size_t records = 0; records <= scenario.records.size(); ++records) {
        const std::string different = differences(records);
        if (different.empty()) continue;
        FAIL() << "seed " << seed << " after " << records << " records:\n" << different;
    }
}

TEST(FlowPaths, AreThoseOfTheNaiveEngine) {
    for (unsigned seed = 0; seed < test::runs(kFlowRuns) && !testing::Test::HasFailure(); ++seed) {
        std::mt19937 random(seed);
        const Scenario scenario = test::random_scenario(seed);
        EngineConfig config = flow_config(scenario);
        const bool plain = random() % 2 == 0;  // as it is simulated fastest
        config.write_back = !plain && random() % 2 == 0;
        config.branch_sim = !plain && random() % 2 == 0;
        config.collect_jumps = !plain;
        config.bus_events = config.system_calls = config.system_cpu_time = random() % 2 == 0;
        config.cache_sim = random() % 8 != 0;
        expect_same_flows(scenario, seed, config, random() % 2 == 0 ? 1 + random() % 40 : ~std::size_t{0} >> 1);
    }
}

// With objects, causes and reuse, an L2, and TLBs.
TEST(FlowPaths, AreTheSameWithAllElse) {
    for (unsigned seed = 0; seed < test::runs(kFlowRuns / 4) && !testing::Test::HasFailure(); ++seed) {
        std::mt19937 random(seed);
        Scenario scenario = test::random_scenario(seed);
        if (random() % 2 == 0) scenario = test::with_l2(scenario, seed);
        const unsigned depth = random() % 2 == 0 ? 2 : 0;
        if (depth != 0) scenario = test::with_objects(scenario, seed);
        EngineConfig config = flow_config(scenario);
        config.objects = depth != 0;
        config.object_rules = {.depth = depth};
        config.why = random() % 2 == 0;
        config.reuses = random() % 2 == 0;
        config.context_tree = random() % 2 == 0;
        if (config.why && !config.reuses) config.objects = false;
        const std::size_t batch = 1 + random() % 100;
        if (random() % 2 == 0) scenario = test::with_tlbs(scenario, seed);
        config.tlbs = scenario.tlbs;
        expect_same_flows(scenario, seed, config, batch, config.objects ? depth : 0);
    }
}

// The engine checks at its end that nothing is missing (Engine::check_flow).
TEST(FlowPaths, WhatThereAreTooManyOfIsOnePathMore) {
    std::uint64_t others = 0;
    for (unsigned seed = 0; seed < test::runs(kFlowRuns / 4); ++seed) {
        const Scenario scenario = test::random_scenario(seed);
        const BuiltScenario built(scenario);
        EngineConfig config = flow_config(scenario);
        config.flow_rules.most_nodes = seed % 20;
        Engine engine(config);
        engine.replay_whole(built.trace().batch(0, scenario.records.size()));
        engine.finish();
        for (const FlowPaths::Root& root : engine.flow()->roots()) others += root.other->ended;
        ASSERT_LE(engine.flow()->size() - 2 * engine.flow()->roots().size(), seed % 20);
    }
    EXPECT_GT(others, test::runs(kFlowRuns / 4));
}

class FlowPathsTest : public testing::Test {
protected:
    // How often each path of `f` ended, by the addresses of its blocks.
    std::map<std::vector<Address>, std::uint64_t> ended(const Function& f) {
        std::map<std::vector<Address>, std::uint64_t> found;
        const FlowPaths& flow = *engine_.flow();
        for (std::uint32_t number = 0; number < flow.size(); ++number) {
            const FlowNode& node = flow.node(number);
            if (node.ended == 0 || &flow.root_of(node).context->function() != &f) continue;
            std::vector<Address> path;
            for (const FlowNode* at = &node; at->exit != nullptr; at = &flow.node(at->parent)) {
                path.push_back(at->exit->block->address);
            }
            std::ranges::reverse(path);
            found[path] += node.ended;
        }
        return found;
    }

    test::Program program_;
    test::Trace trace_;
    Engine engine_{{.cache_sim = false, .flow_paths = true}};
};

// for (...) { if (even) a; else b; }: the first iteration begins with the function.
TEST_F(FlowPathsTest, AnIterationIsAPath) {
    Function& f = program_.function("f");
    Block& entry = program_.entry(f, 0x1000).op().ends();
    Block& header = program_.code(f, 0x1004).op().may_exit().op().ends();
    Block& odd = program_.code(f, 0x1020).op().ends();
    Block& latch = program_.code(f, 0x1040).op().may_exit().op().ends(JumpKind::kReturn);
    trace_.thread(1).run_to(entry, 0, 0x8000, {});
    for (int i = 0; i < 10; ++i) {
        trace_.run_to(header, i % 2 == 0 ? 0 : 1, 0x8000, {});
        if (i % 2 != 0) trace_.run_to(odd, 0, 0x8000, {});
        trace_.run_to(latch, i == 9 ? 1 : 0, 0x8000, {});
    }
    engine_.replay_whole(trace_.all());
    engine_.finish();
    const std::map<std::vector<Address>, std::uint64_t> expected{
        {{0x1000, 0x1004, 0x1040}, 1}, {{0x1004, 0x1020, 0x1040}, 4 + 1}, {{0x1004, 0x1040}, 4}};
    std::uint64_t sum = 0;
    for (const auto& [path, times] : ended(f)) sum += times;
    EXPECT_EQ(sum, 10u);
    EXPECT_EQ(ended(f).at({0x1000, 0x1004, 0x1040}), 1u);
    EXPECT_EQ(ended(f).at({0x1004, 0x1040}), 4u);
    EXPECT_EQ(ended(f), expected);
}

}  // namespace
}  // namespace bd
