// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which blocks the calls of allocators make. What the user says of a function is taken for true only as far as what it
// returns can be a block.

#include <algorithm>
#include <cstddef>

#include "engine/objects/objects.h"

namespace bd {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

// The largest number there is if they multiply to more.
std::uint64_t product_of(std::uint64_t size, std::uint64_t count) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(size, count, &product) ? ~std::uint64_t{0} : product;
}

bool is_named(const Function* function) {
    return function != nullptr && function->allocator.may_be_within;
}

}  // namespace

void DeleteOpenAllocations::operator()(OpenAllocations* allocations) const {
    delete allocations;
}

// What has been left by a jump, or in a way that was not seen, is not open any more. A later call may be like it in all
// that an OpenCall has, so it is the mark that tells: it goes when the call does.
bool Objects::is_open(const Execution& execution, const OpenAllocation& allocation) {
    const auto& special = execution.special_calls;
    auto found = special.rbegin();
    while (found != special.rend() && found->index > allocation.call) ++found;
    return found != special.rend() && found->index == allocation.call && found->allocates;
}

// Marks the innermost call as that of an allocator.
void Objects::mark_open(Execution& execution) {
    const std::size_t call = execution.calls.size() - 1;
    auto& special = execution.special_calls;
    if (special.empty() || special.back().index != call) special.push_back({call, {}, nullptr});
    special.back().allocates = true;
}

void Objects::enter_allocator(Execution& execution, std::span<const Word> arguments) {
    const Function& function = *execution.last->block->function;
    const AllocatorRole& role = function.allocator;
    if (!role.marks_entry() || execution.calls.empty()) return;
    const std::size_t number = execution.calls.size() - 1;
    const OpenCall& call = execution.calls[number];
    if (execution.allocations == nullptr) execution.allocations.reset(new OpenAllocations);
    auto& open = execution.allocations->calls;
    while (!open.empty() && (open.back().call == number || !is_open(execution, open.back()))) open.pop_back();
    if (open.empty()) note_inner(execution, 0);
    mark_open(execution);
    const GroupId group = open.empty() ? place(execution, ObjectKind::kHeap) : open.back().group;
    const bool in_named = !open.empty() && (open.back().in_named || is_named(open.back().function));
    const auto argument = [arguments](unsigned nth) {
        return nth == 0 || nth > arguments.size() ? 0 : arguments[nth - 1];
    };
    OpenAllocation& allocation = open.emplace_back();
    allocation.call = number;
    allocation.stack_pointer = call.stack_pointer;
    allocation.function = &function;
    allocation.element = argument(role.size);
    allocation.size = role.count == 0 ? allocation.element : product_of(allocation.element, argument(role.count));
    allocation.before = argument(role.block);
    allocation.group = group;
    allocation.allocated = 0;
    allocation.in_named = in_named;
    allocation.first_inner = execution.allocations->inner.size();
}

void Objects::leave_allocator(Execution& execution, Address result, Address stack_pointer) {
    if (execution.allocations == nullptr) return;
    auto& open = execution.allocations->calls;
    for (; !open.empty(); open.pop_back()) {
        OpenAllocation& call = open.back();
        const bool may_return = is_open(execution, call);
        if (may_return && call.stack_pointer > stack_pointer) return;
        if (!may_return || call.stack_pointer != stack_pointer) continue;
        if (is_named(call.function)) {
            allocate_named(execution, call, result);
        } else {
            allocate(execution, call, result);
        }
        for (auto outer = open.rbegin() + 1; outer != open.rend(); ++outer) {
            outer->allocated = call.allocated;
            if (outer->function->allocator.kind != AllocatorKind::kWraps) break;
        }
    }
    note_inner(execution, 0);
}

// What has been called on the way may have told of the block already. A size that goes past the last address is none:
// it was read where the size does not stand.
void Objects::allocate(Execution& execution, OpenAllocation& call, Address result) {
    const AllocatorRole& role = call.function->allocator;
    if (role.kind == AllocatorKind::kWraps) return;
    const bool reallocates = role.kind == AllocatorKind::kReallocates;
    if (result == 0) {
        if (reallocates && call.size == 0) free(call.before);
        return;
    }
    if (call.allocated == result || !HeapBlock::has_end(result, call.size)) return;
    if (reallocates && call.before != result) end(call.before);
    if (reallocates) blocks_.free(call.before);
    add_block(execution, call, result, false);
}

void Objects::add_block(Execution& execution, OpenAllocation& call, Address base, bool within) {
    call.allocated = base;
    if (!blocks_.add(base, call.size, call.group, within)) return;
    groups_.count_block(call.group, call.size);
    const InnerBlock block{base, call.size, call.element, call.group};
    if (call.in_named) {
        execution.allocations->inner.push_back(block);
    } else {
        note(block);
    }
}

void Objects::end(Address address) {
    if (!notes_ends_) return;
    const HeapBlock block = blocks_.find(address);
    if (block.size != 0 && block.base == address) ended_.push_back(block);
}

// --- Functions that the user says allocate

void Objects::allocate_named(Execution& execution, OpenAllocation& call, Address result) {
    NamedAllocator& seen = named_[*call.function];
    ++seen.calls;
    if (execution.allocations->inner.size() > call.first_inner) ++seen.wrapping;
    const std::size_t inner = find_inner(execution, call, result);
    if (result == 0) {
        ++seen.null;
    } else if (inner != kNone) {
        take_inner(execution, call, inner);
    } else {
        take_part(execution, call, result);
    }
    if (!call.in_named) note_inner(execution, call.first_inner);
}

