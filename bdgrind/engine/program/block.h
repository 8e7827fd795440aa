// SPDX-License-Identifier: GPL-2.0-or-later
//
// The description of a piece of guest code, made when it is translated. A Block is one translated superblock: straight
// code with one entry and one or more exits. The trace then only needs to say which exit was taken and which addresses
// were touched; everything else is looked up here.
//
// A Block is one allocation: the header, followed by its exits, instructions, accesses and fetches (block_table.h). The
// description of the code never changes, and a const Block is nothing else. What engines note about exits is in
// FetchNotes and ExitNotes, beside what the same loops read: only one engine at a time may run a block. (With the notes
// in a table of the engine's, by a number of the exit, the replay takes 1 to 6 % longer.)

#pragma once

#include <cstdint>
#include <span>

#include "engine/base/types.h"
#include "engine/program/symbols.h"

namespace bd {

class Context;
struct Block;
struct BlockCost;

enum class JumpKind : std::uint8_t { kJump, kCall, kReturn };

// The branch at an exit, if the block is left by that.
enum class Branch : std::uint8_t {
    kNone,      // nothing to predict: straight on, a fixed target, or a return
    kTaken,     // conditional and taken
    kNotTaken,  // conditional and not taken
    kIndirect,  // with a computed target
};

// kBus is not an access: an atomic instruction locks the bus. It never has an address.
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
    std::uint16_t group;    // an index
    std::int16_t distance;  // bytes, from the group's first access
    AccessKind kind;
    bool guarded;  // whether it may not happen; then the trace has address 0
    std::uint32_t unused;
};

// Accesses that follow each other in program order at fixed distances, such as those to one object or to a function's
// frame. The trace has one address for all of them, that of the first. They lie within kMostBytes, so that mostly a
// single look-up shows that all of them hit. An access without such neighbours is a separate group, of any size; so is
// a guarded one.
struct AccessGroup {
    static constexpr std::uint32_t kMostBytes = 24;  // the more, the more often a group lies in two lines

    // The group of a single access.
    static constexpr AccessGroup of(std::uint32_t size) { return {mask(size), size, 0, 1, 0}; }
    static constexpr std::uint64_t mask(std::uint32_t size) {
        return size >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
    }

    std::uint64_t bytes;  // one bit for each byte that is touched, the lowest first; only if `span` <= 64
    std::uint32_t span;   // bytes, from the lowest to the highest
    std::uint16_t first;  // the index of the first access
    std::uint8_t accesses;
    std::uint8_t before;  // bytes, from the lowest one to the first access
};

// A run of instruction bytes within one I1 line, fetched together: none of the instructions between is an exit.
struct Fetch {
    LineNumber line;
    std::uint16_t first_byte;   // within the line
    std::uint16_t size;         // bytes
    std::uint16_t count;        // how many instructions touch it
    std::uint16_t instruction;  // the index of the first of them
};

inline constexpr std::uint32_t kNoContinuation = ~std::uint32_t{0};
inline constexpr std::uint32_t kEntryContinuation = kNoContinuation - 1;
inline constexpr std::uint32_t kMarkerContinuation = kNoContinuation - 2;

// The number of instructions and accesses executed on the way to an exit. The four numbers are added in one step;
// `blocks` is 1.
struct ExitTotals {
    std::uint16_t instructions = 0;
    std::uint16_t reads = 0;
    std::uint16_t writes = 0;
    std::uint16_t blocks = 0;
};

// The part of an exit that the first-level caches need, which may be ahead on another thread, and what is asked now and
// then.
struct ExitFootprint {
    // Not a line of any program: stands for lines of code that are neither one nor two, or have more than 64 bytes.
    static constexpr LineNumber kOtherLines{~std::uint64_t{1}};

