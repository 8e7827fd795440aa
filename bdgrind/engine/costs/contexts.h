// SPDX-License-Identifier: GPL-2.0-or-later
//
// Calling contexts, by which costs are separated. A context is a function at a level of recursion, called by certain
// functions, as far as the user asks for these (Function::recursion_levels and caller_count).

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/side_table.h"
#include "engine/program/symbols.h"

namespace bd {

// Functions that call each other, the innermost first.
using Callers = std::span<const Function* const>;

class Context {
public:
    Context(const Function& function, std::uint32_t level, Callers callers, std::uint32_t id, std::uint32_t thread = 0)
        : function_(&function), callers_(callers), level_(level), id_(id), thread_(thread) {}

    const Function& function() const { return *function_; }

    // The level of recursion: 1 for the outermost call, one more for each call within it, up to
    // Function::recursion_levels.
    std::uint32_t level() const { return level_; }

    // At most Function::caller_count callers. A function that calls itself is there once.
    Callers callers() const { return callers_; }

    // Dense, from 0, in the order in which contexts are made.
    std::uint32_t id() const { return id_; }

    // The guest thread; 0 if costs are not separated by thread.
    std::uint32_t thread() const { return thread_; }

private:
    const Function* function_;
    Callers callers_;
    std::uint32_t level_;
    std::uint32_t id_;
    std::uint32_t thread_;
};

// Owns all contexts. References stay valid as long as the table.
class ContextTable {
public:
    ContextTable() = default;
    ContextTable(const ContextTable&) = delete;
    ContextTable& operator=(const ContextTable&) = delete;

    // Where callers do not matter.
    const Context& of(const Function& function, std::uint32_t level = 1) {
        const Context* const outermost = outermost_[function.id];
        if (__builtin_expect(level == 1 && outermost != nullptr, 1)) return *outermost;
        return find_or_make(function, level);
    }

    const Context& of(const Function& function, std::uint32_t level, Callers callers) {
        return callers.empty() ? of(function, level) : with_callers(function, level, callers);
    }

    // The same in a thread of its own, if `context` is not there yet.
    const Context& in_thread(const Context& context, std::uint32_t thread);

    std::size_t size() const { return contexts_.size(); }

private:
    // A function and its callers.
    struct ChainHash {
        using is_transparent = void;
        std::size_t operator()(Callers chain) const;
    };
    struct ChainEqual {
        using is_transparent = void;
        bool operator()(Callers a, Callers b) const;
    };

    // Contexts that differ in their level only, by level.
    using Levels = std::vector<const Context*>;

    const Context& find_or_make(const Function& function, std::uint32_t level);
    const Context& with_callers(const Function& function, std::uint32_t level, Callers callers);
    const Context& get(Levels& levels, const Function& function, std::uint32_t level, Callers callers);

    std::vector<std::unique_ptr<Context>> contexts_;
    SideTable<const Context*> outermost_;  // of level 1, by Function::id; null: not made yet
    SideTable<Levels> by_function_;        // those of all levels
    boost::unordered_flat_map<Callers, Levels, ChainHash, ChainEqual> by_chain_;
    std::vector<std::unique_ptr<const Function*[]>> chains_;
    boost::unordered_flat_map<std::uint64_t, const Context*> by_thread_;  // by thread and the id of that without
    std::vector<const Function*> key_;                                    // for looking up
};

}  // namespace bd
