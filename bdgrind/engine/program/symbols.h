// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names of objects, source files and functions, each stored once. They are resolved when code is translated and
// kept for the whole run, so that an unloaded library, or an address that is used again, keeps its own name.

#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/types.h"

namespace bd {

struct ObjectFile {
    const char* name;
    std::uint32_t id;  // dense, from 0
};

struct SourceFile {
    const char* name;
    std::uint32_t id;  // dense, from 0
};

// The actions that entering or leaving a function triggers. Only the outermost of its open calls in a thread counts.
struct FunctionTriggers {
    bool dump_before = false;
    bool zero_before = false;
    bool dump_after = false;
    bool toggle_collect = false;

    bool any() const { return std::bit_cast<std::uint32_t>(*this) != 0; }
};

// The role of a function as an allocator. Arguments are numbered from 1 to kMostArgument; 0: none.
enum class AllocatorKind : std::uint8_t {
    kNone,
    kForwards,     // calls an allocator for its caller directly: the allocator finds it among the open calls
    kWraps,        // the same, perhaps through functions that are not allocators, so a marker says where it begins
    kAllocates,    // returns a block, or null
    kReallocates,  // the same, and frees another block if it does
    kFrees,
};
struct AllocatorRole {
    static constexpr std::uint8_t kMostArgument = 3;

    AllocatorKind kind = AllocatorKind::kNone;
    std::uint8_t block = 0;      // the block that it frees
    std::uint8_t size = 0;       // in bytes: of the block, or of an element
    std::uint8_t count = 0;      // the number of elements
    std::uint8_t stored_at = 0;  // the place that the block's address is written to; 0: it is the result
    bool may_be_within = false;  // whether a block may be within another one, such as that of a pool

    // Whether a marker says where it begins.
    bool marks_entry() const {
        return kind == AllocatorKind::kWraps || kind == AllocatorKind::kAllocates ||
               kind == AllocatorKind::kReallocates;
    }
};

struct Function {
    const char* name;
    const SourceFile* file;
    const ObjectFile* object;
    std::uint32_t id;  // dense, from 0

    // Whether its calls are not shown: its costs belong to the instruction that called it (PLT stubs, --fn-skip).
    bool skipped = false;
    // Whether it ends by jumping to the function that it was asked to find, as the dynamic linker's resolver does: then
    // it is left, and its caller calls the function that was found.
    bool left_by_jump = false;
    FunctionTriggers triggers{};
    AllocatorRole allocator{};
    // Whether it is a wrapper of allocators, by its name, or a container of a library: it does not count among the
    // callers that separate heap blocks.
    bool wraps_allocators = false;
    // Whether an allocator ends by jumping to it, so that its result is that of the allocator.
    mutable bool ends_allocator = false;

    // Whether calls of it need no special treatment.
    bool is_plain() const { return !skipped && !triggers.any(); }

    // The levels of recursion and the callers by which costs of this function are separated: see contexts.h.
    std::uint32_t recursion_levels = 1;
    std::uint32_t caller_count = 0;
    // Whether its paths are followed if paths are recorded.
    bool follows_paths = true;
};

// Rules that are applied to a function when it becomes known.
class FunctionRules {
public:
    virtual void apply(Function& function) const = 0;

protected:
    ~FunctionRules() = default;
};

// Owns all symbols. References stay valid as long as the table lives.
class SymbolTable {
public:
    // `rules`, if given, must outlive the table.
    explicit SymbolTable(const FunctionRules* rules = nullptr) : rules_(rules) {}
    SymbolTable(const SymbolTable&) = delete;
    SymbolTable& operator=(const SymbolTable&) = delete;

    // Each of these finds the entry or makes it. Names are copied.
    ObjectFile& object(std::string_view name);
    SourceFile& file(std::string_view name);
    // `*is_new`, if given, is set to whether the function was not known.
    Function& function(std::string_view name, const SourceFile& file, const ObjectFile& object, bool* is_new = nullptr);

    const std::vector<std::unique_ptr<Function>>& functions() const { return functions_; }

private:
    struct FunctionKey {
        std::string_view name;
        const SourceFile* file;
        const ObjectFile* object;
        bool operator==(const FunctionKey&) const = default;
    };
    struct NameHash {
        std::size_t operator()(std::string_view name) const;
        std::size_t operator()(const FunctionKey& key) const;
    };

    const char* keep(std::string_view name);

    const FunctionRules* rules_;
    std::vector<std::unique_ptr<char[]>> names_;
    std::vector<std::unique_ptr<ObjectFile>> objects_;
    std::vector<std::unique_ptr<SourceFile>> files_;
    std::vector<std::unique_ptr<Function>> functions_;
    boost::unordered_flat_map<std::string_view, ObjectFile*, NameHash> object_by_name_;
    boost::unordered_flat_map<std::string_view, SourceFile*, NameHash> file_by_name_;
    boost::unordered_flat_map<FunctionKey, Function*, NameHash> function_by_key_;
};

}  // namespace bd