    const AccessGroup* first_group = nullptr;  // the block's
    Block* block = nullptr;                    // null in a marker, see trace.h
    // If the code up to here lies in one or two I1 lines, one after the other: the first of them and the distance to
    // the second; for each, the bytes fetched, a bit for each, and the number of instructions that touch it. A single
    // line is the second, too, with nothing in it. All other code, and markers, have kOtherLines.
    LineNumber line = kOtherLines;
    std::uint64_t bytes[2] = {};
    std::int32_t to_second_line = 0;
    std::uint8_t instructions_in_line[2] = {};
    std::uint16_t groups = 0;   // up to here
    std::uint16_t fetches = 0;  // up to here
    std::uint16_t words = 0;    // addresses in the record, one for each group that is traced
    std::uint16_t index = 0;    // within the block
    JumpKind jump = JumpKind::kJump;
    Branch branch = Branch::kNone;

    LineNumber second_line() const {
        return LineNumber{static_cast<std::uint64_t>(line) + static_cast<std::uint64_t>(std::int64_t{to_second_line})};
    }
};

// The notes of I1 about an exit, see InstructionCache.
struct FetchNotes {
    std::uint32_t epoch = 0;   // in which the following was counted; 0: none
    std::uint16_t times = 0;   // how often the exit was taken
    std::uint16_t latest = 0;  // the index, in the chunk, of the first word of the latest of these records
};

// One way out of a block. The first word of a trace record names it.
struct Exit : ExitFootprint, FetchNotes, ExitTotals {
    // A jump from here stays within the function if it leads to a block that expects the continuation left here. That
    // is the block's section, with two exceptions: exits that are not plain jumps leave kNoContinuation, and blocks at
    // which a function begins expect kEntryContinuation.
    std::uint32_t continuation_left = kNoContinuation;
    std::uint32_t continuation_expected = kNoContinuation;
    std::uint32_t begin = 0;       // the lower half of the block's address
    std::uint16_t accesses = 0;    // up to here
    bool may_skip_access = false;  // whether one of the accesses is guarded
    Address return_address = 0;    // the instruction behind the last one; only used by calls

    Address branch_address() const;  // of the last instruction
};

// The notes of the replay about an exit, see BlockCosts; the last one is JumpTable's.
struct ExitNotes {
    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

    const Context* fast_path_context = nullptr;
    std::uint64_t taken = 0;
    BlockCost* cost = nullptr;      // the costs that `taken` is counted for
    std::uint64_t next = kNowhere;  // Exit::begin of the block that `taken` is known to have led to
};

// An exit with its notes. It has two lines of the host's cache: the first has what the first-level caches need; the
// second has what each record of the replay needs and changes.
struct TracedExit : Exit, ExitNotes {};
static_assert(sizeof(void*) == 4 || sizeof(TracedExit) == 128);
static_assert(sizeof(void*) == 4 || sizeof(ExitFootprint) + sizeof(FetchNotes) == 64);

// The kinds of sections of one object are numbered within this many.
inline constexpr std::uint32_t kSectionsPerObject = 16;

struct Block {
    Address address;
    const Function* function;
    Address load_bias;  // address minus load_bias is the address in the object file
    // Equal for blocks in the same kind of section of the same object: object's id * kSectionsPerObject + kind.
    std::uint32_t section;
    bool is_entry;    // whether it starts at the first instruction of its function
    bool traces_all;  // whether the trace has all addresses, not only those of guarded accesses
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
    std::span<const Fetch> fetches() const { return {fetches_, fetch_count}; }
    // The sources of addresses, see dataflow.h. Empty if they were not recorded.
    std::span<const std::uint16_t> dataflow() const { return {dataflow_, dataflow_size_}; }

    Address instruction_address(std::size_t index) const { return address + instructions_[index].offset; }

    TracedExit* exits_;
    const Instruction* instructions_;
    const Access* accesses_;
    const AccessGroup* groups_;
    const Fetch* fetches_;
    const std::uint16_t* dataflow_;
    std::uint32_t dataflow_size_;
};

inline Address Exit::branch_address() const {
    return block->instruction_address(instructions - 1u);
}

}  // namespace bd
