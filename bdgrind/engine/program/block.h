// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is known about a piece of guest code when it is translated. A Block is one translated superblock: straight
// code with one entry and one or more exits. The trace then needs to say only which exit was taken and which
// addresses were touched; everything else is looked up here.
//
// A Block is one allocation: the header with its exits, instructions, accesses and fetches behind it. It never
// changes, but for the notes that the engine keeps in mutable members, and is never freed while the engine lives, as
// recorded costs point to it; BlockTable gives the same Block again for the same code, so retranslation does not add
// up.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/program/symbols.h"
#include "engine/base/types.h"

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

    std::uint64_t bytes;   // one bit for each that is touched, the lowest first; only if `span` <= 64
    std::uint32_t span;    // bytes, from the lowest to the highest
    std::uint16_t first;   // access, by index
    std::uint8_t accesses;
    std::uint8_t before;   // bytes, from the lowest to the first access
};

// A run of instruction bytes within one I1 line, fetched together: none of the instructions between is an exit.
struct Fetch {
    static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

    LineNumber line;
    mutable std::uint32_t place = kNowhere;  // the engine's: see UncreditedFetches
    std::uint16_t first_byte;  // within the line
    std::uint16_t size;        // bytes
    std::uint16_t count;       // instructions that touch it
    std::uint16_t instruction;  // the first of them
};

inline constexpr std::uint32_t kNoSection = ~std::uint32_t{0};
inline constexpr std::uint32_t kEntry = kNoSection - 1;
inline constexpr std::uint32_t kNotEntered = kNoSection - 2;

// What is executed on the way to an exit. Four numbers that are counted in one step; `blocks` is 1.
struct Work {
    std::uint32_t instructions = 0;
    std::uint32_t reads = 0;
    std::uint32_t writes = 0;
    std::uint32_t blocks = 0;
};

// One way out of a block. The first word of a trace record names it. It has two lines of the host's cache: what every
// record of the replay needs, and changes; and what D1 needs, which may be ahead on another thread.
struct Exit : Work {
    // A jump from here to a block with an equal `section_entered` goes on within the function: the block's section,
    // or kNoSection where it is not a plain jump; and again the block's section, or kEntry where a function begins.
    std::uint32_t section_left = kNoSection;
    std::uint32_t section_entered = kNoSection;
    std::uint16_t fetches = 0;     // up to here
    bool has_more_lines = false;   // than those of the first and the last fetch
    bool may_skip_access = false;  // one of the accesses is guarded
    std::uint16_t words = 0;  // addresses in the record: one for each group of accesses that is traced
    std::uint16_t index = 0;

    // The engine's notes. See BlockCosts and UncreditedFetches:
    mutable const Context* ready_in = nullptr;
    mutable std::uint64_t taken = 0;
    mutable std::uint64_t uncredited = 0;  // times, less `taken`
    mutable std::uint32_t first_place = 0;
    mutable std::uint32_t last_place = 0;

    const AccessGroup* first_group = nullptr;  // the block's
    std::uint16_t groups = 0;                  // up to here
    std::uint16_t accesses = 0;                // up to here
    JumpKind jump = JumpKind::kJump;
    Branch branch = Branch::kNone;
    const Block* block = nullptr;  // null in a marker, see trace.h
    Address return_address = 0;    // the instruction behind the last one; only of use to calls
    mutable BlockCost* cost = nullptr;  // see BlockCosts
    std::uint64_t unused[3] = {};

    // Hands over what has been counted.
    std::uint64_t take_taken() const {
        uncredited += taken;
        return std::exchange(taken, 0);
    }

    Address branch_address() const;  // of the last instruction
};
static_assert(sizeof(void*) == 4 || sizeof(Exit) == 128);

// The kinds of sections of one object are numbered within this many.
inline constexpr std::uint32_t kSectionsPerObject = 16;

