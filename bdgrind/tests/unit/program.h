// SPDX-License-Identifier: GPL-2.0-or-later
//
// For tests: made-up guest programs, and traces of running them.

#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/costs/contexts.h"
#include "engine/program/block.h"
#include "engine/program/block_builder.h"
#include "engine/program/block_table.h"
#include "engine/program/dataflow.h"
#include "engine/program/symbols.h"
#include "engine/trace/trace.h"

namespace bd::test {

// A block being written down, instruction by instruction:
//     Block& loop = program.code(f, 0x1000).op().reads(8).op().ends(JumpKind::kJump);
class Code {
public:
    Code(BlockTable& blocks, const Function& function, Address address, bool is_entry, std::uint32_t section,
         Address load_bias)
        : blocks_(blocks), file_(function.file), next_(address) {
        builder_.start(address, function, load_bias, section, is_entry);
    }

    // An instruction, behind the one before. Without a line, it is on that of the one before.
    Code& op(std::uint32_t size = 4, std::uint32_t line = 0) {
        if (line != 0) line_ = line;
        builder_.add_instruction(next_, size, *file_, line_);
        next_ += size;
        return *this;
    }
    // What the latest instruction does.
    Code& reads(std::uint32_t size) { return access(size, AccessKind::kRead, false); }
    Code& writes(std::uint32_t size) { return access(size, AccessKind::kWrite, false); }
    Code& modifies(std::uint32_t size) { return access(size, AccessKind::kModify, false); }
    Code& may_read(std::uint32_t size) { return access(size, AccessKind::kRead, true); }
    Code& may_write(std::uint32_t size) { return access(size, AccessKind::kWrite, true); }
    Code& access(std::uint32_t size, AccessKind kind, bool guarded) {
        builder_.add_access(size, kind, guarded);
        return *this;
    }
    // An access so many bytes from the latest that does not join one.
    Code& joins(std::uint32_t size, AccessKind kind, std::int64_t distance) {
        EXPECT_TRUE(builder_.join_access(size, kind, distance)) << "a test's own mistake";
        return *this;
    }
    Code& may_exit(JumpKind jump = JumpKind::kJump, Branch branch = Branch::kNone) {
        builder_.add_exit(jump, branch);
        return *this;
    }
    // What its addresses are computed from.
    Code& flows(const DataflowBuilder& flow) {
        builder_.set_dataflow(flow.words());
        return *this;
    }
    // The instructions from here on come from another source file.
    Code& in(const SourceFile& file) {
        file_ = &file;
        return *this;
    }

    Block& ends(JumpKind jump = JumpKind::kJump, Branch branch = Branch::kNone) {
        builder_.add_exit(jump, branch);
        return blocks_.add(builder_);
    }

private:
    BlockTable& blocks_;
    BlockBuilder builder_;
    const SourceFile* file_;
    Address next_;
    std::uint32_t line_ = 1;
};

struct Program {
    explicit Program(unsigned line_bits = 6) : blocks(line_bits) {}

    Function& function(std::string_view name, std::string_view file = "prog.c",
                       std::string_view object = "prog") {
        return symbols.function(name, symbols.file(file), symbols.object(object));
    }

    // Code somewhere within a function, and code that a function begins with.
    Code code(const Function& function, Address address, std::uint32_t section = 0, Address load_bias = 0) {
        return Code(blocks, function, address, false, section, load_bias);
    }
    Code entry(const Function& function, Address address, std::uint32_t section = 0, Address load_bias = 0) {
        return Code(blocks, function, address, true, section, load_bias);
    }

    SymbolTable symbols;
    BlockTable blocks;
};

// As it is named in profiles.
inline std::string name(const Context& context) {
    std::string name = context.function().name;
    if (context.level() > 1) name += "'" + std::to_string(context.level());
    for (const Function* caller : context.callers()) name += std::string("'") + caller->name;
    return name;
}

class Trace {
public:
    Trace& mark(Marker marker, Word a = 0, Word b = 0, Word c = 0) {
        starts_.push_back(words_.size());
        words_.insert(words_.end(), {marker_word(marker), a, b, c});
        return *this;
    }
    // One that has only so many values.
    Trace& mark_with(Marker marker, std::initializer_list<Word> values) {
        starts_.push_back(words_.size());
        words_.push_back(marker_word(marker, values.size()));
        words_.insert(words_.end(), values);
        return *this;
    }
    Trace& thread(Word id) { return mark(Marker::kThread, id); }
    Trace& collect(bool on) { return mark(Marker::kCollect, on ? 1 : 0); }
    Trace& toggle_collect(Word thread) { return mark(Marker::kToggleCollect, thread); }

    // A block run up to its exit number `exit`, or to its end; with an address for each group of accesses.
    Trace& run_to(const Block& block, std::size_t exit, Address stack_pointer,
                  const std::vector<Word>& addresses) {
        EXPECT_EQ(addresses.size(), block.exits()[exit].groups) << "a test's own mistake";
        starts_.push_back(words_.size());
        words_.push_back(first_word(block.exits()[exit]));
        words_.push_back(stack_pointer);
        words_.insert(words_.end(), addresses.begin(), addresses.end());
        return *this;
    }
    Trace& run(const Block& block, Address stack_pointer, const std::vector<Word>& addresses = {}) {
        return run_to(block, block.exit_count - 1u, stack_pointer, addresses);
    }

    std::size_t records() const { return starts_.size(); }
    Batch all() const { return words_; }
    Batch batch(std::size_t first_record, std::size_t end_record) const {
        const std::size_t first = start(first_record);
        return Batch(words_).subspan(first, start(end_record) - first);
    }

private:
    std::size_t start(std::size_t record) const {
        return record < starts_.size() ? starts_[record] : words_.size();
    }

    std::vector<Word> words_;
    std::vector<std::size_t> starts_;
};

}  // namespace bd::test
