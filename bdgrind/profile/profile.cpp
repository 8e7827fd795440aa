// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/profile.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <string_view>
#include <tuple>

namespace bd {
namespace {

std::strong_ordering by_name(const Function& a, const Function& b) {
    const auto name = [](const Function& function) {
        return std::tuple<std::string_view, std::string_view, std::string_view>(
            function.object->name, function.file->name, function.name);
    };
    return &a == &b ? std::strong_ordering::equal : name(a) <=> name(b);
}

std::strong_ordering by_name(const Context& a, const Context& b) {
    if (&a == &b) return std::strong_ordering::equal;
    if (const auto order = by_name(a.function(), b.function()); order != 0) return order;
    if (const auto order = a.level() <=> b.level(); order != 0) return order;
    const Callers callers_of_a = a.callers();
    const Callers callers_of_b = b.callers();
    return std::lexicographical_compare_three_way(
        callers_of_a.begin(), callers_of_a.end(), callers_of_b.begin(), callers_of_b.end(),
        [](const Function* one, const Function* other) { return by_name(*one, *other); });
}

std::strong_ordering by_place(const Position& a, const Position& b) {
    if (a.file != b.file) return std::string_view(a.file->name) <=> std::string_view(b.file->name);
    return std::tie(a.line, a.address) <=> std::tie(b.line, b.address);
}

std::strong_ordering by_call(const CallRow& a, const CallRow& b) {
    if (const auto order = by_place(a.position, b.position); order != 0) return order;
    if (const auto order = by_name(*a.callee, *b.callee); order != 0) return order;
    return by_place(a.target, b.target);
}

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

bool is_zero(ConstCosts costs) {
    return std::ranges::all_of(costs, [](std::uint64_t count) { return count == 0; });
}

}  // namespace

Profile::Profile(const Engine& engine, PositionKinds kinds, std::uint32_t thread)
    : engine_(engine), kinds_(kinds), totals_(engine.totals(thread)) {
    std::ranges::copy_if(engine.blocks().all(), std::back_inserter(blocks_),
                         [&](const BlockCost* cost) { return cost->context->thread() == thread; });
    const ArcTable& arcs = engine.arcs();
    for (std::uint32_t id = 1; id <= arcs.size(); ++id) {
        const Arc& arc = arcs[ArcId{id}];
        if (arc.site.from->context->thread() != thread) continue;
        if (arc.calls != 0 || !is_zero(arcs.costs(ArcId{id}))) arcs_.push_back(ArcId{id});
    }
    std::ranges::stable_sort(blocks_, [](const BlockCost* a, const BlockCost* b) {
        return by_name(*a->context, *b->context) < 0;
    });
    const auto caller = [&arcs](ArcId id) { return arcs[id].site.from->context; };
    std::ranges::stable_sort(arcs_, [&](ArcId a, ArcId b) { return by_name(*caller(a), *caller(b)) < 0; });

    for (const Jump& jump : engine.jumps()) {
        if (jump.count != 0 && jump.site.from->context->thread() == thread) jumps_.push_back(&jump);
    }
    std::ranges::stable_sort(jumps_, [](const Jump* a, const Jump* b) {
        return by_name(*a->site.from->context, *b->site.from->context) < 0;
    });

    // Every arc's site is a block, so the functions are those of the blocks.
    std::size_t arc = 0;
    std::size_t jump = 0;
    for (std::size_t block = 0; block < blocks_.size();) {
        const Context* context = blocks_[block]->context;
        const std::size_t first_block = block;
        while (block < blocks_.size() && blocks_[block]->context == context) ++block;
        const std::size_t first_arc = arc;
        while (arc < arcs_.size() && caller(arcs_[arc]) == context) ++arc;
        const std::size_t first_jump = jump;
        while (jump < jumps_.size() && jumps_[jump]->site.from->context == context) ++jump;
        functions_.push_back({context, std::span(blocks_).subspan(first_block, block - first_block),
                              std::span(arcs_).subspan(first_arc, arc - first_arc),
                              std::span(jumps_).subspan(first_jump, jump - first_jump)});
    }
    BD_CHECK_OP(arc, ==, arcs_.size());
    BD_CHECK_OP(jump, ==, jumps_.size());
}

Position Profile::position(const Block& block, std::size_t instruction) const {
    const Instruction& at = block.instructions()[instruction];
    return {at.file,
            kinds_.instructions ? block.instruction_address(instruction) - block.load_bias : 0,
            kinds_.lines ? at.line : 0};
}

void Profile::collect(std::size_t index, FunctionProfile* function) const {
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
            function->rows.push_back({position(*cost->block, i), first + i * function->width});
        }
    }
    const auto add_values = [&](std::size_t to, std::size_t from) {
        add(Costs(&values[to], function->width), ConstCosts(&values[from], function->width));
    };
    sort_and_merge(
        function->rows, [](const CostRow& a, const CostRow& b) { return by_place(a.position, b.position); },
        [&](CostRow& to, const CostRow& from) { add_values(to.costs, from.costs); });

    const ArcTable& arcs = engine_.arcs();
    for (const ArcId id : source.arcs) {
        const Arc& arc = arcs[id];
        const Block& from = *arc.site.from->block;
        const ConstCosts costs = arcs.costs(id);
        function->calls.push_back({position(from, from.exits()[arc.site.exit].instructions - 1u),
                                   arc.callee->context, position(*arc.callee->block, 0), arc.calls,
                                   values.size()});
        values.insert(values.end(), costs.begin(), costs.end());
    }
    sort_and_merge(function->calls, by_call, [&](CallRow& to, const CallRow& from) {
        to.calls += from.calls;
        add_values(to.costs, from.costs);
    });
    if (!source.jumps.empty()) collect_jumps(source, function);
}

void Profile::collect_jumps(const Source& source, FunctionProfile* function) const {
    // A branch may be part of several blocks, but it was executed that often only once.
    struct Made {
        Address branch;
        JumpRow row;
    };
    std::vector<Made> made;
    for (const Jump* jump : source.jumps) {
        const Block& from = *jump->site.from->block;
        const Exit& exit = from.exits()[jump->site.exit];
        const Position target = position(*jump->target, 0);
        if (!kinds_.instructions && target.line == 0) continue;  // to nobody knows where
        made.push_back({exit.branch_address(),
                        {position(from, exit.instructions - 1u), target, is_conditional(exit), jump->count, 0}});
    }
    const auto by_jump = [](const JumpRow& a, const JumpRow& b) {
        if (const auto order = by_place(a.position, b.position); order != 0) return order;
        if (const auto order = by_place(a.target, b.target); order != 0) return order;
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
