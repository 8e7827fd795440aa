// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/replay/engine.h"

#include <algorithm>

#include "engine/base/check.h"

namespace bd {

Engine::Engine(const EngineConfig& config)
    : state_(config), replay_(Replay::make(state_)), next_dump_(config.dump_every) {
    BD_CHECK(config.cache_sim || !config.orders);
    if (config.orders) {
        orders_ =
            std::make_unique<OrderSampler>(config.caches.d1.line_bytes, config.separate_threads, config.order_sampling);
    }
    state_.replay = replay_.get();
}

std::size_t Engine::replay(Batch batch) {
    BD_CHECK(requests().empty());
    unfold_objects();
    if (config().dump_every == 0) return run(batch);
    const std::size_t words = run(batch.first(words_to_next_dump(batch)));
    if (blocks_run() == next_dump_) {
        next_dump_ += config().dump_every;
        state_.calls.requests().push_back({RequestKind::kDumpEvery, nullptr, 0});
    }
    return words;
}

std::size_t Engine::run(Batch batch) {
    if (orders_ == nullptr) return replay_->run(batch);
    const auto collects = [&] {
        return state_.current == nullptr ? state_.collect_at_start : state_.current->collecting;
    };
    const bool collected = collects();
    const std::uint32_t thread = state_.thread;
    const std::size_t words = replay_->run(batch);
    orders_->replay(batch.first(words), thread, collected && collects());
    return words;
}

void Engine::zero(std::uint32_t thread) {
    state_.zero(thread);
    if (orders_ != nullptr) orders_->clear_counts(thread);
}

void Engine::replay_whole(Batch batch) {
    while (!batch.empty()) {
        batch = batch.subspan(replay(batch));
        for (const Request& request : requests()) {
            if (request.kind == RequestKind::kZero) zero(request.thread);
        }
        clear_requests();
    }
}

// All of them if it does not come within the batch.
std::size_t Engine::words_to_next_dump(Batch batch) const {
    std::uint64_t blocks = next_dump_ - blocks_run();
    if (blocks > batch.size() / kHeaderWords) return batch.size();
    std::size_t words = 0;
    while (words < batch.size() && blocks != 0) {
        const Exit& exit = exit_of(batch[words]);
        if (exit.block != nullptr) --blocks;
        words += record_words(batch[words]);
    }
    return words;
}

void Engine::start_in_child(std::uint32_t thread) {
    unfold_objects();
    state_.origins.forget();  // what was open then is the parent's
    for (std::size_t id = 0; id < state_.threads.size(); ++id) {
        if (id == thread) continue;
        for (const auto& execution : state_.threads[id]) {
            state_.cut_jump(*execution);
            state_.calls.abandon(*execution);
        }
        while (!state_.threads[id].empty()) state_.leave_execution(state_.threads[id]);
    }
    if (state_.thread != thread) state_.current = nullptr;
    replay_->drop_charges();
    zero(0);
}

void Engine::evict_all() {
    unfold_objects();
    replay_->flush();
}

void Engine::unfold_objects() {
    if (state_.objects != nullptr) state_.objects->costs().unfold();
}

void Engine::finish() {
    evict_all();
    for (std::uint32_t id = 0; id < state_.threads.size(); ++id) {
        if (!state_.threads[id].empty()) state_.origins.end(id, *state_.threads[id].front());
    }
    state_.forget_calls();
    for (auto& executions : state_.threads) {
        while (!executions.empty()) state_.leave_execution(executions);
    }
    state_.current = nullptr;
    state_.blocks.settle();
    state_.jumps.settle();
    state_.ledger.check_balance();
    if (state_.objects != nullptr) state_.objects->settle();
    if (state_.why != nullptr) state_.why->sum_up();
    if (state_.placements != nullptr) state_.placements->settle();
    if (state_.flow != nullptr) {
        state_.flow->settle();
        check_flow();
    }
}

// All that a function costs belongs to one of its paths.
void Engine::check_flow() const {
    const FlowPaths& flow = *state_.flow;
    BD_CHECK_OP(flow.records_in_use(), ==, 0u);
    const std::size_t width = events().width();
    std::vector<std::uint64_t> rest(state_.contexts.size() * width);  // by context: what paths have not got
    const auto of = [&](const Context& context) { return Costs(rest).subspan(context.id() * width, width); };
    const auto subtract = [&](const Context& context, const Exit& exit, std::uint64_t times) {
        of(context)[column(Event::kIr)] -= times * exit.instructions;
        of(context)[column(Event::kDr)] -= times * exit.reads;
        of(context)[column(Event::kDw)] -= times * exit.writes;
    };
    for (const BlockCost* cost : state_.blocks.all()) {
        if (!cost->context->function().follows_paths) continue;
        for (const Exit& exit : cost->block->exits()) {
            subtract(*cost->context, exit, 0 - cost->exits[exit.index].taken);
        }
        for (std::size_t i = 0; i < cost->block->instruction_count; ++i) {
            if (cost->instructions[i] != kNoCost) add(of(*cost->context), state_.costs[cost->instructions[i]]);
        }
    }
    const std::vector<std::uint64_t> passed = flow.passed();
    std::vector<const Context*> contexts(flow.size());  // by node
    for (const FlowPaths::Root& root : flow.roots()) contexts[root.node->number] = root.context;
    for (std::uint32_t number = 0; number < flow.size(); ++number) {
        const FlowPaths::Node& node = flow.node(number);
        if (contexts[number] == nullptr) contexts[number] = contexts[node.parent];
        if (node.exit != nullptr) subtract(*contexts[number], *node.exit, passed[number]);
    }
    for (const FlowPaths::Cell& cell : flow.cells()) {
        const Costs costs = of(*contexts[cell.node->number]);
        for (std::size_t i = 0; i < width; ++i) costs[i] -= flow.costs(cell)[i];
    }
    for (const std::uint64_t count : rest) BD_CHECK_OP(count, ==, 0u);
}

std::vector<std::uint32_t> Engine::threads() const {
    if (!config().separate_threads) return {0};
    std::vector<std::uint32_t> threads;
    for (const BlockCost* cost : state_.blocks.all()) threads.push_back(cost->context->thread());
    std::ranges::sort(threads);
    threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
    return threads;
}

std::vector<std::uint64_t> Engine::totals(std::uint32_t thread) const {
    std::vector<std::uint64_t> totals(events().width());
    for (const BlockCost* cost : state_.blocks.all()) {
        if (cost->context->thread() != thread) continue;
        for (const Exit& exit : cost->block->exits()) {
            const std::uint64_t taken = cost->exits[exit.index].taken;
            totals[column(Event::kIr)] += taken * exit.instructions;
            totals[column(Event::kDr)] += taken * exit.reads;
            totals[column(Event::kDw)] += taken * exit.writes;
        }
        for (std::size_t i = 0; i < cost->block->instruction_count; ++i) {
            if (cost->instructions[i] != kNoCost) add(totals, state_.costs[cost->instructions[i]]);
        }
    }
    return totals;
}

std::vector<ThreadOrigin> Engine::thread_origins() const {
    std::vector<ThreadOrigin> origins = state_.origins.ended();
    for (std::uint32_t id = 0; id < state_.threads.size(); ++id) {
        if (!state_.threads[id].empty()) state_.origins.add_running(id, *state_.threads[id].front(), &origins);
    }
    return origins;
}

std::vector<Engine::Stack> Engine::stacks() const {
    std::vector<Stack> stacks;
    for (std::uint32_t id = 0; id < state_.threads.size(); ++id) {
        for (const auto& execution : state_.threads[id]) stacks.push_back({id, execution.get()});
    }
    return stacks;
}

EngineStats Engine::stats() const {
    std::uint64_t calls = 0;
    for (std::uint32_t id = 1; id <= state_.arcs.size(); ++id) calls += state_.arcs[ArcId{id}].calls;
    return {state_.tree.stats(), state_.tree.bytes(), state_.arcs.size(), calls};
}

}  // namespace bd
