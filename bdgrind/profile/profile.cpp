// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/profile.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

namespace bd {
namespace {

// Sorts rows and adds up those that `order` finds equal.
template <class Row, class Order, class Merge>
void sort_and_merge(std::vector<Row>& rows, Order order, Merge merge) {
    std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return order(a, b) < 0; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        if (order(rows[kept], rows[i]) == 0) {
            merge(rows[kept], rows[i]);
        } else {
            rows[++kept] = rows[i];
        }
    }
    if (!rows.empty()) rows.resize(kept + 1);
}

// Calls use(instruction, event, times) for all that always happened on the way to the block's exits.
template <class Use>
void for_each_execution(const BlockCost& cost, Use use) {
    const Block& block = *cost.block;
    for (const Exit& exit : block.exits()) {
        const std::uint64_t taken = cost.exits[exit.index].taken;
        if (taken == 0) continue;
        for (std::size_t i = 0; i < exit.instructions; ++i) use(i, Event::kIr, taken);
        for (const Access& access : block.accesses().first(exit.accesses)) {
            if (access.kind == AccessKind::kBus) continue;
            use(access.instruction, is_write(access.kind) ? Event::kDw : Event::kDr, taken);
        }
    }
}

bool is_conditional_branch(const Exit& exit) {
    return exit.branch == Branch::kTaken || exit.branch == Branch::kNotTaken;
}

// Whether leaving by `exit` is what a conditional branch did. Where VEX has turned it around, the jump has an exit
// behind that of the branch.
bool is_conditional(const Exit& exit) {
    return std::ranges::any_of(exit.block->exits().first(exit.index + 1u), [&](const Exit& branch) {
        return branch.instructions == exit.instructions && is_conditional_branch(branch);
    });
}

// How often each conditional branch of a function was executed, by address.
class ExecutedBranches {
public:
    explicit ExecutedBranches(std::span<BlockCost* const> blocks) {
        for (const BlockCost* cost : blocks) add_those_of(*cost);
        std::ranges::sort(branches_);
    }

    std::uint64_t at(Address address) const {
        std::uint64_t sum = 0;
        for (auto at = std::ranges::lower_bound(branches_, Branched{address, 0});
             at != branches_.end() && at->first == address; ++at) {
            sum += at->second;
        }
        return sum;
    }

private:
    using Branched = std::pair<Address, std::uint64_t>;

    // An exit was reached whenever the block was left there or later.
    void add_those_of(const BlockCost& cost) {
        std::uint64_t reached = 0;
        for (std::size_t i = cost.block->exit_count; i-- > 0;) {
            const Exit& exit = cost.block->exits()[i];
            reached += cost.exits[i].taken;
            // (An instruction with REP may have two.)
            const bool is_first = i == 0 || !is_conditional(cost.block->exits()[i - 1]) ||
                                  cost.block->exits()[i - 1].instructions != exit.instructions;
            if (is_first && is_conditional_branch(exit)) branches_.push_back({exit.branch_address(), reached});
        }
    }

    std::vector<Branched> branches_;
};

std::vector<const Context*> contexts_of(std::span<BlockCost* const> costs, std::uint32_t thread) {
    std::vector<const Context*> contexts;
    for (const BlockCost* cost : costs) {
        if (cost->context->thread() == thread) contexts.push_back(cost->context);
    }
    return contexts;
}

// Sorts by a rank below `ranks`; equal ones keep their order. Returns where each rank starts, and the end.
template <class Item, class RankOf>
std::vector<std::size_t> sort_by_rank(std::vector<Item>& items, std::size_t ranks, RankOf rank_of) {
    std::vector<std::size_t> starts(ranks + 1);
    for (const Item& item : items) ++starts[rank_of(item) + 1];
    for (std::size_t rank = 0; rank < ranks; ++rank) starts[rank + 1] += starts[rank];
    std::vector<std::size_t> next = starts;
    std::vector<Item> sorted(items.size());
    for (const Item& item : items) sorted[next[rank_of(item)]++] = item;
    items = std::move(sorted);
    return starts;
}

bool is_zero(ConstCosts costs) {
    return std::ranges::all_of(costs, [](std::uint64_t count) { return count == 0; });
}

}  // namespace

std::strong_ordering by_position(const Position& a, const Position& b) {
    if (a.file != b.file) return std::string_view(a.file->name) <=> std::string_view(b.file->name);
    return std::tie(a.line, a.address) <=> std::tie(b.line, b.address);
}

Profile::Profile(const Engine& engine, PositionKinds kinds, std::uint32_t thread)
    : engine_(engine),
      kinds_(kinds),
      order_(contexts_of(engine.blocks().all(), thread)),
      totals_(engine.totals(thread)),
      origins_(engine.thread_origins()) {
    std::erase_if(origins_, [thread](const ThreadOrigin& origin) { return origin.root->thread() != thread; });
    std::ranges::copy_if(engine.blocks().all(), std::back_inserter(blocks_),
                         [&](const BlockCost* cost) { return cost->context->thread() == thread; });
    const ArcTable& arcs = engine.arcs();
    for (std::uint32_t id = 1; id <= arcs.size(); ++id) {
        const Arc& arc = arcs[ArcId{id}];
        if (arc.site.from->context->thread() != thread) continue;
        if (arc.calls != 0 || !is_zero(arcs.costs(ArcId{id}))) arcs_.push_back(ArcId{id});
    }
    for (const Jump& jump : engine.jumps()) {
        if (jump.count != 0 && jump.site.from->context->thread() == thread) jumps_.push_back(&jump);
    }

    // Every arc's site is a block, so the functions are those of the blocks.
    for (const Context* context : order_.contexts()) functions_.push_back({context, {}, {}, {}});
    const auto group = [this](auto& items, auto context_of, auto Source::*own) {
        const auto rank_of = [&](const auto& item) { return order_.rank(*context_of(item)); };
        const std::vector<std::size_t> starts = sort_by_rank(items, functions_.size(), rank_of);
        for (std::size_t i = 0; i < functions_.size(); ++i) {
            functions_[i].*own = std::span(items).subspan(starts[i], starts[i + 1] - starts[i]);
        }
    };
    group(
        blocks_, [](const BlockCost* cost) { return cost->context; }, &Source::blocks);
    group(
        arcs_, [&arcs](ArcId id) { return arcs[id].site.from->context; }, &Source::arcs);
    group(
        jumps_, [](const Jump* jump) { return jump->site.from->context; }, &Source::jumps);
}

