// SPDX-License-Identifier: GPL-2.0-or-later
//
// Micro-benchmarks of the engine's parts, with Google Benchmark; see docs/performance.md. BD_TRACE=FILE in the
// environment replays a recorded trace, too.

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/cache/hierarchy.h"
#include "engine/costs/backdating_tree.h"
#include "engine/replay/engine.h"
#include "engine/trace/trace_reader.h"
#include "engine/trace/trace_writer.h"
#include "tests/sample_run.h"

namespace bd {
namespace {

using test::Random;
using test::SampleRun;

// Those of the paper.
constexpr CacheGeometries kCaches{.i1 = {32768, 8, 64}, .d1 = {32768, 8, 64}, .ll = {6291456, 12, 64}};

enum class Simulated { kNothing, kMisses, kUse };

EngineConfig config(Simulated what) {
    return {.caches = kCaches, .cache_sim = what != Simulated::kNothing, .cache_use = what == Simulated::kUse};
}

// --- Replay ---------------------------------------------------------------------------------------------------------

// Each round replays the trace once more in the same engine, whose caches and tables are warm from the round before.
void replay(benchmark::State& state, Simulated what, Batch trace, std::size_t records) {
    Engine engine(config(what));
    for (auto _ : state) engine.replay_whole(trace);
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(records));
}

void replay_sample(benchmark::State& state, Simulated what, std::size_t functions) {
    const SampleRun run(1, 200000, functions);
    replay(state, what, run.trace(), run.records());
}
BENCHMARK_CAPTURE(replay_sample, no_caches, Simulated::kNothing, 20);
BENCHMARK_CAPTURE(replay_sample, misses, Simulated::kMisses, 20);
BENCHMARK_CAPTURE(replay_sample, use, Simulated::kUse, 20);
BENCHMARK_CAPTURE(replay_sample, use_much_code, Simulated::kUse, 5000);

// The first part of a recorded trace.
void replay_recorded(benchmark::State& state, Simulated what, std::string_view file) {
    TraceReader reader(file);
    SymbolTable symbols;
    BlockTable blocks(kCaches.i1.line_bits());
    const Batch trace = reader.read(std::size_t{1} << 24, symbols, blocks);
    if (trace.empty()) {
        state.SkipWithError(reader.error() ? reader.error().message : "the trace is empty");
        return;
    }
    replay(state, what, trace, reader.records());
}

// --- Trace files ----------------------------------------------------------------------------------------------------

void write_trace(benchmark::State& state) {
    const SampleRun run(1, 200000, 20);
    for (auto _ : state) benchmark::DoNotOptimize(run.file());
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(run.records()));
}
BENCHMARK(write_trace);

void read_trace(benchmark::State& state) {
    const SampleRun run(1, 200000, 20);
    const std::string file = run.file();
    for (auto _ : state) {
        TraceReader reader(file);
        SymbolTable symbols;
        BlockTable blocks(kCaches.i1.line_bits());
        while (!reader.read(32768, symbols, blocks).empty()) continue;
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(run.records()));
}
BENCHMARK(read_trace);

// --- Caches ---------------------------------------------------------------------------------------------------------

// Blocks of one function, of an instruction each.
class Code {
public:
    // `reads`: so many bytes; 0: it has no access.
    Block& block(Address address, bool is_entry, JumpKind jump, std::uint32_t reads = 0) {
        builder_.start(address, function_, 0, 0, is_entry);
        builder_.add_instruction(address, 4, *function_.file, 1);
        if (reads != 0) builder_.add_access(reads, AccessKind::kRead, false);
        builder_.add_exit(jump);
        return blocks_.add(builder_);
    }

private:
    SymbolTable symbols_;
    BlockTable blocks_{6};
    const Function& function_ = symbols_.function("f", symbols_.file("f.c"), symbols_.object("f"));
    BlockBuilder builder_;
};

struct NullSink {
    ChargeTarget on_load(const LoadEvent&) { return {}; }
    template <class Mask>
    void on_evict_data(const EvictDataEvent<Mask>&) {}
    void on_prefetched(const PrefetchEvent&) {}
    bool is_counted() const { return true; }
    void on_evict(const EvictEvent&) {}
    void drop_charges(ChargeTarget*) {}
};

