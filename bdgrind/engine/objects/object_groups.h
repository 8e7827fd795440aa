// SPDX-License-Identifier: GPL-2.0-or-later
//
// Groups of data objects: what costs are kept apart by when they are kept apart by data. All heap blocks that were
// allocated in one place are a group, a variable is one, the frames of a function are. Groups are never forgotten; what
// is counted for them may be.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/costs/block_cost.h"
#include "engine/program/symbols.h"

namespace bd {

enum class ObjectKind : std::uint8_t {
    kUnknown,      // nobody knows what was there
    kCode,         // of an object file
    kHeap,         // blocks that were allocated in one place
    kUnused,       // the allocator's own memory: between blocks, and what was free
    kStack,        // the frames of a function
    kStatic,       // a variable with a symbol
    kThreadLocal,  // such a variable that each thread has one of: all of these
    kFile,         // a mapped file, object files included, where no symbol is known
    kMapping,      // memory without a file that was mapped in one place
};

inline bool is_variable(ObjectKind kind) {
    return kind == ObjectKind::kStatic || kind == ObjectKind::kThreadLocal;
}

enum class GroupId : std::uint32_t {};
inline constexpr GroupId kUnknownGroup{0};

// A place in a chain of calls: an instruction of a block.
struct ObjectPlace {
    const BlockCost* from = nullptr;
    std::uint16_t instruction = 0;
};

// What is known of a range of addresses when it is mapped. `name` and `object` must stay.
struct MappedObject {
    Address begin;
    Address end;  // behind it
    ObjectKind kind;
    const char* name;          // of a variable; else null
    const ObjectFile* object;  // the file; may be null
    // Of all of a variable: it may be in several mappings, as where a file's data ends and zeros begin.
    Address base = begin;
    std::uint64_t size = end - begin;  // bytes
    // What tells a file's variables apart: of a thread-local one, its place in a thread's block, which is the same for
    // all threads.
    Address in_file = base;
};

struct ObjectGroup {
    ObjectKind kind = ObjectKind::kUnknown;
    const char* name = nullptr;          // of a variable
    const ObjectFile* object = nullptr;  // of code, a variable or a file
    const Function* function = nullptr;  // whose frames they are; the function that was called to allocate
    std::vector<ObjectPlace> places;     // where from, the innermost first
    std::uint64_t size = 0;              // of a variable, in bytes
    // Of heap blocks and mappings: which thread's, where threads are told apart; else 0.
    std::uint32_t thread = 0;

    // Of heap blocks, since the counts were last zeroed; what is alive is so in any case.
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t blocks_freed = 0;
    std::uint64_t live_bytes = 0;
    std::uint64_t most_live_bytes = 0;
    // Of the sizes of all blocks, ever: in bytes. The greatest common divisor tells the size of an element, mostly.
    std::uint64_t smallest = ~std::uint64_t{0};
    std::uint64_t largest = 0;
    std::uint64_t divisor = 0;

    // The size of at least nine tenths of all blocks, ever; 0 if there is none, or the blocks are too few to tell. A
    // pool's blocks have it, though what refills the pool is larger.
    std::uint64_t usual_size() const;

private:
    friend class ObjectGroups;

    // Blocks of other sizes take votes back (Boyer, Moore): so many more than of all others have been of that size.
    std::uint64_t sized_ = 0;
    std::uint64_t candidate_ = 0;
    std::uint64_t votes_ = 0;
};

class ObjectGroups {
public:
    ObjectGroups();

    GroupId code(const ObjectFile& object) { return of_id(ObjectKind::kCode, &object, object.id, &code_); }
    // Of an object file that has been asked for.
    GroupId known_code(const ObjectFile& object) const { return code_[object.id]; }
    GroupId stack(const Function& function) { return of_id(ObjectKind::kStack, &function, function.id, &stacks_); }
    GroupId unused() { return find(ObjectKind::kUnused, nullptr); }
    // A variable is known again by its object file and where that has it.
    GroupId of(const MappedObject& mapped);
    // Heap blocks or mappings. `function` is null where nobody knows it, `thread` 0 where threads are not told apart.
    GroupId at(ObjectKind kind, const Function* function, std::span<const ObjectPlace> places, std::uint32_t thread);

    ObjectGroup& operator[](GroupId id) { return groups_[static_cast<std::uint32_t>(id)]; }
    const ObjectGroup& operator[](GroupId id) const { return groups_[static_cast<std::uint32_t>(id)]; }
    // By GroupId.
    std::span<const ObjectGroup> all() const { return groups_; }

    void add_block(GroupId id, std::uint64_t size, std::uint64_t element) {
        count_block(id, size);
        note_size(id, size, element);
    }
    // The same in two steps, for a block that may yet turn out to be none of the group.
    void count_block(GroupId id, std::uint64_t size);
    void note_size(GroupId id, std::uint64_t size, std::uint64_t element);
    // One that is alive is another group's, and has always been.
    void move_block(GroupId from, GroupId to, std::uint64_t size);
    void free_block(GroupId id, std::uint64_t size);

    // Of one thread's groups, unless that is 0.
    void clear_counts(std::uint32_t thread);

private:
    using Key = std::vector<std::uintptr_t>;
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            std::size_t hash = 0;
            for (const std::uintptr_t word : key) hash = hash * 31 + word;
            return hash;
        }
    };

    // The group of something with a number, by which `known` has it. (1,000,000 open calls: 0.8 of the replay.)
    GroupId of_id(ObjectKind kind, const void* of, std::uint32_t id, std::vector<GroupId>* known) {
        if (known->size() <= id) known->resize(id + id / 2 + 1);
        GroupId& group = (*known)[id];
        if (group == kUnknownGroup) group = find(kind, of);
        return group;
    }
    GroupId find(ObjectKind kind, const void* of, Address base = 0);
    GroupId find_or_make(const Key& key, ObjectKind kind);

    std::vector<ObjectGroup> groups_;
    boost::unordered_flat_map<Key, GroupId, KeyHash> by_key_;
    std::vector<GroupId> code_;    // by object file's id
    std::vector<GroupId> stacks_;  // by function's id
};

}  // namespace bd
