// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is known about a piece of guest code when it is translated. A Block is one translated superblock: straight
// code with one entry and one or more exits. The trace then needs to say only which exit was taken and which
// addresses were touched; everything else is looked up here.
//
// A Block is one allocation: the header with its exits, instructions, accesses and fetches behind it (block_table.h).
// What describes the code never changes, and a const Block is nothing else. What the replay notes about a block stands
// beside what it belongs to, in types of its own: in the last members of CachedFetch, TracedExit and Block. One engine
// at a time may write there.

#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "engine/base/types.h"
#include "engine/program/symbols.h"

namespace bd {

class Context;
struct Block;
struct BlockCost;

enum class JumpKind : std::uint8_t { kJump, kCall, kReturn };

// What leaving a block by an exit says about the branch there.
enum class Branch : std::uint8_t {
    kNone,      // nothing that is to be predicted: straight on, a fixed target, a return
    kTaken,     // it was conditional and taken
    kNotTaken,  // it was conditional and not taken
    kIndirect,  // its target was computed
};

// kBus is no access of its own: an atomic instruction locks the bus. It never has an address.
enum class AccessKind : std::uint8_t { kRead, kWrite, kModify, kBus };

constexpr bool is_write(AccessKind kind) {
    return kind == AccessKind::kWrite || kind == AccessKind::kModify;  // a modify counts as one, as in Callgrind
}

struct Instruction {
    std::uint16_t offset;  // from the block's address
    std::uint16_t size;    // bytes, at least 1
    std::uint32_t line;    // in `file`; 0: unknown
    const SourceFile* file;
};

struct Access {
    std::uint32_t size;  // bytes, at least 1
    std::uint16_t instruction;
    std::uint16_t group;    // by index
    std::int16_t distance;  // bytes, from the group's first access
    AccessKind kind;
    bool guarded;  // may not happen; then the trace holds address 0
    std::uint32_t unused;
};

// Accesses that follow each other in program order at fixed distances, such as those to one object or to a function's
// frame. The trace has one address for all of them, that of the first. They lie within kMostBytes, so that mostly it
// takes but one look to find that all of them hit. An access that has no such neighbours is a group of its own, of any
// size; so is a guarded one.
struct AccessGroup {
    static constexpr std::uint32_t kMostBytes = 24;  // the more, the more often a group lies in two lines

    // That of an access alone.
    static constexpr AccessGroup of(std::uint32_t size) { return {mask(size), size, 0, 1, 0}; }
    static constexpr std::uint64_t mask(std::uint32_t size) {
        return size >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
    }

    std::uint64_t bytes;  // one bit for each that is touched, the lowest first; only if `span` <= 64
    std::uint32_t span;   // bytes, from the lowest to the highest
    std::uint16_t first;  // access, by index
    std::uint8_t accesses;
    std::uint8_t before;  // bytes, from the lowest to the first access
};

// A run of instruction bytes within one I1 line, fetched together: none of the instructions between is an exit.
struct Fetch {
    LineNumber line;
    std::uint16_t first_byte;   // within the line
    std::uint16_t size;         // bytes
    std::uint16_t count;        // instructions that touch it
    std::uint16_t instruction;  // the first of them
};
struct CachedFetch : Fetch {
    static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

