// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which loops are open in a piece of a trace that is looked at from its beginning, where nothing is known; rule 29 of
// docs/simulation.md.
//
// A jump backward within a function repeats its target if control has been there, and since then at no lower address
// (Tubella and Gonzalez, 1998; Moseley and others, 2007, who take all jumps backward). So a block that compilers have
// placed behind its loop, and that jumps back into the middle of it, makes no other loop.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

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
    void leave(const Exit& exit);

    // Those that what is executed now is in, outermost first; those of callers, too.
    std::span<const OpenLoop> loops() const { return around_; }
    // Of what is in no loop.
    std::uint32_t piece() const { return piece_; }

    // A block that begins where the loop does.
    const Block& header(LoopId loop) const { return *loops_[index_of(loop)].header; }

private:
    static constexpr std::size_t kMostCalls = 4096;
    static constexpr std::size_t kMostLoops = 256;
    static constexpr std::size_t kMostOutside = 32;   // blocks in a row outside of a loop that may belong to it
    static constexpr std::ptrdiff_t kMostParts = 64;  // of a call
    static constexpr std::size_t kMostPassed = 65536;
    static constexpr std::size_t kMostMembers = 65536;

    // Code from `begin` on that was executed, up to `end`, since when control has not been at a lower address.
    struct Passed {
        Address begin;
        Address end;  // where the last instruction begins
    };
    // Code of one function within an open call, which may jump to others.
    struct Part {
        const Function* function;
        std::size_t first_passed;
    };
    struct OpenCall {
        Address stack_pointer;  // where it began
        std::size_t first_part;
        std::size_t first_around;
        std::size_t first_outside;
    };
    // One that is not repeated is the target of a jump backward, and no loop as far as is known.
    struct Loop {
        const Block* header = nullptr;
        Address last = 0;  // the farthest instruction that has jumped back to it, but for those of members
        bool is_repeated = false;
        bool is_entered_inside = false;  // and not only at its header
        bool has_members = false;        // blocks that lie elsewhere
    };

    void return_to(Address stack_pointer, JumpKind jump);
    void end_innermost_call();
    void go_on(const Block& block);
    void enter_part(const Function& function);
    // Whether control has been at the block, and not before it since.
    bool pass(const Block& block);
    void end_loops_behind(const Block& block);
    void jump_back(const Block& block, Address from, bool is_known_place);
    bool is_out_of_line(const Block& block) const;
    void repeat(const Block& block, LoopId loop, Address from);
    void come_back_to_entry(const Block& block, LoopId loop, Address from);
    bool is_of_outer_loop(LoopId loop) const;
    void go_on_to(const Block& block, LoopId loop);
    void look_around(const Block& block);

    bool is_here(const OpenLoop& open) const { return open.calls == calls_.size(); }
    bool lies_in(const Loop& loop, Address address) const {
        return loop.header->address <= address && address <= loop.last;
    }
    bool has(LoopId id, const Block& block) const;
    bool add_outside(LoopId id);
    static std::uint64_t member(LoopId loop, const Block& block) {
        return std::uint64_t{index_of(loop)} << 32 | block.id;
    }
    LoopId& loop_of(const Block& block) {
        if (by_block_.size() <= block.id) by_block_.resize(block.id + std::size_t{1});
        return by_block_[block.id];
    }
    LoopId loop_at(const Block& block);

    const Exit* last_ = nullptr;                    // null: nothing is known
    std::vector<OpenCall> calls_ = {{0, 0, 0, 0}};  // the first is what the piece began in
    std::vector<Part> parts_;                       // of each call, up to the one that control is in
    std::vector<Passed> passed_;                    // of each part, in ascending order
    std::vector<OpenLoop> open_;
    std::vector<OpenLoop> around_;       // of these, those that what is executed is in
    std::vector<const Block*> outside_;  // of each call, since its innermost loop was left
    std::uint32_t latest_run_ = 0;
    std::uint32_t piece_ = 0;

    std::vector<Loop> loops_ = std::vector<Loop>(1);  // by id
    std::vector<LoopId> by_block_;                    // by id; kNoLoop: it is no header that is known
    boost::unordered_flat_map<Address, LoopId> by_address_;
    boost::unordered_flat_map<const Block*, LoopId> entered_at_;  // by block: the loop that is entered there inside
    boost::unordered_flat_set<std::uint64_t> members_;            // blocks that lie elsewhere, by loop
};

}  // namespace bd
