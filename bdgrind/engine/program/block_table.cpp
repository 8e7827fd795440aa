// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/program/block_table.h"

#include <cstddef>
#include <memory>
#include <new>

#include "engine/base/check.h"
#include "engine/base/narrow.h"

namespace bd {
namespace {

// The bytes that an array takes, such that the next one is aligned.
template <class T>
std::size_t room_for(const std::vector<T>& items) {
    static_assert(alignof(T) <= 8);
    return (items.size() * sizeof(T) + 7) / 8 * 8;
}

// Copies `from` to the raw memory at `to` and moves `to` behind it.
template <class T>
T* copy_array(std::byte*& to, const std::vector<T>& from) {
    T* copied = reinterpret_cast<T*>(to);
    std::uninitialized_copy(from.begin(), from.end(), copied);
    to += room_for(from);
    return copied;
}

constexpr std::size_t kExitAlignment = 64;  // a line of the host's cache

}  // namespace

Block& BlockTable::add(BlockBuilder& builder) {
    BD_CHECK(!builder.exits_.empty());
    // Different code with the same hash takes the next free hash, as in open addressing.
    std::uint64_t hash = builder.hash();
    for (auto found = by_hash_.find(hash); found != by_hash_.end(); found = by_hash_.find(++hash)) {
        if (builder.describes(*found->second)) return *found->second;
    }

    builder.cut_fetches(line_bits_);
    const std::size_t bytes = sizeof(Block) + kExitAlignment + room_for(builder.exits_) +
                              room_for(builder.instructions_) + room_for(builder.accesses_) +
                              room_for(builder.groups_) + room_for(builder.fetches_) + room_for(builder.dataflow_);
    std::byte* memory = static_cast<std::byte*>(::operator new(bytes));
    Block* block = new (memory) Block(builder.header_);
    block->id = next_number(blocks_.size());
    block->exit_count = narrow(builder.exits_.size());
    block->instruction_count = narrow(builder.instructions_.size());
    block->access_count = narrow(builder.accesses_.size());
    block->group_count = narrow(builder.groups_.size());
    block->fetch_count = narrow(builder.fetches_.size());
    memory += sizeof(Block);
    memory += -reinterpret_cast<std::uintptr_t>(memory) % kExitAlignment;
    std::byte* const exits = memory;
    memory += room_for(builder.exits_);
    block->instructions_ = copy_array(memory, builder.instructions_);
    block->accesses_ = copy_array(memory, builder.accesses_);
    block->groups_ = copy_array(memory, builder.groups_);
    block->fetches_ = copy_array(memory, builder.fetches_);
    if (!builder.dataflow_.empty()) {
        block->dataflow_ = copy_array(memory, builder.dataflow_);
        block->dataflow_size_ = static_cast<std::uint32_t>(builder.dataflow_.size());
    }
    for (TracedExit& exit : builder.exits_) {
        exit.block = block;
        exit.first_group = block->groups_;
    }
    memory = exits;
    block->exits_ = copy_array(memory, builder.exits_);
    blocks_.push_back(block);
    by_hash_.emplace(hash, block);
    return *block;
}

BlockTable::~BlockTable() {
    for (Block* block : blocks_) ::operator delete(block);
}

}  // namespace bd
