// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/block_cost.h"

#include <memory>
#include <new>
#include <utility>

#include "engine/base/check.h"

namespace bd {

namespace {

// This many contexts are searched one by one. There are more only with separate callers: malloc has hundreds.
// (cc1 with --separate-callers=3: 60 % less replay.)
constexpr std::size_t kFew = 3;

}  // namespace

BlockCost& BlockCosts::find_or_make(Block& block, const Context& context) {
    BlockCost*& latest = latest_[block.id];
    BlockCost* const first = latest;
    if (first == nullptr) {
        for (const TracedExit& exit : block.exits()) BD_CHECK(exit.cost == nullptr);  // else another engine runs it
        latest = make(block, context);
        latest->next = latest;
        return *latest;
    }
    BlockCost* cost = first;
    std::size_t count = 0;
    do {
        if (cost->context == &context) return *(latest = cost);
        cost = cost->next;
    } while (cost != first && ++count < kFew);

    const bool are_many = cost != first;
    if (are_many) {
        if (const auto found = of_many_.find({&block, &context}); found != of_many_.end()) {
            return *(latest = found->second);
        }
    }
    BlockCost* const made = make(block, context);
    made->next = first->next;
    first->next = made;
    latest = made;
    if (are_many) {
        of_many_.emplace(Key{&block, &context}, made);
    } else if (count + 1 == kFew) {
        for (cost = made->next; cost != made; cost = cost->next) of_many_.emplace(Key{&block, cost->context}, cost);
        of_many_.emplace(Key{&block, &context}, made);
    }
    return *made;
}

BlockCost* BlockCosts::make(Block& block, const Context& context) {
    const std::size_t bytes =
        sizeof(BlockCost) + block.exit_count * sizeof(ExitCount) + block.instruction_count * sizeof(CostId);
    auto* memory = static_cast<std::byte*>(::operator new(bytes));
    auto* exits = reinterpret_cast<ExitCount*>(memory + sizeof(BlockCost));
    auto* instructions = reinterpret_cast<CostId*>(exits + block.exit_count);
    std::uninitialized_value_construct_n(exits, block.exit_count);
    std::uninitialized_value_construct_n(instructions, block.instruction_count);
    all_.push_back(new (memory) BlockCost{&block, &context, nullptr, exits, instructions});
    return all_.back();
}

void BlockCosts::change_context(TracedExit& exit, BlockCost& cost) {
    if (exit.cost != nullptr) exit.cost->exits[exit.index].taken += std::exchange(exit.taken, 0);
    exit.cost = &cost;
    exit.fast_path_context = nullptr;
    exit.next = ExitNotes::kNowhere;
}

void BlockCosts::settle() {
    for (BlockCost* cost : all_) {
        for (TracedExit& exit : cost->block->exits()) {
            if (exit.cost == cost) cost->exits[exit.index].taken += std::exchange(exit.taken, 0);
        }
    }
}

void BlockCosts::clear_counts() {
    settle();
    for (BlockCost* cost : all_) {
        for (std::size_t i = 0; i < cost->block->exit_count; ++i) cost->exits[i].taken = 0;
    }
}

// Blocks may live on and be run by another engine.
BlockCosts::~BlockCosts() {
    for (BlockCost* cost : all_) {
        for (TracedExit& exit : cost->block->exits()) static_cast<ExitNotes&>(exit) = {};
        ::operator delete(cost);
    }
}

}  // namespace bd
