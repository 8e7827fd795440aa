// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which loops are open in a piece of a trace that is looked at from its beginning, where nothing is known. A jump
// backward within a function to a block makes that the header of a loop (Tubella and Gonzalez, 1998; Moseley and
// others, 2007); from then on, a loop begins whenever its header is entered. A loop ends when its function goes on
// outside of it, or returns.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/types.h"
#include "engine/program/block.h"

namespace bd {

// A loop of the program, numbered from 1 as they are found.
enum class LoopId : std::uint32_t {};
inline constexpr LoopId kNoLoop{0};

class SampledFlow {
public:
    struct OpenLoop {
        LoopId loop;
        std::uint32_t run;  // its number, never used again
        std::size_t calls;  // that were open when it began
    };

    // Nothing is known of what is open.
    void start_piece();

    // A block begins that some other one has led to.
    void enter(const Block& block, Address stack_pointer);
    // It has been left.
    void leave(const Exit& exit) { last_ = &exit; }

    // Open loops, outermost first; those of callers, too.
    std::span<const OpenLoop> loops() const { return open_; }
    // Of what is in no loop.
    std::uint32_t piece() const { return piece_; }

    // A block that begins with the header.
    const Block& header(LoopId loop) const { return *loops_[index_of(loop)].header; }
    std::size_t loop_count() const { return loops_.size() - 1; }

private:
    static constexpr std::size_t kMostCalls = 4096;
    static constexpr std::size_t kMostLoops = 256;

    struct Loop {
        const Block* header = nullptr;
        Address last = 0;  // the farthest instruction that has jumped back to it
    };

    void return_to(Address stack_pointer, JumpKind jump);
    void go_on(const Block& block);
    void jump_back(const Block& block, Address from);
    void begin(LoopId loop) {
        if (open_.size() < kMostLoops) open_.push_back({loop, ++latest_run_, calls_.size()});
    }
    bool is_here(const OpenLoop& open) const { return open.calls == calls_.size(); }
    LoopId& loop_of(const Block& block) {
        if (by_block_.size() <= block.id) by_block_.resize(block.id + std::size_t{1});
        return by_block_[block.id];
    }
    LoopId make_loop(const Block& block);

    const Exit* last_ = nullptr;  // null: nothing is known
    std::vector<Address> calls_;  // open ones, by the stack pointer where they began
    std::vector<OpenLoop> open_;
    std::uint32_t latest_run_ = 0;
    std::uint32_t piece_ = 0;

    std::vector<Loop> loops_ = std::vector<Loop>(1);  // by id
    std::vector<LoopId> by_block_;                    // by id; kNoLoop: it is no header that is known
    boost::unordered_flat_map<Address, LoopId> by_address_;
};

}  // namespace bd
