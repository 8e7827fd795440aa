// SPDX-License-Identifier: GPL-2.0-or-later
//
// The finished profile: functions with the costs of their lines (or instructions) and of the calls from there. Made
// from the engine's counts, which are kept by block; one function at a time, so that it needs little memory. Sorted
// by names and positions only, so that the same program gives the same profile.

#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/replay/engine.h"
#include "profile/name_order.h"

namespace bd {

// A place in a function. Of address and line, what is not asked for is 0.
struct Position {
    const SourceFile* file;
    Address address;  // in the object file
    std::uint32_t line;
};

// By name of the file, line and address.
std::strong_ordering by_position(const Position& a, const Position& b);

struct CostRow {
    Position position;
    std::size_t costs;  // where its cost vector starts, see FunctionProfile::costs
};

struct CallRow {
    Position position;  // of the calling instruction
    const Context* callee;
    Position target;  // where the callee begins
    std::uint64_t calls;
    std::size_t costs;
};

// Jumps within the function.
struct JumpRow {
    Position position;
    Position target;
    bool conditional;
    std::uint64_t followed;
    std::uint64_t executed;  // of a conditional one, how often it could have been followed
};

struct FunctionProfile {
    const Context* context = nullptr;
    std::vector<CostRow> rows;   // sorted by position, which differs from row to row
    std::vector<CallRow> calls;  // sorted by position, then by callee
    std::vector<JumpRow> jumps;  // sorted by position, then by target
    std::vector<std::uint64_t> cost_values;
    std::size_t width = 0;

    ConstCosts costs(const CostRow& row) const { return {&cost_values[row.costs], width}; }
    ConstCosts costs(const CallRow& row) const { return {&cost_values[row.costs], width}; }
};

struct PositionKinds {
    bool lines = true;
    bool instructions = false;
};

class Profile {
public:
    // Of what the engine has counted for `thread`, see Engine::threads. `engine` must be settled or finished, outlive
    // the profile and not replay meanwhile.
    Profile(const Engine& engine, PositionKinds kinds, std::uint32_t thread = 0);

    const EventSet& events() const { return engine_.events(); }
    PositionKinds kinds() const { return kinds_; }

    // The sum over everything, by event.
    ConstCosts totals() const { return totals_; }

    // Functions that cost anything or called anything, by object, file and name.
    std::size_t function_count() const { return functions_.size(); }

    // See Engine::thread_origins: those whose root is of this profile's thread.
    const std::vector<ThreadOrigin>& thread_origins() const { return origins_; }

    // Fills in the costs of function number `index`.
    void collect(std::size_t index, FunctionProfile* function) const { collect(index, kinds_, function); }
    // With these positions instead of the profile's.
    void collect(std::size_t index, PositionKinds kinds, FunctionProfile* function) const;

    // Whether `is_wanted` holds for the costs of an instruction or a call of function number `index`. What an
    // instruction costs in several blocks is not added up.
    template <class Wanted>
    bool any_costs(std::size_t index, Wanted is_wanted) const;

private:
    struct Source {
        const Context* context;
        std::span<BlockCost* const> blocks;
        std::span<const ArcId> arcs;
        std::span<const Jump* const> jumps;
    };

    static Position position(const Block& block, std::size_t instruction, PositionKinds kinds);
    void collect_jumps(const Source& source, PositionKinds kinds, FunctionProfile* function) const;

    const Engine& engine_;
    PositionKinds kinds_;
    NameOrder order_;
    std::vector<BlockCost*> blocks_;  // sorted by context
    std::vector<ArcId> arcs_;         // sorted by context of the call site
    std::vector<const Jump*> jumps_;  // sorted by context
    std::vector<Source> functions_;
    std::vector<std::uint64_t> totals_;
    std::vector<ThreadOrigin> origins_;
};

template <class Wanted>
bool Profile::any_costs(std::size_t index, Wanted is_wanted) const {
    const Source& source = functions_[index];
    std::vector<std::uint64_t> executed(totals_.size());
    for (const BlockCost* cost : source.blocks) {
        executed[column(Event::kIr)] = 0;
        for (const Exit& exit : cost->block->exits()) executed[column(Event::kIr)] += cost->exits[exit.index].taken;
        if (is_wanted(ConstCosts(executed))) return true;
        for (std::size_t i = 0; i < cost->block->instruction_count; ++i) {
            const CostId id = cost->instructions[i];
            if (id != kNoCost && is_wanted(engine_.costs()[id])) return true;
        }
    }
    return std::ranges::any_of(source.arcs, [&](ArcId id) { return is_wanted(engine_.arcs().costs(id)); });
}

}  // namespace bd