struct Block {
    Address address;
    const Function* function;
    Address load_bias;  // address minus load_bias is the address in the object file
    // Equal for blocks in the same kind of section of the same object: object's id * kSectionsPerObject + kind.
    std::uint32_t section;
    bool is_entry;          // starts at the first instruction of its function
    bool traces_all;        // the trace has all addresses; else only those of guarded accesses
    std::uint16_t exit_count;
    std::uint16_t instruction_count;
    std::uint16_t access_count;
    std::uint16_t group_count;
    std::uint16_t fetch_count;
    std::uint32_t id;  // dense, from 0

    // The engine's: counts of this block, one set per context; this is the set used last.
    mutable BlockCost* costs;

    std::span<const Exit> exits() const { return {exits_, exit_count}; }
    std::span<const Instruction> instructions() const { return {instructions_, instruction_count}; }
    std::span<const Access> accesses() const { return {accesses_, access_count}; }
    std::span<const AccessGroup> groups() const { return {groups_, group_count}; }
    std::span<const Fetch> fetches() const { return {fetches_, fetch_count}; }

    Address instruction_address(std::size_t index) const { return address + instructions_[index].offset; }

    const Exit* exits_;
    const Instruction* instructions_;
    const Access* accesses_;
    const AccessGroup* groups_;
    const Fetch* fetches_;
};

inline Address Exit::branch_address() const {
    return block->instruction_address(instructions - 1u);
}

// A block in the making. Instructions, accesses and exits are added in program order; the last exit is the block's
// end. May be used again after BlockTable::add.
class BlockBuilder {
public:
    // `trace_all`: the trace has all addresses; else only those of guarded accesses, which is what can be counted
    // without caches.
    explicit BlockBuilder(bool trace_all = true) : trace_all_(trace_all) {}

    // `section` is the kind of section, below kSectionsPerObject.
    void start(Address address, const Function& function, Address load_bias, std::uint32_t section,
               bool is_entry);
    // `file` may differ from the function's where code was inlined.
    void add_instruction(Address address, std::uint32_t size, const SourceFile& file, std::uint32_t line);
    // By the last instruction added. A new group, or the last one goes on with an access that begins `distance` bytes
    // behind that group's first; false: it cannot.
    void add_access(std::uint32_t size, AccessKind kind, bool guarded);
    bool join_access(std::uint32_t size, AccessKind kind, std::int64_t distance);
    void add_bus_event() { add_access(1, AccessKind::kBus, true); }
    // Turns the last access, a read, into a read-modify-write.
    void make_modify();
    // Returns its index.
    std::size_t add_exit(JumpKind jump, Branch branch = Branch::kNone);

    std::size_t access_count() const { return accesses_.size(); }
    std::size_t group_count() const { return groups_.size(); }
    // Of the groups those whose addresses are in the trace.
    std::size_t traced_count() const { return trace_all_ ? groups_.size() : guarded_; }
    bool traces(bool guarded) const { return trace_all_ || guarded; }
    std::size_t instruction_count() const { return instructions_.size(); }

private:
    friend class BlockTable;

    void push_access(std::uint32_t size, AccessKind kind, bool guarded, std::int64_t distance);
    void cut_fetches(unsigned line_bits);
    bool describes(const Block& block) const;
    std::uint64_t hash() const;

    Block header_{};
    std::vector<Exit> exits_;
    std::vector<Instruction> instructions_;
    std::vector<Access> accesses_;
    std::vector<AccessGroup> groups_;
    std::vector<Fetch> fetches_;
    std::uint32_t reads_ = 0;
    std::uint32_t writes_ = 0;
    std::uint16_t guarded_ = 0;
    bool may_join_ = false;  // the last group may go on
    bool trace_all_;
};

class BlockTable {
public:
    // `line_bits`: log2 of the I1 line size.
    explicit BlockTable(unsigned line_bits) : line_bits_(line_bits) {}
    ~BlockTable();
    BlockTable(const BlockTable&) = delete;
    BlockTable& operator=(const BlockTable&) = delete;

    // The block that `builder` describes: a known one where it was translated before. Valid as long as the table.
    const Block& add(BlockBuilder& builder);

    std::span<const Block* const> blocks() const { return blocks_; }

private:
    unsigned line_bits_;
    std::vector<const Block*> blocks_;
    boost::unordered_flat_map<std::uint64_t, const Block*> by_hash_;
};

}  // namespace bd
