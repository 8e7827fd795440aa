// SPDX-License-Identifier: GPL-2.0-or-later
//
// bdcompare: runs the engine and the naive engine of the unit tests on a recorded trace, and says where they differ.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/replay/engine.h"
#include "engine/trace/trace_reader.h"
#include "tool/function_options.h"
#include "tool/options.h"
#include "unit/engine_costs.h"
#include "unit/naive_engine.h"
#include "unit/scenario.h"

namespace bd {
namespace {

using test::Scenario;

constexpr const char* kUsage =
    "Usage: bdcompare [OPTION]... TRACE...\n"
    "Runs bdgrind's engine and a naive one, which shares no code with it, on traces\n"
    "that were recorded with valgrind --tool=bdgrind --record-trace=TRACE. The options\n"
    "are those of bdgrind's that name the caches, and of data objects those that were\n"
    "recorded with; and --why=yes. All other events are counted whatever was recorded.\n"
    "The exit status is 1 if the engines differ, and 2 if a trace cannot be read.\n";

// Of more lines than that, the engine need not count patterns one by one.
constexpr std::uint64_t kMostLinesForPatterns = 1u << 17;

Scenario::Block block_of(const Block& block) {
    Scenario::Block result{.address = block.address,
                           .function = block.function->id,
                           .section = block.section % kSectionsPerObject,
                           .is_entry = block.is_entry,
                           .instruction_sizes = {},
                           .accesses = {},
                           .exits = {}};
    for (const Instruction& instruction : block.instructions()) result.instruction_sizes.push_back(instruction.size);
    for (const Access& access : block.accesses()) {
        result.accesses.push_back({access.instruction, access.size, access.kind, access.guarded});
    }
    for (const Exit& exit : block.exits()) {
        result.exits.push_back({exit.instructions, exit.accesses, exit.jump, exit.branch});
    }
    return result;
}

// The addresses of single accesses, from those of their groups.
std::vector<Address> addresses_of(const Exit& exit, const Word* groups) {
    std::vector<Address> addresses;
    for (const Access& access : exit.block->accesses().first(exit.accesses)) {
        const Address first = groups[access.group];
        const bool absent = access.guarded && first == 0;
        addresses.push_back(absent ? 0 : first + static_cast<Address>(std::int64_t{access.distance}));
    }
    return addresses;
}

void add_records(Batch batch, Scenario& scenario) {
    for (std::size_t at = 0; at < batch.size(); at += record_words(batch[at])) {
        const Exit& exit = exit_of(batch[at]);
        Scenario::Record record;
        if (exit.block == nullptr) {
            record.is_marker = true;
            record.marker = static_cast<Marker>(exit.index);
            std::copy_n(&batch[at + 1], record_words(batch[at]) - 1, record.values);
        } else {
            record.block = exit.block->id;
            record.exit = exit.index;
            record.stack_pointer = batch[at + 1];
            record.addresses = addresses_of(exit, &batch[at] + kHeaderWords);
        }
        scenario.records.push_back(record);
    }
}

void add_code(const SymbolTable& symbols, const BlockTable& blocks, Scenario& scenario) {
    for (const auto& function : symbols.functions()) {
        scenario.functions.push_back({.object = function->object->id,
                                      .skipped = function->skipped,
                                      .left_by_jump = function->left_by_jump,
                                      .recursion_levels = function->recursion_levels,
                                      .caller_count = function->caller_count,
                                      .triggers = function->triggers,
                                      .allocator = function->allocator,
                                      .wraps_allocators = function->wraps_allocators,
                                      .is_named = std::strncmp(function->name, "0x", 2) != 0});
    }
    for (const Block* block : blocks.blocks()) scenario.blocks.push_back(block_of(*block));
}

EngineConfig with_all_events(EngineConfig config) {
    config.contexts.separate_callers = true;
    config.write_back = true;
    config.branch_sim = true;
    config.collect_jumps = true;
    config.bus_events = true;
    config.system_calls = true;
    config.system_cpu_time = true;
    return config;
}

// The exit status.
int compare(const char* path, const Options& options) {
    std::ifstream file(path, std::ios::binary);
    const std::string trace{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    TraceReader reader(trace);
    const EngineConfig config = with_all_events(engine_config(options, reader.run().caches));
    const FunctionOptions function_options(options);
    SymbolTable symbols(&function_options);
    BlockTable blocks(config.caches.i1.line_bits());
    Engine engine(config);
    Scenario scenario;
    scenario.caches = config.caches;
    scenario.tlbs = config.tlbs;
    scenario.callgrind_prefetcher = config.callgrind_prefetcher;
    scenario.prefetchers = config.prefetchers;
    scenario.l2_prefetchers = config.l2_prefetchers;
    for (Batch batch = reader.read(32768, symbols, blocks); !batch.empty();
         batch = reader.read(32768, symbols, blocks)) {
        add_records(batch, scenario);
        engine.replay_whole(batch);
    }
    if (const TraceError& error = reader.error()) {
        std::fprintf(stderr, "bdcompare: %s: %s\n", path, error.message);
        return 2;
    }
    engine.finish();
    add_code(symbols, blocks, scenario);

    test::RunCosts costs;
    test::add_costs_of(engine, 0, costs);
    const unsigned depth = options.objects ? options.objects_depth : 0;
    test::RunCosts expected = test::run_naively(scenario, scenario.records.size(), {}, depth, config.why,
                                                    config.whole_reuses, false, config.reuse_rules.least_distance);
    // The naive engine knows all lines, and no objects that end.
    if (depth != 0 || (config.why && engine.why()->stays.one_in() != 1)) expected.stays = costs.stays = {};
    const std::uint64_t lines = expected.totals[column(Event::kEvLineD1)];
    const bool with_patterns = depth != 0 && lines <= kMostLinesForPatterns;
    std::string differences =
        test::differences(expected, costs, engine.events(), config.collect_jumps, with_patterns);
    if (config.why && config.reuses) differences += test::reuse_differences(expected, costs);
    std::printf("%s: %zu records, %zu functions, %zu arcs, ", path, scenario.records.size(), scenario.functions.size(),
                expected.arcs.size());
    if (config.why && config.reuses) {
        std::printf("%zu distances, %zu reuses, %zu stays, ", expected.distances.size(), expected.reuses.size(),
                    expected.stays.size());
    }
    if (depth != 0) {
        std::printf("%zu costs of objects, %zu patterns, %zu of large objects%s, ", expected.objects.size(),
                    expected.patterns.size(), expected.large_patterns.size(),
                    with_patterns ? "" : " (too many lines to compare them)");
    }
    std::printf("%s\n%s", differences.empty() ? "no difference" : "they differ", differences.c_str());
    return differences.empty() ? 0 : 1;
}

}  // namespace
}  // namespace bd

int main(int argc, char** argv) {
    bd::Options options;
    int status = 0;
    bool any = false;
    for (int i = 1; i < argc; ++i) {
        bd::OptionError error;
        if (bd::parse_option(argv[i], &options, &error)) {
            if (error.message == nullptr) continue;
            std::fprintf(stderr, "bdcompare: --%s=%s: %s\n", error.name, error.value, error.message);
            return 2;
        }
        if (argv[i][0] == '-') {
            std::fputs(bd::kUsage, std::strcmp(argv[i], "--help") == 0 ? stdout : stderr);
            return std::strcmp(argv[i], "--help") == 0 ? 0 : 2;
        }
        any = true;
        status = std::max(status, bd::compare(argv[i], options));
    }
    if (!any) std::fputs(bd::kUsage, stderr);
    return any ? status : 2;
}
