// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/sampled_flow.h"

#include <algorithm>

namespace bd {

void SampledFlow::start_piece() {
    last_ = nullptr;
    calls_.resize(1);
    parts_.clear();
    passed_.clear();
    open_.clear();
    around_.clear();
    outside_.clear();
    piece_ = ++latest_run_;
}

void SampledFlow::enter(const Block& block, Address stack_pointer) {
    if (last_ != nullptr) {
        if (last_->jump != JumpKind::kCall) {
            return_to(stack_pointer, last_->jump);
        } else if (calls_.size() < kMostCalls) {
            calls_.push_back({stack_pointer, parts_.size(), around_.size(), outside_.size()});
        }
    }
    go_on(block);
}

void SampledFlow::leave(const Exit& exit) {
    last_ = &exit;
    Passed& passed = passed_.back();
    passed.end = std::max(passed.end, exit.branch_address());
}

// A return may leave the stack pointer where the function began, where the return address is in a register.
void SampledFlow::return_to(Address stack_pointer, JumpKind jump) {
    const bool is_return = jump == JumpKind::kReturn;
    if (calls_.size() == 1) {
        if (is_return) end_innermost_call();
        return;
    }
    const auto is_left = [&](Address began) { return is_return ? began <= stack_pointer : began < stack_pointer; };
    while (calls_.size() > 1 && is_left(calls_.back().stack_pointer)) end_innermost_call();
}

// What the piece began in is followed by its caller, of which nothing is known.
void SampledFlow::end_innermost_call() {
    const OpenCall& call = calls_.back();
    while (!open_.empty() && is_here(open_.back())) open_.pop_back();
    around_.resize(call.first_around);
    outside_.resize(call.first_outside);
    passed_.resize(parts_[call.first_part].first_passed);
    parts_.resize(call.first_part);
    if (calls_.size() > 1) calls_.pop_back();
}

void SampledFlow::go_on(const Block& block) {
    enter_part(*block.function);
    const bool is_known_place = pass(block);
    end_loops_behind(block);
    if (last_ == nullptr) return;
    const Address from = last_->branch_address();
    if (last_->jump == JumpKind::kJump && last_->block->function == block.function && block.address <= from) {
        jump_back(block, from, is_known_place);
    } else if (const LoopId loop = loop_of(block); loop != kNoLoop && loops_[index_of(loop)].is_repeated) {
        go_on_to(block, loop);
    }
    look_around(block);
}

void SampledFlow::enter_part(const Function& function) {
    const auto begin = parts_.begin() + static_cast<std::ptrdiff_t>(calls_.back().first_part);
    const auto part = std::find_if(begin, parts_.end(), [&](const Part& one) { return one.function == &function; });
    if (part == parts_.end()) {
        if (parts_.end() - begin == kMostParts) {
            passed_.resize((begin + 1)->first_passed);
            parts_.erase(begin + 1, parts_.end());
        }
        parts_.push_back({&function, passed_.size()});
    } else if (part + 1 != parts_.end()) {
        passed_.resize((part + 1)->first_passed);
        parts_.erase(part + 1, parts_.end());
    }
}

bool SampledFlow::pass(const Block& block) {
    const std::size_t first = parts_.back().first_passed;
    while (passed_.size() > first && passed_.back().begin > block.address) passed_.pop_back();
    if (passed_.size() > first && block.address <= passed_.back().end) {
        passed_.back().end = block.address;
        return true;
    }
    if (passed_.size() == kMostPassed) passed_.pop_back();
    passed_.push_back({block.address, block.address});
    return false;
}

void SampledFlow::end_loops_behind(const Block& block) {
    const auto is_behind = [&](const OpenLoop& open) {
        const Block& header = *loops_[index_of(open.loop)].header;
        return header.function == block.function && block.address < header.address;
    };
    while (!open_.empty() && is_here(open_.back()) && is_behind(open_.back())) open_.pop_back();
}

void SampledFlow::jump_back(const Block& block, Address from, bool is_known_place) {
    LoopId id = loop_of(block);
    if (id == kNoLoop) id = loop_at(block);
    Loop& loop = loops_[index_of(id)];
    if (!is_known_place) {
        // Control has come from before the header to what is behind it.
        if (passed_.size() > parts_.back().first_passed + 1) {
            loop.is_entered_inside = true;
            entered_at_[last_->block] = id;
        }
        if (loop.is_repeated) go_on_to(block, id);
    } else if (const auto around = entered_at_.find(&block); around != entered_at_.end()) {
        come_back_to_entry(block, around->second, from);
    } else if (!is_out_of_line(block)) {
        loop.is_repeated = true;
        if (is_of_outer_loop(id)) {
            open_.pop_back();
            go_on_to(block, id);
        } else {
            repeat(block, id, from);
        }
    } else if (loop.is_repeated) {
        go_on_to(block, id);
    }
}

// Control has entered a loop in its middle at the block, so the block begins no other loop. What leads back to it
// belongs to the loop, unless it is the loop around that goes on.
void SampledFlow::come_back_to_entry(const Block& block, LoopId id, Address from) {
    if (is_of_outer_loop(id)) {
        open_.pop_back();
        return;
    }
    for (std::size_t open = open_.size(); open != 0 && is_here(open_[open - 1]); --open) {
        const LoopId around = open_[open - 1].loop;
        if (around == id) return;
        if (!has(around, block)) continue;
        if (!lies_in(loops_[index_of(around)], from)) return;
        break;
    }
    Loop& loop = loops_[index_of(id)];
    loop.last = std::max(loop.last, from);
}

// Whether what jumps back into the innermost open loop was reached through its outer loop, and so begins another run of
// it. That the code before it is skipped is known to happen only if the outer loop is also entered inside.
bool SampledFlow::is_of_outer_loop(LoopId id) const {
    if (open_.size() < 2 || open_.back().loop != id || !is_here(open_.back())) return false;
    if (!is_here(open_[open_.size() - 2])) return false;
    const Loop& outer = loops_[index_of(open_[open_.size() - 2].loop)];
    if (!outer.is_entered_inside || lies_in(outer, last_->block->address)) return false;
    const std::span<const Block* const> blocks = std::span(outside_).subspan(calls_.back().first_outside);
    return std::any_of(blocks.begin(), blocks.end(),
                       [&](const Block* block) { return lies_in(outer, block->address) && !has(id, *block); });
}

// Whether control had left a loop that it now comes back to. If there are ways into that loop that do not lead to its
// header, it is no loop within.
bool SampledFlow::is_out_of_line(const Block& block) const {
    for (std::size_t open = open_.size(); open != 0 && is_here(open_[open - 1]); --open) {
        const Loop& loop = loops_[index_of(open_[open - 1].loop)];
        if (!has(open_[open - 1].loop, block)) continue;
        return loop.is_entered_inside && loop.header->address != block.address && lies_in(loop, block.address) &&
               !lies_in(loop, last_->block->address);
    }
    return false;
}

void SampledFlow::repeat(const Block& block, LoopId id, Address from) {
    Loop& loop = loops_[index_of(id)];
    const auto is_it = [&](const OpenLoop& open) { return !is_here(open) || open.loop == id; };
    const auto open = std::find_if(open_.rbegin(), open_.rend(), is_it);
    if (open == open_.rend() || !is_here(*open)) {
        loop.last = std::max(loop.last, from);
        go_on_to(block, id);
        return;
    }
    open_.erase(open.base(), open_.end());
    const bool is_inside = lies_in(loop, last_->block->address);
    const bool is_elsewhere = !is_inside && (has(id, *last_->block) || add_outside(id));
    if (!is_elsewhere) loop.last = std::max(loop.last, from);
}

// The header is entered.
void SampledFlow::go_on_to(const Block& block, LoopId loop) {
    while (!open_.empty() && is_here(open_.back()) && !has(open_.back().loop, block)) open_.pop_back();
    look_around(block);
    if (!open_.empty() && is_here(open_.back()) && open_.back().loop == loop) return;
    if (open_.size() < kMostLoops) open_.push_back({loop, ++latest_run_, calls_.size()});
}

// Finds the loops that the block is in, and whether it belongs to one that control had left.
void SampledFlow::look_around(const Block& block) {
    const OpenCall& call = calls_.back();
    const std::size_t were_around = around_.size() - call.first_around;
    std::size_t first = open_.size();
    while (first != 0 && is_here(open_[first - 1])) --first;
    std::size_t end = open_.size();
    while (end != first && !has(open_[end - 1].loop, block)) --end;
    if (end - first > were_around) add_outside(open_[end - 1].loop);
    if (end == open_.size()) {
        outside_.resize(call.first_outside);
    } else if (outside_.size() - call.first_outside <= kMostOutside) {
        outside_.push_back(&block);
    }
    around_.resize(call.first_around);
    around_.insert(around_.end(), open_.begin() + static_cast<std::ptrdiff_t>(first),
                   open_.begin() + static_cast<std::ptrdiff_t>(end));
}

bool SampledFlow::has(LoopId id, const Block& block) const {
    const Loop& loop = loops_[index_of(id)];
    return lies_in(loop, block.address) || (loop.has_members && members_.contains(member(id, block)));
}

// What was executed since the innermost loop was left belongs to this one. False if that is not known.
bool SampledFlow::add_outside(LoopId id) {
    const std::span<const Block* const> blocks = std::span(outside_).subspan(calls_.back().first_outside);
    if (blocks.size() > kMostOutside || members_.size() + blocks.size() > kMostMembers) return false;
    for (const Block* const block : blocks) {
        if (has(id, *block)) continue;
        members_.insert(member(id, *block));
        loops_[index_of(id)].has_members = true;
    }
    return !blocks.empty();
}

LoopId SampledFlow::loop_at(const Block& block) {
    LoopId& loop = by_address_[block.address];
    if (loop == kNoLoop || loops_[index_of(loop)].header->function != block.function) {
        loop = LoopId{static_cast<std::uint32_t>(loops_.size())};
        loops_.push_back({&block, block.address});
    }
    return loop_of(block) = loop;
}

}  // namespace bd
