// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/engine.h"

#include "engine/check.h"

namespace bd {

EventSet EngineConfig::events() const {
    EventSet events;
    if (cache_sim) {
        events.enable(EventGroup::kMisses);
        if (cache_use) {
            events.enable(EventGroup::kUse1);
            events.enable(EventGroup::kUse2);
        }
    }
    return events;
}

EngineState::EngineState(const EngineConfig& engine_config)
    : config(engine_config),
      events(config.events()),
      costs(events.width()),
      blocks(costs),
      arcs(events.width()),
      tree(arcs, events.width()),
      calls(contexts, blocks, arcs, tree, config.contexts) {}

void EngineState::mark(Marker marker, const Word* values) {
    if (marker == Marker::kCollect) {
        collecting = values[0] != 0;
        calls.set_collecting(collecting);
        return;
    }
    const auto id = static_cast<std::uint32_t>(values[0]);
    if (threads.size() <= id) threads.resize(id + 1);
    auto& executions = threads[id];
    if (executions.empty() && marker != Marker::kThreadEnd) {
        executions.push_back(std::make_unique<Execution>(tree.make_root(), AddressRange{}));
    }
    switch (marker) {
        case Marker::kThread:
            thread = id;
            break;
        case Marker::kThreadEnd:
            finish_thread(executions);
            if (thread == id) current = nullptr;
            return;
        case Marker::kSignalEnter:
            executions.push_back(
                std::make_unique<Execution>(tree.make_root(), AddressRange{values[1], values[2]}));
            break;
        case Marker::kSignalLeave:
            BD_CHECK_OP(id, ==, thread);
            if (executions.size() > 1) leave_handler();
            break;
        case Marker::kCollect:
        case Marker::kCount:
            break;
    }
    if (thread == id) current = executions.back().get();
}

void EngineState::leave_handler() {
    auto& executions = threads[thread];
    BD_CHECK_OP(executions.size(), >, 1u);
    calls.leave_all(*executions.back());
    tree.release(executions.back()->root);
    executions.pop_back();
    current = executions.back().get();
}

void EngineState::finish_thread(std::vector<std::unique_ptr<Execution>>& executions) {
    while (!executions.empty()) {
        calls.leave_all(*executions.back());
        tree.release(executions.back()->root);
        executions.pop_back();
    }
}

Engine::Engine(const EngineConfig& config) : state_(config), replay_(Replay::make(state_)) {}

void Engine::finish() {
    replay_->flush();
    for (auto& executions : state_.threads) state_.finish_thread(executions);
    state_.current = nullptr;

    // The tree has given everything away, and no more than was charged to instructions.
    BD_CHECK_OP(state_.tree.stats().live, ==, 0u);
    for (std::size_t event = kRunningEvents; event < state_.events.width(); ++event) {
        std::uint64_t self = 0;
        for (std::uint32_t id = 1; id <= state_.costs.size(); ++id) self += state_.costs[CostId{id}][event];
        BD_CHECK_OP(self, ==, state_.tree.root_costs()[event]);
    }
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
