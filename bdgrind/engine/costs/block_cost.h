// SPDX-License-Identifier: GPL-2.0-or-later
//
// The counts of one block in one calling context: how often each exit was taken (once that is settled), from which what
// always happens (instructions, reads, writes) follows when the profile is written; and, for the instructions that
// something happened to, a cost vector.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/side_table.h"
#include "engine/costs/contexts.h"
#include "engine/costs/costs.h"
#include "engine/program/block.h"

namespace bd {

struct ExitCount {
    std::uint64_t taken = 0;
    ArcId arc = kNoArc;     // of the latest call from this exit
    JumpId jump = kNoJump;  // of the latest jump
};

struct BlockCost {
    Block* block;
    const Context* context;
    BlockCost* next;       // the same block in another context; the last one's is the first
    ExitCount* exits;      // by exit
    CostId* instructions;  // by instruction; kNoCost: only what follows from the exits
};

// A call site: an exit of a block in a context.
struct CallSite {
    BlockCost* from = nullptr;
    std::uint16_t exit = 0;

    explicit operator bool() const { return from != nullptr; }
    bool operator==(const CallSite&) const = default;
};

// Owns all BlockCosts.
class BlockCosts {
public:
    explicit BlockCosts(CostPool& costs) : costs_(costs) {}
    ~BlockCosts();
    BlockCosts(const BlockCosts&) = delete;
    BlockCosts& operator=(const BlockCosts&) = delete;

    BlockCost& get(Block& block, const Context& context) {
        BlockCost* const latest = latest_[block.id];
        if (__builtin_expect(latest != nullptr && latest->context == &context, 1)) return *latest;
        return find_or_make(block, context);
    }

    // The cost vector of an instruction, made when first asked for.
    CostId instruction(BlockCost& cost, std::size_t index) {
        CostId& id = cost.instructions[index];
        if (id == kNoCost) id = costs_.make();
        return id;
    }

    // The instruction that ends in `site`'s exit: the calling one.
    CostId caller(const CallSite& site) {
        return instruction(*site.from, site.from->block->exits()[site.exit].instructions - 1u);
    }

    // Exits are counted where they are. ExitNotes::taken has what is to be added to ExitNotes::cost, which is of the
    // context that the exit was taken in last; and while ExitNotes::fast_path_context is that context, nothing else
    // needs to be looked at to count it there. settle() does the adding for all exits, note_context() for one that will
    // now be counted for `cost`.
    void settle();
    void note_context(TracedExit& exit, BlockCost& cost) {
        if (exit.cost != &cost) change_context(exit, cost);
    }

    std::span<BlockCost* const> all() const { return all_; }

    // Zeroes the exits' counts; the cost vectors are the pool's.
    void clear_counts();

private:
    using Key = std::pair<const Block*, const Context*>;
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return reinterpret_cast<std::uintptr_t>(key.first) * 31 + reinterpret_cast<std::uintptr_t>(key.second);
        }
    };

    BlockCost& find_or_make(Block& block, const Context& context);
    static void change_context(TracedExit& exit, BlockCost& cost);
    BlockCost* make(Block& block, const Context& context);

    CostPool& costs_;
    std::vector<BlockCost*> all_;
    SideTable<BlockCost*> latest_;  // by Block::id: in the context used last; null: in none yet
    boost::unordered_flat_map<Key, BlockCost*, KeyHash> of_many_;  // those of blocks with many contexts
};

}  // namespace bd
