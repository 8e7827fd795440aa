// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/replay/engine_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/check.h"
#include "engine/replay/follow.h"
#include "engine/replay/replay.h"

namespace bd {

EngineState::EngineState(const EngineConfig& engine_config)
    : config(engine_config),
      collect_at_start(config.collect_at_start),
      events(config.events()),
      costs(events.width()),
      blocks(costs),
      arcs(events.width()),
      context_tree(config.context_tree
                       ? std::make_unique<ContextTree>(config.context_tree_rules, arcs, events.width(), this)
                       : nullptr),
      flow(config.flow_paths ? std::make_unique<FlowPaths>(config.flow_rules, events.width()) : nullptr),
      tree(arcs, events.width(), context_tree.get()),
      ledger(costs, blocks, tree),
      scopes(config.why && config.reuses ? std::make_unique<ScopeTracker>() : nullptr),
      core_costs(config.private_caches(), events.width()),
      calls(contexts, blocks, arcs, tree, config.contexts, context_tree.get(), scopes.get(), flow.get(),
            core_costs.counts() ? &core_costs : nullptr),
      objects(config.objects ? std::make_unique<Objects>(config.object_rules, arcs, costs, config.caches.d1.line_bits(),
                                                         config.why && config.reuses)
                             : nullptr),
      why(config.why ? std::make_unique<Why>(config.caches.d1.lines(), config.whole_reuses, context_tree.get(),
                                             config.reuse_rules.least_distance != 0)
                     : nullptr),
      sharing(config.cores != 0 ? std::make_unique<Sharing>(config.caches.d1.line_bits()) : nullptr),
      core_loads(config.cores != 0 ? std::make_unique<CoreLoads>(config.caches.d1.line_bits(), core_costs.counts())
                                   : nullptr),
      placements(config.placements != 0
                     ? std::make_unique<Placements>(config.caches, config.placements, config.next_level())
                     : nullptr),
      ll_shares(core_costs.counts()
                    ? std::make_unique<LastLevelShares>(config.caches.ll.lines(), config.private_caches())
                    : nullptr) {
    BD_CHECK(config.placements == 0 || (config.cache_sim && config.cores == 0 && !config.separate_threads));
    BD_CHECK(!config.objects || (config.cache_sim && config.cache_use));
    BD_CHECK(!config.why || config.cache_sim);
    BD_CHECK(config.cores == 0 || (config.cache_sim && config.caches.d1.line_bytes <= 64));
}

// What a marker is about, and who takes it.
struct EngineState::MarkerRule {
    enum class About : std::uint8_t {
        kRun,          // all threads
        kThread,       // the guest thread of its first value, which is made if there is none
        kKnownThread,  // the same if there is one
        kObjects,      // data objects; passed over without these
        kCores,        // cores; the same
    };
    using Take = void (EngineState::*)(std::span<const Word> values);

