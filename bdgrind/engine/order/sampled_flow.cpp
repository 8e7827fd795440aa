// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/sampled_flow.h"

#include <algorithm>

namespace bd {

void SampledFlow::start_piece() {
    last_ = nullptr;
    calls_.clear();
    open_.clear();
    piece_ = ++latest_run_;
}

void SampledFlow::enter(const Block& block, Address stack_pointer) {
    if (last_ == nullptr) return;
    if (last_->jump == JumpKind::kCall) {
        if (calls_.size() < kMostCalls) calls_.push_back(stack_pointer);
    } else {
        return_to(stack_pointer, last_->jump);
    }
    go_on(block);
}

// A return may leave the stack pointer where the function began, where the return address is in a register.
void SampledFlow::return_to(Address stack_pointer, JumpKind jump) {
    const auto is_left = [&](Address began) {
        return jump == JumpKind::kReturn ? began <= stack_pointer : began < stack_pointer;
    };
    if (calls_.empty() || !is_left(calls_.back())) return;
    while (!calls_.empty() && is_left(calls_.back())) calls_.pop_back();
    while (!open_.empty() && open_.back().calls > calls_.size()) open_.pop_back();
}

void SampledFlow::go_on(const Block& block) {
    const auto has_left = [&](const OpenLoop& open) {
        const Loop& loop = loops_[index_of(open.loop)];
        return block.address < loop.header->address || block.address > loop.last;
    };
    while (!open_.empty() && is_here(open_.back()) && has_left(open_.back())) open_.pop_back();
    if (last_->jump == JumpKind::kJump && last_->block->function == block.function) {
        const Address from = last_->branch_address();
        if (block.address <= from) {
            jump_back(block, from);
            return;
        }
    }
    const LoopId loop = loop_of(block);
    if (loop == kNoLoop) return;
    if (open_.empty() || !is_here(open_.back()) || open_.back().loop != loop) begin(loop);
}

void SampledFlow::jump_back(const Block& block, Address from) {
    LoopId& known = loop_of(block);
    if (known == kNoLoop) known = make_loop(block);
    const LoopId loop = known;
    Address& last = loops_[index_of(loop)].last;
    last = std::max(last, from);
    for (auto open = open_.rbegin(); open != open_.rend() && is_here(*open); ++open) {
        if (open->loop != loop) continue;
        open_.erase(open.base(), open_.end());
        return;
    }
    begin(loop);
}

LoopId SampledFlow::make_loop(const Block& block) {
    LoopId& loop = by_address_[block.address];
    const bool is_known = loop != kNoLoop && loops_[index_of(loop)].header->function == block.function;
    if (!is_known) {
        loop = LoopId{static_cast<std::uint32_t>(loops_.size())};
        loops_.push_back({&block, block.address});
    }
    return loop;
}

}  // namespace bd