Position Profile::position(const Block& block, std::size_t instruction, PositionKinds kinds) {
    const Instruction& at = block.instructions()[instruction];
    return {at.file, kinds.instructions ? block.instruction_address(instruction) - block.load_bias : 0,
            kinds.lines ? at.line : 0};
}

void Profile::collect(std::size_t index, PositionKinds kinds, FunctionProfile* function) const {
    const Source& source = functions_[index];
    std::vector<std::uint64_t>& values = function->cost_values;
    function->context = source.context;
    function->rows.clear();
    function->calls.clear();
    function->jumps.clear();
    function->width = totals_.size();
    values.clear();

    for (const BlockCost* cost : source.blocks) {
        const std::size_t first = values.size();
        values.resize(first + cost->block->instruction_count * function->width);
        const auto costs_of = [&](std::size_t instruction) {
            return Costs(&values[first + instruction * function->width], function->width);
        };
        for_each_execution(*cost, [&](std::size_t instruction, Event event, std::uint64_t times) {
            costs_of(instruction)[column(event)] += times;
        });
        for (std::size_t i = 0; i < cost->block->instruction_count; ++i) {
            const Costs costs = costs_of(i);
            if (cost->instructions[i] != kNoCost) add(costs, engine_.costs()[cost->instructions[i]]);
            if (is_zero(costs)) continue;
            function->rows.push_back({position(*cost->block, i, kinds), first + i * function->width});
        }
    }
    const auto add_values = [&](std::size_t to, std::size_t from) {
        add(Costs(&values[to], function->width), ConstCosts(&values[from], function->width));
    };
    sort_and_merge(
        function->rows, [](const CostRow& a, const CostRow& b) { return by_position(a.position, b.position); },
        [&](CostRow& to, const CostRow& from) { add_values(to.costs, from.costs); });

    const ArcTable& arcs = engine_.arcs();
    for (const ArcId id : source.arcs) {
        const Arc& arc = arcs[id];
        const Block& from = *arc.site.from->block;
        const ConstCosts costs = arcs.costs(id);
        function->calls.push_back({position(from, from.exits()[arc.site.exit].instructions - 1u, kinds),
                                   arc.callee->context, position(*arc.callee->block, 0, kinds), arc.calls,
                                   values.size()});
        values.insert(values.end(), costs.begin(), costs.end());
    }
    const auto by_call = [this](const CallRow& a, const CallRow& b) {
        if (const auto order = by_position(a.position, b.position); order != 0) return order;
        if (const auto order = order_.rank(*a.callee) <=> order_.rank(*b.callee); order != 0) return order;
        return by_position(a.target, b.target);
    };
    sort_and_merge(function->calls, by_call, [&](CallRow& to, const CallRow& from) {
        to.calls += from.calls;
        add_values(to.costs, from.costs);
    });
    if (!source.jumps.empty()) collect_jumps(source, kinds, function);
}

void Profile::collect_jumps(const Source& source, PositionKinds kinds, FunctionProfile* function) const {
    // A branch may be part of several blocks, but it was executed that often only once.
    struct Made {
        Address branch;
        JumpRow row;
    };
    std::vector<Made> made;
    for (const Jump* jump : source.jumps) {
        const Block& from = *jump->site.from->block;
        const Exit& exit = from.exits()[jump->site.exit];
        const Position target = position(*jump->target, 0, kinds);
        if (!kinds.instructions && target.line == 0) continue;  // its target is not known
        made.push_back({exit.branch_address(),
                        {position(from, exit.instructions - 1u, kinds), target, is_conditional(exit), jump->count, 0}});
    }
    const auto by_jump = [](const JumpRow& a, const JumpRow& b) {
        if (const auto order = by_position(a.position, b.position); order != 0) return order;
        if (const auto order = by_position(a.target, b.target); order != 0) return order;
        return a.conditional <=> b.conditional;
    };
    sort_and_merge(
        made,
        [&](const Made& a, const Made& b) {
            const auto order = a.branch <=> b.branch;
            return order != 0 ? order : by_jump(a.row, b.row);
        },
        [](Made& to, const Made& from) { to.row.followed += from.row.followed; });

    const ExecutedBranches executed(source.blocks);
    for (Made& jump : made) {
        if (jump.row.conditional) jump.row.executed = executed.at(jump.branch);
        function->jumps.push_back(jump.row);
    }
    sort_and_merge(function->jumps, by_jump, [](JumpRow& to, const JumpRow& from) {
        to.followed += from.followed;
        to.executed += from.executed;
    });
}

}  // namespace bd