// Accesses spread evenly over so many bytes, each in a record of its own. I1 and D1 take them by the chunk; what D1
// misses is loaded then, one after the other.
void cache_access(benchmark::State& state, const CacheGeometries& caches, std::size_t bytes) {
    Code code;
    const TracedExit& exit = code.block(0x1000, true, JumpKind::kJump, 8).exits()[0];
    constexpr std::size_t kAccesses = 65536;
    Random random(1);
    std::vector<Word> trace;
    for (std::size_t i = 0; i < kAccesses; ++i) {
        trace.insert(trace.end(), {first_word(exit), 0, 0x10000000 + random.below(bytes / 8) * 8});
    }
    NullSink sink;
    constexpr CacheTraits kTraits{.common_lines = true, .line_use = true, .write_back = false};
    using Caches = Hierarchy<kTraits, NullSink>;
    Caches hierarchy(caches, sink);
    Caches::Chunk chunk;
    for (auto _ : state) {
        for (Batch rest = trace; !rest.empty();) {
            hierarchy.stage().run(rest, &chunk);
            hierarchy.set_chunk(chunk);
            for (const auto& miss : std::span(chunk.misses).first(chunk.misses.size() - 1)) {
                benchmark::DoNotOptimize(hierarchy.follow_data(miss));
            }
            rest = rest.subspan(chunk.words.size());
        }
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kAccesses));
}
constexpr CacheGeometries kTwentyWays{.i1 = kCaches.i1, .d1 = kCaches.d1, .ll = {7864320, 20, 64}};
BENCHMARK_CAPTURE(cache_access, few_lines, kCaches, 4096);
BENCHMARK_CAPTURE(cache_access, l1_cache, kCaches, 32768);
BENCHMARK_CAPTURE(cache_access, last_level, kCaches, 4 << 20);
BENCHMARK_CAPTURE(cache_access, last_level_20_ways, kTwentyWays, 4 << 20);
BENCHMARK_CAPTURE(cache_access, memory, kCaches, 256 << 20);
BENCHMARK_CAPTURE(cache_access, memory_20_ways, kTwentyWays, 256 << 20);

// --- Calls ----------------------------------------------------------------------------------------------------------

// A function calls itself so often and returns; no call loads a line, after the first round.
void call_stack(benchmark::State& state, Simulated what) {
    const auto depth = static_cast<std::size_t>(state.range(0));
    Code code;
    Block& calls = code.block(0x1000, true, JumpKind::kCall);
    Block& returns = code.block(0x1004, false, JumpKind::kReturn);
    std::vector<Word> trace;
    const auto record = [&trace](Block& executed, Address stack_pointer) {
        trace.insert(trace.end(), {first_word(executed.exits()[0]), stack_pointer});
    };
    constexpr Address kStack = 0x7fff0000;
    trace.insert(trace.end(), {marker_word(Marker::kThread), 1, 0, 0});
    for (std::size_t i = 0; i < depth; ++i) record(calls, kStack - 16 * i);
    for (std::size_t i = depth; i-- > 0;) record(returns, kStack - 16 * i);
    Engine engine(config(what));
    for (auto _ : state) engine.replay_whole(trace);
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(depth));
}
BENCHMARK_CAPTURE(call_stack, no_caches, Simulated::kNothing)->Arg(10)->Arg(1000)->Arg(100000);
BENCHMARK_CAPTURE(call_stack, use, Simulated::kUse)->Arg(10)->Arg(1000)->Arg(100000);

// A chain of nodes is made, each is charged, and goes.
void tree_nodes(benchmark::State& state) {
    const auto depth = static_cast<std::size_t>(state.range(0));
    const EventSet events = config(Simulated::kUse).events();
    CostPool costs(events.width());
    BlockCosts block_costs(costs);
    ContextTable contexts;
    ArcTable arcs(events.width());
    BackdatingTree tree(arcs, events.width());
    Code code;
    Block& block = code.block(0x1000, true, JumpKind::kCall);
    BlockCost& cost = block_costs.get(block, contexts.of(*block.function));
    const ArcId arc = arcs.get({&cost, 0}, cost);

    const NodeId root = tree.make_root();
    std::vector<NodeId> chain(depth);
    for (auto _ : state) {
        NodeId node = root;
        for (NodeId& child : chain) {
            node = child = tree.acquire_child(node, arc);
            tree.charge(node, [](Costs counts, std::uint64_t times) { counts[column(Event::kSpLoss1)] += times; });
        }
        for (auto child = chain.rbegin(); child != chain.rend(); ++child) tree.release(*child);
    }
    tree.release(root);
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(depth));
}
BENCHMARK(tree_nodes)->Arg(10)->Arg(1000);

}  // namespace
}  // namespace bd

int main(int argc, char** argv) {
    std::string recorded;
    if (const char* const path = std::getenv("BD_TRACE"); path != nullptr) {
        std::ifstream file(path, std::ios::binary);
        recorded.assign(std::istreambuf_iterator<char>(file), {});
        benchmark::RegisterBenchmark("replay_recorded/no_caches", bd::replay_recorded, bd::Simulated::kNothing,
                                     recorded);
        benchmark::RegisterBenchmark("replay_recorded/misses", bd::replay_recorded, bd::Simulated::kMisses, recorded);
        benchmark::RegisterBenchmark("replay_recorded/use", bd::replay_recorded, bd::Simulated::kUse, recorded);
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
