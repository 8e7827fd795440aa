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
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/symbols.h"
#include "engine/types.h"

namespace bd {

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
    AccessKind kind;
    bool guarded;  // may not happen; then the trace holds address 0
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

// One way out of a block. Its address is the first word of a trace record.
struct Exit {
    const Block* block;  // null in a marker, see trace.h
    std::uint16_t index;
    JumpKind jump;
    Branch branch;
    // Executed on the way to this exit:
    std::uint16_t instructions;
    std::uint16_t reads;
    std::uint16_t writes;
    std::uint16_t accesses;
    std::uint16_t fetches;
    std::uint16_t words;     // addresses in the record: one for each access that is traced
    bool may_skip_access;    // one of the accesses is guarded
    mutable bool all_listed = false;  // the engine's: see UncreditedFetches
    // A jump from here to a block with an equal `section_entered` goes on within the function: the block's section,
    // or kNoSection where it is not a plain jump; and again the block's section, or kEntry where a function begins.
    std::uint32_t section_left;
    std::uint32_t section_entered;
    Address return_address;  // the instruction behind the last one; only of use to calls

    Address branch_address() const;  // of the last instruction

    mutable std::uint64_t uncredited = 0;  // the engine's: see UncreditedFetches
};

inline constexpr std::uint32_t kNoSection = ~std::uint32_t{0};
inline constexpr std::uint32_t kEntry = kNoSection - 1;

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
    std::uint16_t fetch_count;
    std::uint32_t id;  // dense, from 0

    // The engine's: counts of this block, one set per context; this is the set used last.
    mutable BlockCost* costs;

    std::span<const Exit> exits() const { return {exits_, exit_count}; }
    std::span<const Instruction> instructions() const { return {instructions_, instruction_count}; }
    std::span<const Access> accesses() const { return {accesses_, access_count}; }
    std::span<const Fetch> fetches() const { return {fetches_, fetch_count}; }

    Address instruction_address(std::size_t index) const { return address + instructions_[index].offset; }

    const Exit* exits_;
    const Instruction* instructions_;
    const Access* accesses_;
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
    // By the last instruction added.
    void add_access(std::uint32_t size, AccessKind kind, bool guarded);
    void add_bus_event() { add_access(1, AccessKind::kBus, true); }
    // Turns the last access, a read, into a read-modify-write.
    void make_modify();
    // Returns its index.
    std::size_t add_exit(JumpKind jump, Branch branch = Branch::kNone);

    std::size_t access_count() const { return accesses_.size(); }
    // Those whose addresses are in the trace.
    std::size_t traced_count() const { return trace_all_ ? accesses_.size() : guarded_; }
    bool traces(bool guarded) const { return trace_all_ || guarded; }
    const Access& last_access() const { return accesses_.back(); }
    std::size_t instruction_count() const { return instructions_.size(); }

private:
    friend class BlockTable;

    void cut_fetches(unsigned line_bits);
    bool describes(const Block& block) const;
    std::uint64_t hash() const;

    Block header_{};
    std::vector<Exit> exits_;
    std::vector<Instruction> instructions_;
    std::vector<Access> accesses_;
    std::vector<Fetch> fetches_;
    std::uint16_t reads_ = 0;
    std::uint16_t writes_ = 0;
    std::uint16_t guarded_ = 0;
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
