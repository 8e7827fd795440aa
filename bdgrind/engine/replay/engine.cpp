// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/replay/engine.h"

#include <algorithm>

#include "engine/base/check.h"

namespace bd {

EventSet EngineConfig::events() const {
    EventSet events;
    if (cache_sim) {
        events.enable(EventGroup::kMisses);
        if (cache_use) {
            events.enable(EventGroup::kUse1);
            events.enable(EventGroup::kUse2);
        }
        if (write_back) events.enable(EventGroup::kWriteBacks);
    }
    if (branch_sim) events.enable(EventGroup::kBranches);
    if (bus_events) events.enable(EventGroup::kBus);
    if (system_calls) events.enable(EventGroup::kSystemCalls);
    if (system_cpu_time) events.enable(EventGroup::kSystemCpuTime);
    return events;
}

EngineState::EngineState(const EngineConfig& engine_config)
    : config(engine_config),
      collect_at_start(config.collect_at_start),
      events(config.events()),
      costs(events.width()),
      blocks(costs),
      arcs(events.width()),
      tree(arcs, events.width()),
      calls(contexts, blocks, arcs, tree, config.contexts, config.back_date) {}

void EngineState::mark(Marker marker, const Word* values) {
    const auto id = static_cast<std::uint32_t>(values[0]);
    if (marker == Marker::kCollect) {
        collect_at_start = values[0] != 0;
        for (const Executions& executions : threads) {
            for (const auto& execution : executions) execution->collecting = collect_at_start;
        }
        return;
    }
    if (marker == Marker::kZero) {
        calls.requests().push_back({RequestKind::kZero, nullptr, config.separate_threads ? id : 0});
        return;
    }
    if (marker == Marker::kStop) {
        replay->flush();
        forget_calls();
        return;
    }
    if (threads.size() <= id) threads.resize(id + 1);
    Executions& executions = threads[id];
    if (executions.empty() && marker != Marker::kThreadEnd) add_execution(executions, id, AddressRange{});
    switch (marker) {
        case Marker::kThread:
            thread = id;
            break;
        case Marker::kThreadEnd:
            while (!executions.empty()) leave_execution(executions);
            if (thread == id) current = nullptr;
            return;
        case Marker::kSignalEnter:
            add_execution(executions, id, AddressRange{values[1], values[2]});
            break;
        case Marker::kSignalLeave:
            BD_CHECK_OP(id, ==, thread);
            if (executions.size() > 1) leave_execution(executions);
            break;
        case Marker::kToggleCollect:
            executions.back()->collecting = !executions.back()->collecting;
            break;
        case Marker::kSystemCall:
            charge_system_call(*executions.back(), values);
            break;
        case Marker::kCollect:
        case Marker::kZero:
        case Marker::kStop:
        case Marker::kCount:
            break;
    }
    if (thread == id) current = executions.back().get();
}

bool EngineState::enter_elsewhere(const Block& block, Address stack_pointer) {
    if (!current->within_bounds(stack_pointer)) {
        Executions& executions = threads[thread];
        do {
            BD_CHECK_OP(executions.size(), >, 1u);
            leave_execution(executions);
        } while (!executions.back()->within_bounds(stack_pointer));
        current = executions.back().get();
        calls.enter_by_jump(*current, block, stack_pointer);
    }
    if (calls.requests().empty()) return true;
    calls.stop(*current);
    return false;
}

void EngineState::add_execution(Executions& executions, std::uint32_t id, AddressRange stack) {
    executions.push_back(std::make_unique<Execution>(tree.make_root(), stack));
    executions.back()->collecting = collect_at_start;
    executions.back()->thread = config.separate_threads ? id : 0;
}

void EngineState::leave_execution(Executions& executions) {
    calls.leave_all(*executions.back());
    tree.release(executions.back()->root);
    executions.pop_back();
}

void EngineState::see_no_access(CostId cost, const Access& access) {
    if (!current->collecting) return;
    if (access.kind == AccessKind::kBus) {
        if (!events.has(Event::kGe)) return;  // a trace may have more than is asked for
        ++costs[cost][column(Event::kGe)];
        tree.charge(calls.active_node(*current),
                    [](Costs charged, std::uint64_t times) { charged[column(Event::kGe)] += times; });
        return;
    }
    const std::size_t event = column(is_write(access.kind) ? Event::kDw : Event::kDr);
    --costs[cost][event];
    --current->running[event];
}

// Charged where misses are, to the instruction and the calls that are open.
void EngineState::charge_system_call(Execution& execution, const Word* values) {
    if (!events.has(Event::ksysCount) || !execution.collecting || execution.last == nullptr) return;
    const CostId cost = execution.payer
                            ? blocks.caller(execution.payer)
                            : blocks.instruction(*execution.last, execution.last_exit->instructions - 1u);
    const auto add = [this, values](Costs charged, std::uint64_t times) {
        charged[column(Event::ksysCount)] += times;
        charged[column(Event::ksysTime)] += times * values[1];
        if (events.has(Event::ksysCpuTime)) charged[column(Event::ksysCpuTime)] += times * values[2];
    };
    add(costs[cost], 1);
    tree.charge(calls.active_node(execution), add);
}

// Nobody knows what is called from here on; the executions stay what they are.
void EngineState::forget_calls() {
    for (Executions& executions : threads) {
        for (const auto& execution : executions) {
            calls.abandon(*execution);
        }
    }
}

void EngineState::settle() {
    blocks.settle();
    tree.settle();
    for (const Executions& executions : threads) {
        for (const auto& execution : executions) calls.settle(*execution);
    }
}

void EngineState::zero(std::uint32_t thread_zeroed) {
    settle();
    if (thread_zeroed == 0) {
        blocks.clear_counts();
        costs.clear_counts();
        arcs.clear_counts();
        jumps.clear_counts();
        tree.clear_counts();
        return;
    }
    for (const BlockCost* cost : blocks.all()) {
        if (cost->context->thread() != thread_zeroed) continue;
        for (const Exit& exit : cost->block->exits()) cost->exits[exit.index].taken = 0;
        for (std::size_t i = 0; i < cost->block->instruction_count; ++i) {
            if (cost->instructions[i] == kNoCost) continue;
            const Costs counts = costs[cost->instructions[i]];
            tree.forget(counts);
            std::ranges::fill(counts, 0);
        }
    }
    for (std::uint32_t i = 1; i <= arcs.size(); ++i) {
        const ArcId arc{i};
        if (arcs[arc].site.from->context->thread() != thread_zeroed) continue;
        arcs[arc].calls = 0;
        std::ranges::fill(arcs.costs(arc), 0);
    }
    for (Jump& jump : jumps.all()) {
        if (jump.site.from->context->thread() == thread_zeroed) jump.count = 0;
    }
}

Engine::Engine(const EngineConfig& config)
    : state_(config), replay_(Replay::make(state_)), next_dump_(config.dump_every) {
    state_.replay = replay_.get();
}

std::size_t Engine::replay(Batch batch) {
    BD_CHECK(requests().empty());
    if (config().dump_every == 0) return replay_->run(batch);
    const std::size_t words = replay_->run(batch.first(words_to_next_dump(batch)));
    if (blocks_run() == next_dump_) {
        next_dump_ += config().dump_every;
        state_.calls.requests().push_back({RequestKind::kDumpEvery, nullptr, 0});
    }
    return words;
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
    for (std::size_t id = 0; id < state_.threads.size(); ++id) {
        if (id == thread) continue;
        for (const auto& execution : state_.threads[id]) state_.calls.abandon(*execution);
        while (!state_.threads[id].empty()) state_.leave_execution(state_.threads[id]);
    }
    if (state_.thread != thread) state_.current = nullptr;
    replay_->disown();
    zero(0);
}

void Engine::finish() {
    replay_->flush();
    state_.forget_calls();
    for (auto& executions : state_.threads) {
        while (!executions.empty()) state_.leave_execution(executions);
    }
    state_.current = nullptr;
    state_.blocks.settle();

    // The tree has given everything away, and no more than was charged to instructions.
    BD_CHECK_OP(state_.tree.stats().live, ==, 0u);
    for (std::size_t event = kRunningEvents; event < state_.events.width(); ++event) {
        std::uint64_t self = 0;
        for (std::uint32_t id = 1; id <= state_.costs.size(); ++id) self += state_.costs[CostId{id}][event];
        BD_CHECK_OP(self, ==, state_.tree.root_costs()[event]);
    }
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
    const double loads = static_cast<double>(state_.loads);
    return {state_.tree.stats(),
            state_.loads == 0 ? 0 : static_cast<double>(state_.live_nodes_at_loads) / loads,
            state_.tree.bytes(), state_.arcs.size(), calls};
}

}  // namespace bd