    Marker marker;
    About about;
    Take take;
};

void EngineState::mark(Marker marker, std::span<const Word> values) {
    using enum MarkerRule::About;
    static constexpr MarkerRule kRules[]{
        {Marker::kThread, kThread, &EngineState::switch_to_thread},
        {Marker::kThreadEnd, kKnownThread, &EngineState::end_thread},
        {Marker::kSignalEnter, kThread, &EngineState::enter_handler},
        {Marker::kSignalLeave, kThread, &EngineState::leave_handler},
        {Marker::kCollect, kRun, &EngineState::collect},
        {Marker::kToggleCollect, kThread, &EngineState::toggle_collect},
        {Marker::kZero, kRun, &EngineState::request_zero},
        {Marker::kStop, kRun, &EngineState::stop},
        {Marker::kSystemCall, kThread, &EngineState::charge_system_call},
        {Marker::kThreadCreate, kThread, &EngineState::create_thread},
        {Marker::kSignal, kThread, &EngineState::note_signal},
        {Marker::kAllocatorEntered, kObjects, &EngineState::enter_allocator},
        {Marker::kAllocatorLeft, kObjects, &EngineState::leave_allocator},
        {Marker::kFreed, kObjects, &EngineState::free_block},
        {Marker::kMapped, kObjects, &EngineState::map},
        {Marker::kUnmapped, kObjects, &EngineState::unmap},
        {Marker::kCoherence, kCores, &EngineState::charge_coherence},
        {Marker::kCoreUse, kCores, &EngineState::note_core_use},
    };
    static_assert(std::size(kRules) == static_cast<std::size_t>(Marker::kCount));
    static_assert(
        [] {
            for (std::size_t i = 0; i < std::size(kRules); ++i) {
                if (kRules[i].marker != Marker{static_cast<std::uint8_t>(i)}) return false;
            }
            return true;
        }(),
        "they are found by their numbers");

    const MarkerRule& rule = kRules[static_cast<std::size_t>(marker)];
    switch (rule.about) {
        case kRun:
            (this->*rule.take)(values);
            break;
        case kThread:
        case kKnownThread: {
            const auto id = static_cast<std::uint32_t>(values[0]);
            if (threads.size() <= id) threads.resize(id + 1);
            if (threads[id].empty() && rule.about == kThread) {
                add_execution(threads[id], {id, false, 0}, AddressRange{});
            }
            (this->*rule.take)(values);
            if (thread == id) current = threads[id].empty() ? nullptr : threads[id].back().get();
            break;
        }
        case kObjects:
            if (objects == nullptr) break;
            (this->*rule.take)(values);
            if (scopes != nullptr) end_lives();
            break;
        case kCores:
            if (sharing != nullptr && has_run() && current->collecting) (this->*rule.take)(values);
            break;
    }
}

// --- Markers about threads

void EngineState::switch_to_thread(std::span<const Word> values) {
    thread = static_cast<std::uint32_t>(values[0]);
    if (config.cores == 0) return;
    core = core_of_thread(thread, values[1], config.cores);
    if (!core_costs.counts()) return;
    for (const auto& execution : threads[thread]) calls.move_to(*execution, core);
}

void EngineState::end_thread(std::span<const Word> values) {
    const auto id = static_cast<std::uint32_t>(values[0]);
    Executions& executions = threads[id];
    if (!executions.empty()) origins.end(id, *executions.front());
    while (!executions.empty()) leave_execution(executions);
}

void EngineState::create_thread(std::span<const Word> values) {
    origins.begin(static_cast<std::uint32_t>(values[1]), latest_execution(values));
}

void EngineState::note_signal(std::span<const Word> values) {
    signal = static_cast<std::uint32_t>(values[1]);
}

void EngineState::enter_handler(std::span<const Word> values) {
    const auto id = static_cast<std::uint32_t>(values[0]);
    add_execution(threads[id], {id, true, std::exchange(signal, 0)}, AddressRange{values[1], values[2]});
}

void EngineState::leave_handler(std::span<const Word> values) {
    BD_CHECK_OP(static_cast<std::uint32_t>(values[0]), ==, thread);
    if (threads[thread].size() > 1) leave_execution(threads[thread]);
}

void EngineState::toggle_collect(std::span<const Word> values) {
    Execution& execution = latest_execution(values);
    cut_jump(execution);
    execution.collecting = !execution.collecting;
}

// Charged where misses are, to the instruction and the calls that are open.
void EngineState::charge_system_call(std::span<const Word> values) {
    Execution& execution = latest_execution(values);
    if (!events.has(Event::ksysCount) || !execution.collecting || execution.last == nullptr) return;
    const std::size_t last_instruction = execution.last_exit->instructions - 1u;
    charge_now(execution, *execution.last, last_instruction, [this, values](Costs charged, std::uint64_t times) {
        charged[column(Event::ksysCount)] += times;
        charged[column(Event::ksysTime)] += times * values[1];
        if (events.has(Event::ksysCpuTime)) charged[column(Event::ksysCpuTime)] += times * values[2];
    });
}

// --- Markers about all threads

void EngineState::collect(std::span<const Word> values) {
    collect_at_start = values[0] != 0;
    cut_jumps();
    for (const Executions& executions : threads) {
        for (const auto& execution : executions) execution->collecting = collect_at_start;
    }
}

void EngineState::request_zero(std::span<const Word> values) {
    const std::uint32_t zeroed = config.separate_threads ? static_cast<std::uint32_t>(values[0]) : 0;
    calls.requests().push_back({RequestKind::kZero, nullptr, zeroed});
}

void EngineState::stop(std::span<const Word>) {
    replay->flush();
    forget_calls();
}

// --- Markers about data objects

// What comes before the first block, or behind a jump out of everything that is known, says nothing of calls.
void EngineState::enter_allocator(std::span<const Word> values) {
    if (!has_run()) return;
    calls.open_stub(*current);
    objects->enter_allocator(*current, values);
}

void EngineState::leave_allocator(std::span<const Word> values) {
    if (!has_run()) return;
    calls.open_stub(*current);
    objects->leave_allocator(*current, values[0], values[1]);
}

void EngineState::free_block(std::span<const Word> values) {
    objects->free(values[0]);
}

void EngineState::map(std::span<const Word> values) {
    if (has_run()) calls.open_stub(*current);
    objects->map(current, values[0], values[1],
                 reinterpret_cast<const std::vector<MappedObject>*>(static_cast<std::uintptr_t>(values[2])));
}

void EngineState::unmap(std::span<const Word> values) {
    objects->unmap(values[0], values[1]);
}

// Of what has been freed.
void EngineState::end_lives() {
    for (const HeapBlock& block : objects->ended()) why->stays.end_life(block.base, block.size);
    objects->ended().clear();
}

// --- Markers about cores

void EngineState::note_core_use(std::span<const Word> values) {
    sharing->add(CoreUseMark::of(values));
}

// What is charged is charged like a miss of the latest block's.
void EngineState::charge_coherence(std::span<const Word> values) {
    const CoherenceMark mark = CoherenceMark::of(values);
    const Exit& exit = *current->last_exit;
    if (mark.access >= exit.accesses) return;  // only a trace that is made up has such
    ChargeTarget target = charge_target(*current, *current->last, exit.block->accesses_[mark.access].instruction);
    const CostId instruction = target.costs;
    std::uint32_t group = 0;
    ObjectRange object;
    if (objects != nullptr) {
        const GroupId found = objects->find(mark.address, current->stack_pointer, *current, threads);
        group = static_cast<std::uint32_t>(found);
        target.costs = objects->cell(instruction, found);
        if (mark.is_followed) object = objects->object_at(mark.address);
    }
    const auto add = [mark](Costs charged, std::uint64_t times) {
        if (mark.transferred) charged[column(mark.is_write ? Event::kXferw : Event::kXferr)] += times;
        if (mark.lost) charged[column(Event::kLost)] += times;
        charged[column(Event::kInval)] += times * mark.invalidated;
    };
    ledger.charge(target, add);
    if (core_costs.counts()) add(core_costs.of(current->core), 1);
    if (flow != nullptr) charge_flow(*current, instruction, add);
    sharing->add(mark, group, object, instruction);
}

bool EngineState::enter_elsewhere(Block& block, Address stack_pointer) {
    if (!current->within_bounds(stack_pointer)) {
        Executions& executions = threads[thread];
        do {
            BD_CHECK_OP(executions.size(), >, 1u);
            leave_execution(executions);
        } while (!executions.back()->within_bounds(stack_pointer));
        current = executions.back().get();
        cut_jump(*current);
        calls.enter_by_jump(*current, block, stack_pointer);
    }
    if (calls.requests().empty()) return true;
    calls.stop(*current);
    return false;
}

void EngineState::add_execution(Executions& executions, const ContextRoot& what, AddressRange stack) {
    executions.push_back(std::make_unique<Execution>(tree.make_root(), stack));
    executions.back()->collecting = collect_at_start;
    executions.back()->thread = config.separate_threads ? what.thread : 0;
    if (core_costs.counts()) {
        if (executions.size() > 1) {
            executions.back()->core = executions.front()->core;
        } else if (what.thread == thread) {
            executions.back()->core = core;
        }
    }
    if (context_tree != nullptr) executions.back()->path.root = context_tree->root(what);
}

void EngineState::leave_execution(Executions& executions) {
    cut_jump(*executions.back());
    calls.leave_all(*executions.back());
    tree.release(executions.back()->root);
    executions.pop_back();
}

void EngineState::on_unaddressed_access(BlockCost& block, const Access& access) {
    if (!current->collecting) return;
    if (access.kind == AccessKind::kBus) {
        if (!events.has(Event::kGe)) return;  // a trace may have more than is asked for
        charge_now(*current, block, access.instruction,
                   [](Costs charged, std::uint64_t times) { charged[column(Event::kGe)] += times; });
        return;
    }
    const Event event = is_write(access.kind) ? Event::kDw : Event::kDr;
    const CostId instruction = ledger.instruction(current->charged_site, block, access.instruction);
    ledger.take_back(instruction, event);
    if (flow != nullptr) {
        charge_flow(*current, instruction, [event](Costs charged, std::uint64_t) { --charged[column(event)]; });
    }
    --current->running[column(event)];
}

std::vector<ContextNodeId> EngineState::fold_context_tree() {
    if (why != nullptr) why->sum_up();
    const auto for_each_stack = [this](auto use) {
        for (const Executions& executions : threads) {
            for (const auto& execution : executions) {
                use(*execution);
                for (const auto& other : execution->others) use(*other);
            }
        }
    };
    std::vector<ContextNodeId> open;
    for_each_stack([&](CallStack& stack) {
        calls.charge_path(stack);
        open.push_back(stack.path.node);
        open.insert(open.end(), stack.path.callers.begin(), stack.path.callers.end());
    });
    const std::vector<ContextNodeId> now = context_tree->fold(open);
    tree.renumber_context_nodes(now);
    for_each_stack([&](CallStack& stack) {
        stack.path.root = now[index_of(stack.path.root)];
        stack.path.node = now[index_of(stack.path.node)];
        for (ContextNodeId& caller : stack.path.callers) caller = now[index_of(caller)];
    });
    return now;
}

void EngineState::cut_jump(Execution& execution) {
    const Exit* const exit = execution.last_exit;
    if (!config.collect_jumps || execution.jump_is_cut || exit == nullptr || CallTracker::is_stop(exit)) return;
    if (exit->jump != JumpKind::kJump) return;
    execution.jump_is_cut = true;
    if (ReplayCursor::counts(execution)) jumps.cut({execution.last, exit->index});
}

void EngineState::cut_jumps() {
    for (const Executions& executions : threads) {
        for (const auto& execution : executions) cut_jump(*execution);
    }
}

// Calls are not seen from here on; the executions stay what they are.
void EngineState::forget_calls() {
    cut_jumps();
    for (Executions& executions : threads) {
        for (const auto& execution : executions) {
            calls.abandon(*execution);
        }
    }
}

// So that all that has been counted is that of a path that has ended.
void EngineState::cut_flow() {
    if (flow == nullptr) return;
    for (const Executions& executions : threads) {
        for (const auto& execution : executions) {
            flow->cut(execution->flow);
            for (const auto& other : execution->others) flow->cut(other->flow);
        }
    }
    flow->settle();
}

void EngineState::settle() {
    cut_jumps();
    blocks.settle();
    jumps.settle();
    cut_flow();
    ledger.settle();
    for (const Executions& executions : threads) {
        for (const auto& execution : executions) calls.settle(*execution);
    }
    if (objects != nullptr) objects->settle();
    if (why != nullptr) why->sum_up();
    if (placements != nullptr) placements->settle();
}

void EngineState::zero(std::uint32_t thread_zeroed) {
    settle();
    if (placements != nullptr) placements->clear_counts();
    if (context_tree != nullptr) context_tree->clear_counts(thread_zeroed);
    if (flow != nullptr) flow->clear_counts(thread_zeroed);
    if (thread_zeroed == 0) {
        core_costs.clear_counts();
        blocks.clear_counts();
        ledger.clear_counts();
        arcs.clear_counts();
        jumps.clear_counts_if([](const Jump&) { return true; });
        if (objects != nullptr) {
            objects->costs().cleared();
            objects->clear_counts(0);
        }
        if (why != nullptr) why->clear();
        if (sharing != nullptr) sharing->clear_counts();
        if (core_loads != nullptr) core_loads->clear_counts_if([](CostId) { return true; });
        if (ll_shares != nullptr) ll_shares->clear_counts();
        return;
    }
    for (const BlockCost* cost : blocks.all()) {
        if (cost->context->thread() != thread_zeroed) continue;
        for (const Exit& exit : cost->block->exits()) cost->exits[exit.index].taken = 0;
        for (std::size_t i = 0; i < cost->block->instruction_count; ++i) {
            if (cost->instructions[i] == kNoCost) continue;
            ledger.forget(cost->instructions[i]);
        }
    }
    if (objects != nullptr) objects->clear_counts(thread_zeroed);
    if (why != nullptr) {
        why->drop_zeroed(costs, thread_zeroed, [this](CostId id) {
            return objects != nullptr ? objects->costs().owner_of(id).instruction : id;
        });
    }
    if (sharing != nullptr) {
        const auto is_zeroed = [this](CostId instruction) {
            return instruction != kNoCost && std::ranges::all_of(std::as_const(costs)[instruction],
                                                                 [](std::uint64_t count) { return count == 0; });
        };
        sharing->clear_counts_if(is_zeroed);
        core_loads->clear_counts_if(is_zeroed);
    }
    for (std::uint32_t i = 1; i <= arcs.size(); ++i) {
        const ArcId arc{i};
        if (arcs[arc].site.from->context->thread() != thread_zeroed) continue;
        arcs[arc].calls = 0;
        std::ranges::fill(arcs.costs(arc), 0);
    }
    jumps.clear_counts_if(
        [thread_zeroed](const Jump& jump) { return jump.site.from->context->thread() == thread_zeroed; });
}

}  // namespace bd
