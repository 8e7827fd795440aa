// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine_costs.h"

#include <algorithm>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace bd::test {
namespace {

void add_to(Counts& counts, ConstCosts costs) {
    for (std::size_t i = 0; i < costs.size(); ++i) counts[i] += costs[i];
}

ContextKey key_of(const Context& context) {
    ContextKey key{context.function().id, context.level()};
    for (const Function* caller : context.callers()) key.callers.push_back(caller->id);
    return key;
}

// Of all nodes, or of those in one thread. "Other" nodes end with a step to kOtherPaths.
void add_paths_of(const ContextTree& tree, std::uint32_t thread, std::map<PathKey, PathCounts>& paths) {
    std::vector<PathKey> keys(tree.nodes().size());
    Counts costs{};
    for (std::uint32_t id = 1; id < tree.nodes().size(); ++id) {
        const ContextTree::Node& node = tree.nodes()[id];
        if (tree.is_root(node)) {
            const ContextRoot& root = tree.root_of(node);
            keys[id] = {root.thread, root.is_handler, root.signal};
            continue;
        }
        keys[id] = keys[index_of(node.parent)];
        const ContextTree::Step& step = tree.steps()[node.step];
        keys[id].steps.push_back({tree.is_other(node) ? kOtherPaths : key_of(*step.context)});
        if (step.site) keys[id].steps.back().site = step.site.from->block->exits()[step.site.exit].branch_address();
        if (thread != 0 && keys[id].thread != thread) continue;
        tree.get_costs(node, costs);
        PathCounts& counts = paths[keys[id]];
        counts.calls += node.calls;
        add_to(counts.self, costs);
    }
}

// Those in one thread (0: in all).
void add_flows_of(const Engine& engine, std::uint32_t thread, const std::map<CostId, InstructionKey>& instructions,
                  std::map<FlowKey, FlowCounts>& flows) {
    const FlowPaths& flow = *engine.flow();
    const auto key = [&](const FlowNode& node) {
        FlowKey path{key_of(*flow.root_of(node).context), {}};
        for (const FlowNode* at = &node; at->kind != FlowNode::Kind::kRoot; at = &flow.node(at->parent)) {
            if (at->kind == FlowNode::Kind::kOther) {
                path.steps.push_back({~0u, 0});
            } else {
                path.steps.push_back({at->exit->block->id, at->exit->index, at->is_charged});
            }
        }
        std::ranges::reverse(path.steps);
        return path;
    };
    for (std::uint32_t number = 0; number < flow.size(); ++number) {
        const FlowNode& node = flow.node(number);
        if (node.ended == 0 || (thread != 0 && flow.root_of(node).context->thread() != thread)) continue;
        FlowCounts& counts = flows[key(node)];
        counts.times += node.ended;
        for (const FlowNode* at = &node; at->exit != nullptr; at = &flow.node(at->parent)) {
            counts.total[column(Event::kIr)] += node.ended * at->exit->instructions;
            counts.total[column(Event::kDr)] += node.ended * at->exit->reads;
            counts.total[column(Event::kDw)] += node.ended * at->exit->writes;
        }
    }
    for (const FlowPaths::Cell& cell : flow.cells()) {
        if (thread != 0 && flow.root_of(*cell.node).context->thread() != thread) continue;
        FlowCounts& counts = flows[key(*cell.node)];
        add_to(counts.total, flow.costs(cell));
        Counts rare{};
        add_to(rare, flow.costs(cell));
        for (std::size_t i = 0; i < kRunningEvents; ++i) rare[i] = 0;
        if (rare == Counts{}) continue;
        Counts& of_instruction = counts.rare[instructions.at(cell.instruction)];
        for (std::size_t i = 0; i < kEventCount; ++i) of_instruction[i] += rare[i];
    }
    std::erase_if(flows, [](const auto& each) { return each.second == FlowCounts{}; });
}

// By numbers, as functions of a guest may have the same name.
std::string name_of(const Function& function) {
    return "f" + std::to_string(function.id);
}

std::string name_of(const ObjectGroup& group) {
    std::string name;
    switch (group.kind) {
        case ObjectKind::kUnknown:
            return "unknown";
        case ObjectKind::kUnused:
            return "unused";
        case ObjectKind::kCode:
            return "code object" + std::to_string(group.object->id);
        case ObjectKind::kStack:
            return "stack " + name_of(*group.function);
        case ObjectKind::kHeap:
            name = "heap ";
            break;
        default:
            name = "mapping ";
            break;
    }
    if (group.function != nullptr) name += name_of(*group.function);
    for (const ObjectPlace& place : group.places) {
        name += " " + name_of(place.from->context->function()) + "@" +
                std::to_string(place.from->block->instruction_address(place.instruction));
    }
    return name;
}

// Of those instructions.
void add_objects_of(const Engine& engine, const std::map<CostId, InstructionKey>& instructions,
                    std::map<ObjectKey, Counts>& objects) {
    for (const BlockCost* cost : engine.blocks().all()) {
        for (const CostId id : std::span(cost->instructions, cost->block->instruction_count)) {
            const auto instruction = instructions.find(id);
            if (instruction == instructions.end()) continue;
            Counts code{};
            engine.objects()->costs().get_code_costs(id, std::span(code).first(engine.events().width()));
            if (code == Counts{}) continue;
            const GroupId group = engine.objects()->groups().known_code(*cost->block->function->object);
            add_to(objects[{name_of(engine.objects()->groups()[group]), instruction->second}], code);
        }
    }
    for (const ObjectCell& cell : engine.objects()->costs().cells()) {
        const auto instruction = instructions.find(cell.instruction);
        if (instruction == instructions.end()) continue;
        add_to(objects[{name_of(engine.objects()->groups()[cell.group]), instruction->second}],
               engine.costs()[cell.costs]);
    }
}

// Of lines that those instructions had loaded.
void add_patterns_of(const Engine& engine, const std::map<CostId, InstructionKey>& instructions,
                     std::map<PatternKey, std::uint64_t>& patterns) {
    for (const auto& [pattern, lines] : engine.objects()->patterns().all()) {
        const auto instruction = instructions.find(pattern.loaded_by());
        if (instruction == instructions.end()) continue;
        std::string used;
        for (unsigned i = 0; i < pattern.bytes(); ++i) used += (pattern.used() >> i & 1) != 0 ? '#' : '.';
        patterns[{name_of(engine.objects()->groups()[pattern.group()]), instruction->second, pattern.offset(), used}] +=
            lines;
    }
}

// Of those instructions.
void add_distances_of(const Engine& engine, std::uint32_t thread, const std::map<CostId, InstructionKey>& instructions,
                      RunCosts& costs) {
    const auto add = [](DistanceCounts& counts, const DistanceCount& count) {
        counts.misses += count.misses;
        counts.last_misses += count.ll_misses;
    };
    engine.why()->distances.for_each([&](CostId id, unsigned bucket, const DistanceCount& count) {
        ObjectCosts::Owner owner{id, {}};
        if (engine.objects() != nullptr) owner = engine.objects()->costs().owner_of(id);
        const auto instruction = instructions.find(owner.instruction);
        if (instruction == instructions.end()) return;
        add(costs.distances[{instruction->second, bucket}], count);
        if (engine.objects() == nullptr) return;
        add(costs.object_distances[{name_of(engine.objects()->groups()[owner.group]), bucket}], count);
    });
    engine.why()->paths.for_each([&](const InclusiveKey& key, const DistanceCount& count) {
        if (thread != 0 && key.function->thread() != thread) return;
        std::optional<ContextKey> callee;
        if (key.callee != nullptr) callee = key_of(*key.callee);
        add(costs.inclusive_distances[{key_of(*key.function), callee, key.bucket}], count);
    });
    if (!engine.why()->hits) return;
    engine.why()->hits->distances.for_each([&](CostId id, unsigned bucket, const DistanceCount& count) {
        if (engine.objects() != nullptr) id = engine.objects()->costs().owner_of(id).instruction;
        const auto instruction = instructions.find(id);
        if (instruction != instructions.end()) add(costs.hits[{instruction->second, bucket}], count);
    });
    engine.why()->hits->paths.for_each([&](const InclusiveKey& key, const DistanceCount& count) {
        if (thread != 0 && key.function->thread() != thread) return;
        std::optional<ContextKey> callee;
        if (key.callee != nullptr) callee = key_of(*key.callee);
        add(costs.inclusive_hits[{key_of(*key.function), callee, key.bucket}], count);
    });
}

// The same.
void add_reuse_of(const Engine& engine, const std::map<CostId, InstructionKey>& instructions, RunCosts& costs) {
    const auto known = [&](CostId id) -> std::optional<InstructionKey> {
        const auto instruction = instructions.find(id);
        if (instruction == instructions.end()) return {};
        return instruction->second;
    };
    for (const ReuseSum& sum : engine.why()->reuses.all()) {
        const auto missed = known(sum.key.missed);
        if (!missed) continue;
        const auto cause = static_cast<Cause>(sum.key.cause);
        ReuseKey key{*missed, known(sum.key.loaded_by), known(sum.key.evicted_by), {}, {}};
        key.cause = cause == Cause::kFirst ? "first touch" : cause == Cause::kConflict ? "conflict" : "capacity";
        if (sum.key.scope != 0) {
            const Scope& scope = engine.scopes()[sum.key.scope - 1];
            key.scope = ScopeKey{key_of(*scope.context), {}};
            if (scope.loop != nullptr) key.scope->loop = scope.loop->address;
        }
        ReuseCounts& counts = costs.reuses[key];
        counts.misses += sum.misses;
        counts.ll_misses += sum.ll_misses;
        counts.distance += sum.distance;
    }
    for (const StaySum& sum : engine.why()->stays.sums()) {
        const auto loader = sum.key.loaded_by == kNoCost ? kManyLoaders : known(sum.key.loaded_by);
        if (!loader) continue;
        StayCounts& counts = costs.stays[*loader];
        counts.stays += sum.stays;
        counts.unused += sum.unused;
        counts.late += sum.late;
        counts.never += sum.never;
    }
}

void add_shares_of(const LastLevelShares& shares, RunCosts& costs) {
    for (std::uint32_t core = 0; core < shares.cores(); ++core) {
        if (shares.puts(core) != 0 || shares.held(core) != 0) {
            costs.shares[core].puts += shares.puts(core);
            costs.shares[core].held += shares.held(core);
        }
        for (std::uint32_t other = 0; other < shares.cores(); ++other) {
            const LastLevelShares::Evicted& evicted = shares.evicted(core, other);
            if (evicted.lines == 0 && evicted.again == 0) continue;
            costs.lost[{core, other}].lines += evicted.lines;
            costs.lost[{core, other}].again += evicted.again;
        }
    }
}

}  // namespace

