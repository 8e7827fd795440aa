// SPDX-License-Identifier: GPL-2.0-or-later
//
// Builds the description of a block while its code is translated.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/types.h"
#include "engine/program/block.h"
#include "engine/program/symbols.h"

namespace bd {

// Instructions, accesses and exits must be added in program order; the last exit is the block's end. A builder may be
// used again after BlockTable::add.
class BlockBuilder {
public:
    // `trace_all`: whether the trace has all addresses. Otherwise it only has those of guarded accesses, which suffice
    // to count without caches.
    explicit BlockBuilder(bool trace_all = true) : trace_all_(trace_all) {}

    // `section` is the kind of section, below kSectionsPerObject.
    void start(Address address, const Function& function, Address load_bias, std::uint32_t section, bool is_entry);
    // `file` may differ from the function's where code was inlined.
    void add_instruction(Address address, std::uint32_t size, const SourceFile& file, std::uint32_t line);
    // Add an access by the last instruction: as a new group, or to the last group, `distance` bytes behind its first
    // access. join_access() returns false if the group cannot be extended.
    void add_access(std::uint32_t size, AccessKind kind, bool guarded);
    bool join_access(std::uint32_t size, AccessKind kind, std::int64_t distance);
    void add_bus_event() { add_access(1, AccessKind::kBus, true); }
    // Turns the last access, a read, into a read-modify-write.
    void make_modify();
    // Sets the sources of addresses, see dataflow.h. Not called if they are not recorded.
    void set_dataflow(std::span<const std::uint16_t> words) { dataflow_.assign(words.begin(), words.end()); }
    // Returns its index.
    std::size_t add_exit(JumpKind jump, Branch branch = Branch::kNone);

    std::size_t access_count() const { return accesses_.size(); }
    std::size_t group_count() const { return groups_.size(); }
    // The number of groups whose addresses are in the trace.
    std::size_t traced_count() const { return trace_all_ ? groups_.size() : guarded_; }
    bool traces(bool guarded) const { return trace_all_ || guarded; }
    std::size_t instruction_count() const { return instructions_.size(); }

private:
    friend class BlockTable;

    void push_access(std::uint32_t size, AccessKind kind, bool guarded, std::int64_t distance);
    void cut_fetches(unsigned line_bits);
    void note_lines(TracedExit& exit) const;
    bool describes(const Block& block) const;
    std::uint64_t hash() const;

    Block header_{};
    std::vector<TracedExit> exits_;
    std::vector<Instruction> instructions_;
    std::vector<Access> accesses_;
    std::vector<AccessGroup> groups_;
    std::vector<Fetch> fetches_;
    std::vector<std::uint16_t> dataflow_;
    std::uint32_t reads_ = 0;
    std::uint32_t writes_ = 0;
    std::uint16_t guarded_ = 0;
    bool may_join_ = false;  // whether the last group may be extended
    bool trace_all_;
};

}  // namespace bd
