// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/block_cost.h"

#include <memory>
#include <new>

namespace bd {

BlockCost& BlockCosts::find_or_make(const Block& block, const Context& context) {
    for (BlockCost** link = &block.costs; *link != nullptr; link = &(*link)->next) {
        BlockCost* found = *link;
        if (found->context != &context) continue;
        // To the front: a block tends to stay in its context for a while.
        *link = found->next;
        found->next = block.costs;
        block.costs = found;
        return *found;
    }

    const std::size_t bytes = sizeof(BlockCost) + block.exit_count * sizeof(ExitCount) +
                              block.instruction_count * sizeof(CostId);
    auto* memory = static_cast<std::byte*>(::operator new(bytes));
    auto* exits = reinterpret_cast<ExitCount*>(memory + sizeof(BlockCost));
    auto* instructions = reinterpret_cast<CostId*>(exits + block.exit_count);
    std::uninitialized_value_construct_n(exits, block.exit_count);
    std::uninitialized_value_construct_n(instructions, block.instruction_count);
    auto* made = new (memory) BlockCost{&block, &context, block.costs, exits, instructions};
    block.costs = made;
    all_.push_back(made);
    return *made;
}

void BlockCosts::clear_counts() {
    for (BlockCost* cost : all_) {
        for (std::size_t i = 0; i < cost->block->exit_count; ++i) cost->exits[i].taken = 0;
    }
}

BlockCosts::~BlockCosts() {
    for (BlockCost* cost : all_) {
        cost->block->costs = nullptr;
        ::operator delete(cost);
    }
}

}  // namespace bd
