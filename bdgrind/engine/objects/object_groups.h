// SPDX-License-Identifier: GPL-2.0-or-later
//
// Groups of data objects, by which costs are separated with --objects. All heap blocks that were allocated in one place
// are a group; so is a variable, and so are the stack frames of a function. Groups are never removed; their counts may
// be cleared.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/costs/block_cost.h"
#include "engine/program/symbols.h"

namespace bd {

enum class ObjectKind : std::uint8_t {
    kUnknown,      // memory of unknown use
    kCode,         // of an object file
    kHeap,         // blocks that were allocated in one place
    kUnused,       // the allocator's own memory: between blocks, and what was free
    kStack,        // the frames of a function
    kStatic,       // a variable with a symbol
    kThreadLocal,  // a thread-local variable with a symbol: those of all threads
    kFile,         // a mapped file, object files included, where no symbol is known
    kMapping,      // memory without a file that was mapped in one place
};

inline bool is_variable(ObjectKind kind) {
    return kind == ObjectKind::kStatic || kind == ObjectKind::kThreadLocal;
}

enum class GroupId : std::uint32_t {};
inline constexpr GroupId kUnknownGroup{0};

// A calling instruction in a chain of calls: an instruction of a block in its context.
struct ObjectPlace {
    const BlockCost* from = nullptr;
    std::uint16_t instruction = 0;
};

// What is known about a range of addresses when it is mapped. `name` and `object` must outlive it.
struct MappedObject {
    Address begin;
    Address end;  // behind it
    ObjectKind kind;
    const char* name;          // of a variable; else null
    const ObjectFile* object;  // the file; may be null
    // Of the whole variable, which may lie in several mappings, as where a file's data ends and zeros begin.
    Address base = begin;
    std::uint64_t size = end - begin;  // bytes
    // Identifies a variable of the file: its address or, if it is thread-local, its offset in a thread's block, which
    // is the same for all threads.
    Address in_file = base;
};

struct ObjectGroup {
    ObjectKind kind = ObjectKind::kUnknown;
    const char* name = nullptr;          // of a variable
    const ObjectFile* object = nullptr;  // of code, a variable or a file
    const Function* function = nullptr;  // that the stack frames belong to, or that was called to allocate
    std::vector<ObjectPlace> places;     // from where it was called to allocate, innermost first
    std::uint64_t size = 0;              // of a variable, in bytes
    // Of heap blocks and mappings: the thread, if costs are separated by thread; else 0.
    std::uint32_t thread = 0;

    // Of heap blocks, since the counts were last zeroed; live blocks are counted in any case.
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t blocks_freed = 0;
    std::uint64_t live_bytes = 0;
    std::uint64_t most_live_bytes = 0;
    // Of the sizes of all blocks that there ever were, in bytes. `divisor`: their greatest common divisor, or that of
    // calloc's elements; mostly the size of an element.
    std::uint64_t smallest = ~std::uint64_t{0};
    std::uint64_t largest = 0;
    std::uint64_t divisor = 0;

    // The size, in bytes, of at least nine tenths of all blocks that there ever were; 0 if there is none, or there are
    // too few blocks to say. The blocks of a pool have one, although the blocks that refill the pool are larger.
    std::uint64_t usual_size() const;

private:
    friend class ObjectGroups;

    // The majority vote of Boyer and Moore: a block of another size than the candidate's takes a vote back.
    std::uint64_t sized_ = 0;
    std::uint64_t candidate_ = 0;
    std::uint64_t votes_ = 0;
};

class ObjectGroups {
public:
    ObjectGroups();

    GroupId code(const ObjectFile& object) { return of_id(ObjectKind::kCode, &object, object.id, &code_); }
    // The same of an object file that code() was called for before.
    GroupId known_code(const ObjectFile& object) const { return code_[object.id]; }
    GroupId stack(const Function& function) { return of_id(ObjectKind::kStack, &function, function.id, &stacks_); }
    GroupId unused() { return find(ObjectKind::kUnused, nullptr); }
    // A variable is identified by its object file and MappedObject::in_file.
    GroupId of(const MappedObject& mapped);
    // Of heap blocks or mappings. `function`: null if not known. `thread`: 0 if costs are not separated by thread.
    GroupId at(ObjectKind kind, const Function* function, std::span<const ObjectPlace> places, std::uint32_t thread);

    ObjectGroup& operator[](GroupId id) { return groups_[static_cast<std::uint32_t>(id)]; }
    const ObjectGroup& operator[](GroupId id) const { return groups_[static_cast<std::uint32_t>(id)]; }
    // By GroupId.
    std::span<const ObjectGroup> all() const { return groups_; }

    void add_block(GroupId id, std::uint64_t size, std::uint64_t element) {
        count_block(id, size);
        note_size(id, size, element);
    }
    // The same in two steps, for a block that may turn out not to belong to the group.
    void count_block(GroupId id, std::uint64_t size);
    void note_size(GroupId id, std::uint64_t size, std::uint64_t element);
    // A live block belongs, and has always belonged, to another group.
    void move_block(GroupId from, GroupId to, std::uint64_t size);
    void free_block(GroupId id, std::uint64_t size);

    // Of the groups of a thread; 0: of all groups.
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

    // The group of `of`, found in `known` by its `id`. (With 1,000,000 open calls, replay takes 20 % less time.)
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