    std::uint32_t i1_slot = kNoSlot;  // see InstructionCache
};

inline constexpr std::uint32_t kNoContinuation = ~std::uint32_t{0};
inline constexpr std::uint32_t kEntryContinuation = kNoContinuation - 1;
inline constexpr std::uint32_t kMarkerContinuation = kNoContinuation - 2;

// What is executed on the way to an exit. Four numbers that are counted in one step; `blocks` is 1.
struct ExitTotals {
    std::uint32_t instructions = 0;
    std::uint32_t reads = 0;
    std::uint32_t writes = 0;
    std::uint32_t blocks = 0;
};

// What is asked about an exit now and then, or by D1.
struct ExitDetails {
    const AccessGroup* first_group = nullptr;  // the block's
    std::uint16_t groups = 0;                  // up to here
    std::uint16_t accesses = 0;                // up to here
    std::uint16_t words = 0;                   // addresses in the record: one for each group of accesses that is traced
    std::uint16_t index = 0;
    Block* block = nullptr;      // null in a marker, see trace.h
    Address return_address = 0;  // the instruction behind the last one; only of use to calls
    JumpKind jump = JumpKind::kJump;
    Branch branch = Branch::kNone;
    std::uint64_t unused[2] = {};
};

// One way out of a block. The first word of a trace record names it.
struct Exit : ExitDetails, ExitTotals {
    // A jump from here goes on within the function if it leads to a block that expects the continuation left here. That
    // is the block's section; but what is not a plain jump leaves kNoContinuation, and where a function begins,
    // kEntryContinuation is expected.
    std::uint32_t continuation_left = kNoContinuation;
    std::uint32_t continuation_expected = kNoContinuation;
    std::uint16_t fetches = 0;     // up to here
    bool has_more_lines = false;   // than those of the first and the last fetch
    bool may_skip_access = false;  // one of the accesses is guarded
    std::uint32_t begin = 0;       // the lower half of the block's address

    Address branch_address() const;  // of the last instruction
};

// What the replay notes about an exit, see BlockCosts and InstructionCache.
struct ExitNotes {
    const Context* fast_path_context = nullptr;
    std::uint64_t taken = 0;
    std::uint64_t uncredited = 0;  // times, less `taken`
    std::uint32_t first_slot = 0;
    std::uint32_t last_slot = 0;

    // Hands over what has been counted.
    std::uint64_t take_taken() {
        uncredited += taken;
        return std::exchange(taken, 0);
    }
};
struct ExitCost {
    BlockCost* cost = nullptr;  // what `taken` is counted for
};

// An exit with its notes. It has two lines of the host's cache: first what D1 needs, which may be ahead on another
// thread; then what every record of the replay needs, and changes.
struct TracedExit : ExitCost, Exit, ExitNotes {};
static_assert(sizeof(void*) == 4 || sizeof(TracedExit) == 128);
static_assert(sizeof(void*) == 4 || sizeof(ExitCost) + sizeof(ExitDetails) == 64);

// The kinds of sections of one object are numbered within this many.
inline constexpr std::uint32_t kSectionsPerObject = 16;

struct Block {
    Address address;
    const Function* function;
    Address load_bias;  // address minus load_bias is the address in the object file
    // Equal for blocks in the same kind of section of the same object: object's id * kSectionsPerObject + kind.
    std::uint32_t section;
    bool is_entry;    // starts at the first instruction of its function
    bool traces_all;  // the trace has all addresses; else only those of guarded accesses
    std::uint16_t exit_count;
    std::uint16_t instruction_count;
    std::uint16_t access_count;
    std::uint16_t group_count;
    std::uint16_t fetch_count;
    std::uint32_t id;  // dense, from 0

    std::span<const TracedExit> exits() const { return {exits_, exit_count}; }
    std::span<TracedExit> exits() { return {exits_, exit_count}; }
    std::span<const Instruction> instructions() const { return {instructions_, instruction_count}; }
    std::span<const Access> accesses() const { return {accesses_, access_count}; }
    std::span<const AccessGroup> groups() const { return {groups_, group_count}; }
    std::span<const CachedFetch> fetches() const { return {fetches_, fetch_count}; }
    std::span<CachedFetch> fetches() { return {fetches_, fetch_count}; }
    // What addresses are computed from, see dataflow.h. Empty if not asked for.
    std::span<const std::uint16_t> dataflow() const { return {dataflow_, dataflow_size_}; }

    Address instruction_address(std::size_t index) const { return address + instructions_[index].offset; }

    TracedExit* exits_;
    const Instruction* instructions_;
    const Access* accesses_;
    const AccessGroup* groups_;
    CachedFetch* fetches_;
    const std::uint16_t* dataflow_;
    std::uint32_t dataflow_size_;

    // The counts of this block, one set per context; this is the set used last. See BlockCosts.
    BlockCost* costs;
};

inline Address Exit::branch_address() const {
    return block->instruction_address(instructions - 1u);
}

}  // namespace bd