void add_costs_of(const Engine& engine, std::uint32_t thread, RunCosts& costs) {
    const auto meant = [&](const BlockCost& cost) { return thread == 0 || cost.context->thread() == thread; };
    std::map<CostId, InstructionKey> instructions;
    for (const BlockCost* cost : engine.blocks().all()) {
        if (!meant(*cost)) continue;
        Block& block = *cost->block;
        for (unsigned i = 0; i < block.instruction_count; ++i) {
            Counts counts{};
            for (const Exit& exit : block.exits()) {
                const std::uint64_t taken = cost->exits[exit.index].taken;
                if (i < exit.instructions) counts[column(Event::kIr)] += taken;
                for (unsigned a = 0; a < exit.accesses; ++a) {
                    if (block.accesses()[a].instruction != i || block.accesses()[a].kind == AccessKind::kBus) continue;
                    counts[column(block.accesses()[a].kind == AccessKind::kRead ? Event::kDr : Event::kDw)] += taken;
                }
            }
            if (cost->instructions[i] != kNoCost) {
                add_to(counts, engine.costs()[cost->instructions[i]]);
                instructions[cost->instructions[i]] = {block.id, key_of(*cost->context), i};
            }
            if (counts == Counts{}) continue;
            add_to(costs.self[InstructionKey{block.id, key_of(*cost->context), i}], counts);
            add_to(costs.totals, counts);
        }
    }
    for (std::uint32_t core = 0; core < engine.core_costs().cores(); ++core) {
        add_to(costs.cores[core], engine.core_costs().of(core));
    }
    if (const LastLevelShares* const shares = engine.ll_shares()) add_shares_of(*shares, costs);
    for (std::uint32_t id = 1; id <= engine.arcs().size(); ++id) {
        const Arc& arc = engine.arcs()[ArcId{id}];
        if (!meant(*arc.site.from)) continue;
        ArcCounts& counts = costs.arcs[ArcKey{arc.site.from->block->id, key_of(*arc.site.from->context), arc.site.exit,
                                              arc.callee->block->id, key_of(*arc.callee->context)}];
        counts.calls += arc.calls;
        add_to(counts.inclusive, engine.arcs().costs(ArcId{id}));
    }
    if (engine.objects() != nullptr) {
        add_objects_of(engine, instructions, costs.objects);
        add_patterns_of(engine, instructions, costs.patterns);
    }
    if (engine.why() != nullptr) {
        add_distances_of(engine, thread, instructions, costs);
        add_reuse_of(engine, instructions, costs);
    }
    if (const ContextTree* const tree = engine.context_tree()) add_paths_of(*tree, thread, costs.paths);
    if (engine.flow() != nullptr) add_flows_of(engine, thread, instructions, costs.flows);
    for (const Jump& jump : engine.jumps()) {
        const BlockCost& from = *jump.site.from;
        if (jump.count == 0 || !meant(from)) continue;
        costs.jumps[{from.block->id, key_of(*from.context), jump.site.exit, jump.target->id}] += jump.count;
    }
}

}  // namespace bd::test
