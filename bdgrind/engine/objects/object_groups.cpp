// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/object_groups.h"

#include <algorithm>
#include <numeric>

#include "engine/base/narrow.h"

namespace bd {
namespace {

std::uintptr_t word(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

ObjectGroups::ObjectGroups() {
    groups_.emplace_back();
}

GroupId ObjectGroups::find_or_make(const Key& key, ObjectKind kind) {
    const auto [found, is_new] = by_key_.try_emplace(key, GroupId{next_number(groups_.size())});
    if (is_new) groups_.emplace_back().kind = kind;
    return found->second;
}

GroupId ObjectGroups::find(ObjectKind kind, const void* of, Address base) {
    const Key key{static_cast<std::uintptr_t>(kind), word(of), static_cast<std::uintptr_t>(base)};
    const GroupId id = find_or_make(key, kind);
    ObjectGroup& group = (*this)[id];
    if (kind == ObjectKind::kStack) {
        group.function = static_cast<const Function*>(of);
    } else if (kind == ObjectKind::kCode || kind == ObjectKind::kFile) {
        group.object = static_cast<const ObjectFile*>(of);
    }
    return id;
}

GroupId ObjectGroups::of(const MappedObject& mapped) {
    if (mapped.kind == ObjectKind::kUnused) return unused();
    if (!is_variable(mapped.kind)) return find(mapped.kind, mapped.object);
    const GroupId id = find(mapped.kind, mapped.object, mapped.in_file);
    ObjectGroup& group = (*this)[id];
    group.object = mapped.object;
    group.name = mapped.name;
    group.size = mapped.size;
    return id;
}

GroupId ObjectGroups::at(ObjectKind kind, const Function* function, std::span<const ObjectPlace> places,
                         std::uint32_t thread) {
    Key key{static_cast<std::uintptr_t>(kind), word(function), thread};
    for (const ObjectPlace& place : places) {
        const Block& block = *place.from->block;
        key.push_back(word(&place.from->context->function()));
        key.push_back(static_cast<std::uintptr_t>(block.instruction_address(place.instruction) - block.load_bias));
    }
    const std::size_t before = groups_.size();
    const GroupId id = find_or_make(key, kind);
    if (groups_.size() != before) {
        (*this)[id].function = function;
        (*this)[id].places.assign(places.begin(), places.end());
        (*this)[id].thread = thread;
    }
    return id;
}

std::uint64_t ObjectGroup::usual_size() const {
    constexpr std::uint64_t kFewest = 10;
    return sized_ >= kFewest && sized_ - votes_ <= sized_ / 10 ? candidate_ : 0;
}

void ObjectGroups::count_block(GroupId id, std::uint64_t size) {
    ObjectGroup& group = (*this)[id];
    ++group.blocks;
    group.bytes += size;
    group.live_bytes += size;
}

// What the counts were zeroed for since it was counted is not in them any more.
void ObjectGroups::move_block(GroupId from, GroupId to, std::uint64_t size) {
    ObjectGroup& group = (*this)[from];
    group.blocks -= std::min(group.blocks, std::uint64_t{1});
    group.bytes -= std::min(group.bytes, size);
    group.live_bytes -= size;
    count_block(to, size);
}

void ObjectGroups::note_size(GroupId id, std::uint64_t size, std::uint64_t element) {
    ObjectGroup& group = (*this)[id];
    group.most_live_bytes = std::max(group.most_live_bytes, group.live_bytes);
    group.smallest = std::min(group.smallest, size);
    group.largest = std::max(group.largest, size);
    ++group.sized_;
    if (group.votes_ == 0) group.candidate_ = size;
    group.votes_ += size == group.candidate_ ? 1 : ~std::uint64_t{0};
    if (element != group.divisor && group.divisor != 1) group.divisor = std::gcd(group.divisor, element);
}

void ObjectGroups::free_block(GroupId id, std::uint64_t size) {
    ObjectGroup& group = (*this)[id];
    ++group.blocks_freed;
    group.live_bytes -= size;
}

void ObjectGroups::clear_counts(std::uint32_t thread) {
    for (ObjectGroup& group : groups_) {
        if (thread != 0 && group.thread != thread) continue;
        group.blocks = 0;
        group.bytes = 0;
        group.blocks_freed = 0;
        group.most_live_bytes = group.live_bytes;
    }
}

}  // namespace bd
