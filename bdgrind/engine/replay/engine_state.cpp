// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/replay/engine_state.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/replay/replay.h"

namespace bd {

EngineState::EngineState(const EngineConfig& engine_config)
    : config(engine_config),
      collect_at_start(config.collect_at_start),
      events(config.events()),
      costs(events.width()),
      blocks(costs),
      arcs(events.width()),
      context_tree(config.context_tree ? std::make_unique<ContextTree>(config.context_tree_rules, arcs, events.width())
                                       : nullptr),
      tree(arcs, events.width(), context_tree.get()),
      ledger(costs, blocks, tree),
      scopes(config.why && config.reuses ? std::make_unique<ScopeTracker>() : nullptr),
      calls(contexts, blocks, arcs, tree, config.contexts, context_tree.get(), scopes.get()),
      objects(config.objects ? std::make_unique<Objects>(config.object_rules, arcs, costs, config.caches.d1.line_bits(),
                                                         config.why && config.reuses)
                             : nullptr),
      why(config.why ? std::make_unique<Why>(config.caches.d1.lines(), config.whole_reuses, context_tree.get())
                     : nullptr),
      sharing(config.cores != 0 ? std::make_unique<Sharing>(config.caches.d1.line_bits()) : nullptr) {
    BD_CHECK(!config.objects || (config.cache_sim && config.cache_use));
    BD_CHECK(!config.why || config.cache_sim);
    BD_CHECK(config.cores == 0 || (config.cache_sim && config.caches.d1.line_bytes <= 64));
}

void EngineState::mark(Marker marker, std::span<const Word> values) {
    if (marker >= Marker::kCoherence) {
        if (sharing != nullptr) mark_sharing(marker, values);
        return;
    }
    if (marker >= Marker::kAllocatorEntered) {
        if (objects == nullptr) return;
        mark_objects(marker, values);
        if (scopes != nullptr) end_lives();
        return;
    }
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
    if (executions.empty() && marker != Marker::kThreadEnd) add_execution(executions, {id, false, 0}, AddressRange{});
    switch (marker) {
        case Marker::kThread:
            thread = id;
            break;
        case Marker::kThreadEnd:
            if (!executions.empty()) origins.end(id, *executions.front());
            while (!executions.empty()) leave_execution(executions);
            if (thread == id) current = nullptr;
            return;
        case Marker::kSignalEnter:
            add_execution(executions, {id, true, std::exchange(signal, 0)}, AddressRange{values[1], values[2]});
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
        case Marker::kThreadCreate:
            origins.begin(static_cast<std::uint32_t>(values[1]), *executions.back());
            break;
        case Marker::kSignal:
            signal = static_cast<std::uint32_t>(values[1]);
            break;
        case Marker::kCollect:
        case Marker::kZero:
        case Marker::kStop:
        case Marker::kAllocatorEntered:
        case Marker::kAllocatorLeft:
        case Marker::kFreed:
        case Marker::kMapped:
        case Marker::kUnmapped:
        case Marker::kCoherence:
        case Marker::kCoreUse:
        case Marker::kCount:
            break;
    }
    if (thread == id) current = executions.back().get();
}

// What comes before the first block, or behind a jump out of everything that is known, says nothing of calls.
void EngineState::mark_objects(Marker marker, std::span<const Word> values) {
    if (marker == Marker::kFreed) {
        objects->free(values[0]);
        return;
    }
    const bool has_run = current != nullptr && current->last != nullptr;
    if (has_run && marker != Marker::kUnmapped) calls.open_stub(*current);
    switch (marker) {
        case Marker::kAllocatorEntered:
            if (has_run) objects->enter_allocator(*current, values);
            return;
        case Marker::kAllocatorLeft:
            if (has_run) objects->leave_allocator(*current, values[0], values[1]);
            return;
        case Marker::kMapped:
            objects->map(current, values[0], values[1],
                         reinterpret_cast<const std::vector<MappedObject>*>(static_cast<std::uintptr_t>(values[2])));
            return;
        default:
            objects->unmap(values[0], values[1]);
            return;
    }
}

// What is charged is charged like a miss of the latest block's.
void EngineState::mark_sharing(Marker marker, std::span<const Word> values) {
    if (current == nullptr || !current->collecting || current->last == nullptr) return;
    if (marker == Marker::kCoreUse) {
        sharing->add(CoreUseMark::of(values));
        return;
    }
    const CoherenceMark mark = CoherenceMark::of(values);
    const Exit& exit = *current->last_exit;
    if (mark.access >= exit.accesses) return;  // only a trace that is made up has such
    ChargeTarget target = charge_target(*current, *current->last, exit.block->accesses_[mark.access].instruction);
    const CostId instruction = target.costs;
    std::uint32_t group = 0;
    if (objects != nullptr) {
        const GroupId found = objects->find(mark.address, current->stack_pointer, *current, threads);
        group = static_cast<std::uint32_t>(found);
        target.costs = objects->cell(instruction, found);
    }
    ledger.charge(target, [mark](Costs charged, std::uint64_t times) {
        if (mark.transferred) charged[column(mark.is_write ? Event::kXferw : Event::kXferr)] += times;
        if (mark.lost) charged[column(Event::kLost)] += times;
        charged[column(Event::kInval)] += times * mark.invalidated;
    });
    sharing->add(mark, group, instruction);
}

// Of what has been freed.
void EngineState::end_lives() {
    for (const HeapBlock& block : objects->ended()) why->stays.end_life(block.base, block.size);
    objects->ended().clear();
}

bool EngineState::enter_elsewhere(Block& block, Address stack_pointer) {
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

void EngineState::add_execution(Executions& executions, const ContextRoot& what, AddressRange stack) {
    executions.push_back(std::make_unique<Execution>(tree.make_root(), stack));
    executions.back()->collecting = collect_at_start;
    executions.back()->thread = config.separate_threads ? what.thread : 0;
    if (context_tree != nullptr) executions.back()->path.root = context_tree->root(what);
}

void EngineState::leave_execution(Executions& executions) {
    calls.leave_all(*executions.back());
    tree.release(executions.back()->root);
    executions.pop_back();
}

void EngineState::on_unaddressed_access(BlockCost& block, const Access& access) {
    if (!current->collecting) return;
    if (access.kind == AccessKind::kBus) {
        if (!events.has(Event::kGe)) return;  // a trace may have more than is asked for
        ledger.charge(charge_target(*current, block, access.instruction),
                      [](Costs charged, std::uint64_t times) { charged[column(Event::kGe)] += times; });
        return;
    }
    const Event event = is_write(access.kind) ? Event::kDw : Event::kDr;
    ledger.take_back(ledger.instruction(current->charged_site, block, access.instruction), event);
    --current->running[column(event)];
}

// Charged where misses are, to the instruction and the calls that are open.
void EngineState::charge_system_call(Execution& execution, std::span<const Word> values) {
    if (!events.has(Event::ksysCount) || !execution.collecting || execution.last == nullptr) return;
    const std::size_t last_instruction = execution.last_exit->instructions - 1u;
    ledger.charge(charge_target(execution, *execution.last, last_instruction),
                  [this, values](Costs charged, std::uint64_t times) {
                      charged[column(Event::ksysCount)] += times;
                      charged[column(Event::ksysTime)] += times * values[1];
                      if (events.has(Event::ksysCpuTime)) charged[column(Event::ksysCpuTime)] += times * values[2];
                  });
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
    ledger.settle();
    for (const Executions& executions : threads) {
        for (const auto& execution : executions) calls.settle(*execution);
    }
    if (objects != nullptr) objects->settle();
    if (why != nullptr) why->paths.sum_up();
}

void EngineState::zero(std::uint32_t thread_zeroed) {
    settle();
    if (context_tree != nullptr) context_tree->clear_counts(thread_zeroed);
    if (thread_zeroed == 0) {
        blocks.clear_counts();
        ledger.clear_counts();
        arcs.clear_counts();
        jumps.clear_counts();
        if (objects != nullptr) {
            objects->costs().cleared();
            objects->clear_counts(0);
        }
        if (why != nullptr) why->clear();
        if (sharing != nullptr) sharing->clear_counts();
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
        sharing->clear_counts_if([this](CostId instruction) {
            return std::ranges::all_of(std::as_const(costs)[instruction],
                                       [](std::uint64_t count) { return count == 0; });
        });
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

}  // namespace bd