// The latest block that has been allocated there since the call began.
std::size_t Objects::find_inner(const Execution& execution, const OpenAllocation& call, Address base) {
    for (std::size_t i = execution.allocations->inner.size(); i != call.first_inner; --i) {
        if (execution.allocations->inner[i - 1].base == base) return i - 1;
    }
    return kNone;
}

// It returns what another allocator has given it. That one knows its size, unless it is a pool that has got more than
// the part that it returns.
void Objects::take_inner(Execution& execution, OpenAllocation& call, std::size_t inner) {
    NamedAllocator& seen = named_[*call.function];
    InnerBlock& block = execution.allocations->inner[inner];
    call.allocated = block.base;
    if (call.size == 0 || call.size >= block.size) return;
    if (seen.hands_out_parts) {
        if (!shrink(block, call.size)) return;
        block.size = call.size;
        block.element = call.element;
    } else if (!call.in_named) {
        if (seen.doubtful.size() == NamedAllocator::kMostDoubtful) {
            note_doubtful(&seen);
            seen.doubtful.clear();
        }
        seen.doubtful.push_back({block, call.size, false});
        execution.allocations->inner.erase(execution.allocations->inner.begin() + static_cast<std::ptrdiff_t>(inner));
    }
}

// It returns a part of what it, or another one, has allocated, or something that is no block at all.
void Objects::take_part(Execution& execution, OpenAllocation& call, Address result) {
    NamedAllocator& seen = named_[*call.function];
    if (!fits(execution, call, result)) {
        if (execution.allocations->inner.size() > call.first_inner) return;
        const bool is_outside = blocks_.find(result).size == 0 && !is_memory(execution, result, 1);
        ++(is_outside ? seen.outside : seen.oversized);
        return;
    }
    // What was returned before and does not end where this does is not used any more.
    HeapBlock around = blocks_.find(result);
    for (; around.size != 0 && call.size > around.end() - result; around = blocks_.find(result)) free(around.base);
    const std::size_t inner = around.size == 0 ? kNone : find_inner(execution, call, around.base);
    if (inner == kNone && !seen.hands_out_parts) {
        seen.hands_out_parts = true;
        shrink_doubtful(&seen);
        around = blocks_.find(result);
    }
    const Function* const named = groups_[call.group].function;
    if (around.size != 0 && is_named(named) && groups_[around.group].function == named) {
        // A part that is too large to be known belongs to what it is a part of.
        if (call.size > HeapBlocks::kMostSmall) return;
        if (inner != kNone) {
            blocks_.move(around, of_pools());
            execution.allocations->inner.erase(execution.allocations->inner.begin() +
                                               static_cast<std::ptrdiff_t>(inner));
        } else {
            free(around.base);
        }
    }
    add_block(execution, call, result, blocks_.find(result).size != 0);
}

// Whether there is memory for a block there: within the block that the first byte lies in; or, without one, in what is
// mapped, or on the stack. Parts of pools are passed over: where they ended may not have been seen.
bool Objects::fits(const Execution& execution, const OpenAllocation& call, Address result) {
    const std::uint64_t bytes = std::max(call.size, std::uint64_t{1});
    if (!HeapBlock::has_end(result, bytes)) return false;
    HeapBlock around = blocks_.find(result);
    const auto is_part = [&](const HeapBlock& block) { return is_named(groups_[block.group].function); };
    if (around.size != 0 && bytes > around.end() - result) {
        if (find_inner(execution, call, around.base) != kNone) return false;
        around = blocks_.find_around(result, [&](const HeapBlock& block) { return !is_part(block); });
    }
    return around.size == 0 ? is_memory(execution, result, bytes) : bytes <= around.end() - result;
}

bool Objects::is_memory(const Execution& execution, Address begin, std::uint64_t bytes) const {
    const Address end = begin + bytes;
    const auto is_on = [&](const CallStack& stack) { return begin >= stack.stack_pointer && end <= stack.base; };
    return ranges_.end_of_known(begin) >= end || is_on(execution) ||
           std::ranges::any_of(execution.others, [&](const auto& other) { return is_on(*other); });
}

// What a pool has got belongs to the pool, but for the part that it has handed out there. False: that is too large, or
// something else is there now.
bool Objects::shrink(const InnerBlock& block, std::uint64_t size) {
    const HeapBlock now = blocks_.find(block.base);
    const bool is_there = now.base == block.base && now.size == block.size && now.group == block.group;
    if (!is_there || size > HeapBlocks::kMostSmall) return false;
    blocks_.move(now, of_pools());
    if (blocks_.add(block.base, size, block.group, true)) groups_.count_block(block.group, size);
    return true;
}

void Objects::shrink_doubtful(NamedAllocator* seen) {
    for (auto& [block, asked, is_noted] : seen->doubtful) {
        const bool is_part = shrink(block, asked);
        if (is_part) block.size = block.element = asked;
        if (is_part || !is_noted) note(block);
    }
    seen->doubtful.clear();
}

void Objects::note_inner(Execution& execution, std::size_t first) {
    auto& inner = execution.allocations->inner;
    for (std::size_t i = first; i < inner.size(); ++i) note(inner[i]);
    inner.resize(std::min(inner.size(), first));
}

void Objects::note_doubtful(NamedAllocator* seen) {
    for (NamedAllocator::Doubtful& each : seen->doubtful) {
        if (!each.is_noted) note(each.block);
        each.is_noted = true;
    }
}

GroupId Objects::of_pools() {
    if (of_pools_ == kUnknownGroup) of_pools_ = groups_.unused();
    return of_pools_;
}

}  // namespace bd
