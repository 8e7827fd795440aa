// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/program/block.h"
#include "engine/program/block_builder.h"
#include "engine/program/block_table.h"

#include <map>
#include <random>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "program.h"

namespace bd {
namespace {

using test::Code;
using test::Program;

bool same(const Fetch& a, const Fetch& b) {
    const auto fields = [](const Fetch& f) {
        return std::tuple(f.line, f.first_byte, f.size, f.count, f.instruction);
    };
    return fields(a) == fields(b);
}

Fetch fetch(std::uint64_t line, unsigned first_byte, unsigned size, unsigned count, unsigned instruction) {
    return {.line = LineNumber{line},
            .first_byte = static_cast<std::uint16_t>(first_byte),
            .size = static_cast<std::uint16_t>(size),
            .count = static_cast<std::uint16_t>(count),
            .instruction = static_cast<std::uint16_t>(instruction)};
}

void expect_fetches(Block& block, const std::vector<Fetch>& expected) {
    ASSERT_EQ(block.fetches().size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const Fetch& fetch = block.fetches()[i];
        EXPECT_TRUE(same(fetch, expected[i]))
            << "fetch " << i << ": line " << static_cast<std::uint64_t>(fetch.line) << " first byte "
            << fetch.first_byte << " size " << fetch.size << " count " << fetch.count << " instruction "
            << fetch.instruction;
    }
}

TEST(Block, KeepsWhatTheBuilderWasTold) {
    Program program;
    const Function& f = program.function("f");
    const SourceFile& inlined = program.symbols.file("inlined.h");
    Block& block = program.entry(f, 0x1000, 3, 0x400)
                             .op(4, 10).reads(8)
                             .op(2, 11).in(inlined)
                             .op(5, 99).modifies(4).may_write(16)
                             .ends(JumpKind::kCall);
    EXPECT_EQ(block.address, 0x1000u);
    EXPECT_EQ(block.function, &f);
    EXPECT_EQ(block.load_bias, 0x400u);
    EXPECT_TRUE(block.is_entry);

    ASSERT_EQ(block.instructions().size(), 3u);
    EXPECT_EQ(block.instruction_address(0), 0x1000u);
    EXPECT_EQ(block.instruction_address(1), 0x1004u);
    EXPECT_EQ(block.instruction_address(2), 0x1006u);
    EXPECT_EQ(block.instructions()[1].line, 11u);
    EXPECT_EQ(block.instructions()[1].file, f.file);
    EXPECT_EQ(block.instructions()[2].line, 99u);
    EXPECT_EQ(block.instructions()[2].file, &inlined);

    ASSERT_EQ(block.accesses().size(), 3u);
    EXPECT_EQ(block.accesses()[0].instruction, 0u);
    EXPECT_EQ(block.accesses()[0].kind, AccessKind::kRead);
    EXPECT_EQ(block.accesses()[1].kind, AccessKind::kModify);
    EXPECT_EQ(block.accesses()[2].instruction, 2u);
    EXPECT_EQ(block.accesses()[2].size, 16u);
    EXPECT_FALSE(block.accesses()[1].guarded);
    EXPECT_TRUE(block.accesses()[2].guarded);
}

TEST(Block, AnExitCountsWhatWasExecutedOnTheWayToIt) {
    Program program;
    Block& block = program.code(program.function("f"), 0x1000)
                             .op().reads(8).may_exit()             // 1 instruction, 1 read
                             .op().may_exit().writes(4)            // the write comes after this exit
                             .op().modifies(8).reads(8).may_read(1).may_exit(JumpKind::kReturn)
                             .op(7)
                             .ends(JumpKind::kCall);
    const auto expect_exit = [&](std::size_t index, unsigned instructions, unsigned reads, unsigned writes,
                                 Address return_address, JumpKind jump) {
        const Exit& exit = block.exits()[index];
        EXPECT_EQ(exit.block, &block);
        EXPECT_EQ(exit.index, index);
        EXPECT_EQ(exit.instructions, instructions) << "exit " << index;
        EXPECT_EQ(exit.reads, reads) << "exit " << index;
        EXPECT_EQ(exit.writes, writes) << "exit " << index;
        EXPECT_EQ(exit.accesses, reads + writes) << "exit " << index;
        EXPECT_EQ(exit.return_address, return_address) << "exit " << index;
        EXPECT_EQ(exit.jump, jump) << "exit " << index;
    };
    ASSERT_EQ(block.exits().size(), 4u);
    expect_exit(0, 1, 1, 0, 0x1004, JumpKind::kJump);
    expect_exit(1, 2, 1, 0, 0x1008, JumpKind::kJump);
    expect_exit(2, 3, 3, 2, 0x100c, JumpKind::kReturn);
    expect_exit(3, 4, 3, 2, 0x1013, JumpKind::kCall);
}

TEST(Block, AReadCanBecomeAModify) {
    Program program;
    BlockBuilder builder;
    builder.start(0x1000, program.function("f"), 0, 0, false);
    builder.add_instruction(0x1000, 4, program.symbols.file("prog.c"), 1);
    builder.add_access(8, AccessKind::kRead, false);
    builder.make_modify();
    builder.add_exit(JumpKind::kJump);
    Block& block = program.blocks.add(builder);
    EXPECT_EQ(block.exits()[0].reads, 0);
    EXPECT_EQ(block.exits()[0].writes, 1);
    EXPECT_EQ(block.accesses()[0].kind, AccessKind::kModify);
}

// A group has one address in the trace, and a mask of all the bytes that its accesses touch.
TEST(Block, AccessesAtFixedDistancesAreAGroup) {
    Program program;
    Block& block = program.code(program.function("f"), 0x1000)
                             .op().reads(8).joins(4, AccessKind::kWrite, -8)
                             .op().joins(2, AccessKind::kRead, 10).reads(100)
                             .ends();
    ASSERT_EQ(block.groups().size(), 2u);
    const AccessGroup& near = block.groups()[0];
    EXPECT_EQ(near.bytes, 0b1100'1111'1111'0000'1111u);
    EXPECT_EQ(near.span, 20u);
    EXPECT_EQ(near.before, 8);
    EXPECT_EQ(near.first, 0);
    EXPECT_EQ(near.accesses, 3);
    EXPECT_EQ(block.groups()[1].first, 3);
    EXPECT_EQ(block.groups()[1].span, 100u);
    EXPECT_EQ(block.accesses()[1].distance, -8);
    EXPECT_EQ(block.accesses()[2].group, 0);
    EXPECT_EQ(block.exits()[0].words, 2);
    EXPECT_EQ(block.exits()[0].accesses, 4);
    EXPECT_EQ(block.exits()[0].reads, 3u);
    EXPECT_EQ(block.exits()[0].writes, 1u);
}

// A group happens as a whole; what may not happen is a group of its own.
TEST(Block, OnlyAnAccessAloneIsGuarded) {
    Program program;
    Block& block = program.code(program.function("f"), 0x1000)
                             .op().reads(8).joins(4, AccessKind::kWrite, 8).may_exit()
                             .op().may_read(8)
                             .ends();
    EXPECT_FALSE(block.accesses()[0].guarded);
    EXPECT_FALSE(block.accesses()[1].guarded);
    EXPECT_TRUE(block.accesses()[2].guarded);
    EXPECT_FALSE(block.exits()[0].may_skip_access);
    EXPECT_TRUE(block.exits()[1].may_skip_access);
}

TEST(Block, TheTraceHasAllAddressesOrThoseOfGuardedAccesses) {
    for (const bool all : {true, false}) {
        Program program;
        BlockBuilder builder(all);
        EXPECT_EQ(builder.traces(false), all);
        EXPECT_TRUE(builder.traces(true));
        for (const Address address : {0x1000, 0x2000}) {
            builder.start(address, program.function("f"), 0, 0, false);
            builder.add_instruction(address, 4, program.symbols.file("prog.c"), 1);
            builder.add_access(8, AccessKind::kRead, false);
            EXPECT_EQ(builder.add_exit(JumpKind::kJump), 0u);
            builder.add_access(8, AccessKind::kRead, true);
            EXPECT_EQ(builder.add_exit(JumpKind::kJump), 1u);
            const Block& block = program.blocks.add(builder);
            EXPECT_EQ(block.traces_all, all);
            EXPECT_EQ(block.exits()[0].words, all ? 1 : 0);
            EXPECT_EQ(block.exits()[1].words, all ? 2 : 1);
        }
    }
}

TEST(Block, AGroupOfOneAccessHasABitForEachByteThatFits) {
    EXPECT_EQ(AccessGroup::of(1).bytes, 1u);
    EXPECT_EQ(AccessGroup::of(63).bytes, ~std::uint64_t{0} >> 1);
    EXPECT_EQ(AccessGroup::of(64).bytes, ~std::uint64_t{0});
    EXPECT_EQ(AccessGroup::of(65).bytes, ~std::uint64_t{0});
    EXPECT_EQ(AccessGroup::of(65).span, 65u);
    EXPECT_EQ(AccessGroup::of(65).first, 0u);
    EXPECT_EQ(AccessGroup::of(65).accesses, 1u);
    EXPECT_EQ(AccessGroup::of(65).before, 0u);
}

TEST(Block, OnlyWhatAlwaysHappensTogetherCanBeAGroup) {
    Program program;
    BlockBuilder builder;
    const auto joins = [&](std::int64_t distance, std::uint32_t size = 8) {
        return builder.join_access(size, AccessKind::kRead, distance);
    };
    builder.start(0x1000, program.function("f"), 0, 0, false);
    builder.add_instruction(0x1000, 4, program.symbols.file("prog.c"), 1);
    EXPECT_FALSE(joins(0));  // there is none before it
    builder.add_access(8, AccessKind::kRead, false);
    EXPECT_FALSE(joins(AccessGroup::kMostBytes - 7));
    EXPECT_FALSE(joins(-std::int64_t{AccessGroup::kMostBytes} + 7));
    EXPECT_FALSE(joins(std::int64_t{1} << 62));
    EXPECT_FALSE(joins(0, ~std::uint32_t{0}));
    EXPECT_TRUE(joins(AccessGroup::kMostBytes - 8));
    EXPECT_FALSE(joins(-1));  // too far from the last
    builder.add_exit(JumpKind::kJump);
    EXPECT_FALSE(joins(0));  // may not be reached
    builder.add_access(8, AccessKind::kRead, true);
    EXPECT_FALSE(joins(0));  // may not be true
    builder.add_access(8, AccessKind::kRead, false);
    builder.add_bus_event();
    EXPECT_FALSE(joins(0));
    builder.add_access(8, AccessKind::kRead, false);
    for (int i = 1; i < 255; ++i) ASSERT_TRUE(joins(0));
    EXPECT_FALSE(joins(0));  // more than it can count
}

TEST(Block, InstructionsOfALineAreFetchedTogether) {
    Program program(6);
    Block& block = program.code(program.function("f"), 0x1008).op(4).op(3).op(5).ends();
    expect_fetches(block, {fetch(0x40, 8, 12, 3, 0)});
    EXPECT_EQ(block.exits()[0].fetches, 1);
}

TEST(Block, FetchesAreCutAtLineBorders) {
    Program program(6);
    // Bytes 56 to 63 of one line, then 0 to 6 of the next; the second instruction lies in both.
    Block& block = program.code(program.function("f"), 0x1038).op(5).op(6).op(4).ends();
    expect_fetches(block, {fetch(0x40, 56, 8, 2, 0), fetch(0x41, 0, 7, 2, 1)});
    EXPECT_EQ(block.exits()[0].fetches, 2);
}

TEST(Block, AnInstructionThatEndsWithItsLineDoesNotTouchTheNext) {
    Program program(6);
    Block& block = program.code(program.function("f"), 0x103c).op(4).op(4).ends();
    expect_fetches(block, {fetch(0x40, 60, 4, 1, 0), fetch(0x41, 0, 4, 1, 1)});
}

TEST(Block, FetchesAreCutAtExitsSoThatEachExitHasWholeOnes) {
    Program program(6);
    Block& block =
        program.code(program.function("f"), 0x1000).op(4).op(4).may_exit().op(4).may_exit().op(4).ends();
    expect_fetches(
        block,
        {fetch(0x40, 0, 8, 2, 0), fetch(0x40, 8, 4, 1, 2), fetch(0x40, 12, 4, 1, 3)});
    EXPECT_EQ(block.exits()[0].fetches, 1);
    EXPECT_EQ(block.exits()[1].fetches, 2);
    EXPECT_EQ(block.exits()[2].fetches, 3);
}

TEST(Block, TwoExitsOfOneInstructionShareItsFetch) {
    Program program(6);
    Block& block =
        program.code(program.function("f"), 0x1000).op(4).may_exit().reads(8).may_exit().ends();
    expect_fetches(block, {fetch(0x40, 0, 4, 1, 0)});
    for (const Exit& exit : block.exits()) EXPECT_EQ(exit.fetches, 1);
}

TEST(Block, FetchesFollowTheLineSize) {
    Program program(4);
    Block& block = program.code(program.function("f"), 0x1004).op(10).op(15).ends();
    expect_fetches(block, {fetch(0x100, 4, 12, 2, 0), fetch(0x101, 0, 13, 1, 1)});
}

TEST(Block, AnExitKnowsItsLinesIfTheyAreOneOrTwo) {
    Program program(6);
    const Function& f = program.function("f");
    const Block& one = program.code(f, 0x1008).op(4).op(3).ends();
    EXPECT_EQ(one.exits()[0].line, LineNumber{0x40});
    EXPECT_EQ(one.exits()[0].second_line(), LineNumber{0x40});
    EXPECT_EQ(one.exits()[0].bytes[0], 0x7f00u);
    EXPECT_EQ(one.exits()[0].bytes[1], 0u);
    EXPECT_EQ(one.exits()[0].instructions_in_line[0], 2);
    const Block& two = program.code(f, 0x103d).op(2).may_exit().op(4).op(1).ends();
    EXPECT_EQ(two.exits()[0].second_line(), LineNumber{0x40});
    const Exit& end = two.exits()[1];
    EXPECT_EQ(end.line, LineNumber{0x40});
    EXPECT_EQ(end.second_line(), LineNumber{0x41});
    EXPECT_EQ(end.bytes[0], std::uint64_t{7} << 61);
    EXPECT_EQ(end.bytes[1], 0xfu);
    EXPECT_EQ(end.instructions_in_line[0], 2);
    EXPECT_EQ(end.instructions_in_line[1], 2);
    EXPECT_EQ(program.code(f, 0x1000).op(65).op(64).ends().exits()[0].line, Exit::kOtherLines);
    Code long_way = program.code(f, 0x1100);
    for (int i = 0; i < 64; ++i) long_way.op(1);
    EXPECT_EQ(long_way.ends().exits()[0].instructions_in_line[0], 64);
}

TEST(Block, LargeLinesAreNotNotedAtExits) {
    Program program(7);
    EXPECT_EQ(program.code(program.function("f"), 0x1008).op(4).ends().exits()[0].line, Exit::kOtherLines);
}

// Whatever the cuts: up to every exit, the fetches touch each line in the same order, as often and with the
// same bytes as the instructions one by one.
TEST(Block, FetchesCoverExactlyTheInstructionsOfEachExit) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const unsigned line_bits = 4 + static_cast<unsigned>(random() % 5);
        Program program(line_bits);
        Code code = program.code(program.function("f"), 0x1000 + random() % 256);
        const unsigned instructions = 1 + static_cast<unsigned>(random() % 30);
        for (unsigned i = 0; i < instructions; ++i) {
            code.op(1 + static_cast<std::uint32_t>(random() % 15));
            while (random() % 6 == 0) code.may_exit();
        }
        Block& block = code.ends();

        struct Touched {
            std::map<Address, int> times_by_byte;
            std::map<Address, int> times_by_line;
            bool operator==(const Touched&) const = default;
        };
        for (const Exit& exit : block.exits()) {
            Touched expected;
            for (std::size_t i = 0; i < exit.instructions; ++i) {
                const Address first = block.instruction_address(i);
                const Address last = first + block.instructions()[i].size - 1;
                for (Address byte = first; byte <= last; ++byte) ++expected.times_by_byte[byte];
                for (Address line = first >> line_bits; line <= last >> line_bits; ++line)
                    ++expected.times_by_line[line];
            }
            Touched fetched;
            for (const Fetch& fetch : block.fetches().first(exit.fetches)) {
                const Address line = static_cast<Address>(fetch.line);
                ASSERT_LE(fetch.first_byte + fetch.size, 1u << line_bits) << "seed " << seed;
                fetched.times_by_line[line] += fetch.count;
                for (unsigned i = 0; i < fetch.size; ++i)
                    ++fetched.times_by_byte[(line << line_bits) + fetch.first_byte + i];
            }
            ASSERT_EQ(fetched, expected) << "seed " << seed << " exit " << exit.index;

            ASSERT_EQ(exit.line != Exit::kOtherLines, expected.times_by_line.size() <= 2 && line_bits <= 6);
            if (exit.line == Exit::kOtherLines) continue;
            std::map<Address, int> times_by_line{{static_cast<Address>(exit.line), exit.instructions_in_line[0]}};
            times_by_line[static_cast<Address>(exit.second_line())] += exit.instructions_in_line[1];
            ASSERT_EQ(times_by_line, expected.times_by_line) << "seed " << seed << " exit " << exit.index;
            std::size_t bytes = 0;
            for (const auto& [byte, times] : expected.times_by_byte) {
                const bool is_second = byte >> line_bits != static_cast<Address>(exit.line);
                ASSERT_TRUE(exit.bytes[is_second ? 1 : 0] >> (byte & ((1u << line_bits) - 1)) & 1);
                ++bytes;
            }
            ASSERT_EQ(bytes, static_cast<std::size_t>(__builtin_popcountll(exit.bytes[0]) +
                                                      __builtin_popcountll(exit.bytes[1])));
        }
    }
}

class BlockTableTest : public testing::Test {
protected:
    Program program_;
    const Function& f_ = program_.function("f");
    const Function& g_ = program_.function("g");

    Code some_code() { return program_.code(f_, 0x1000).op(4, 10).reads(8).op(4, 11); }
    Block& known_ = some_code().ends(JumpKind::kCall);
};

TEST_F(BlockTableTest, TheSameCodeIsTheSameBlock) {
    EXPECT_EQ(&some_code().ends(JumpKind::kCall), &known_);
    EXPECT_EQ(program_.blocks.blocks().size(), 1u);
}

TEST_F(BlockTableTest, WhatDiffersInAnythingIsAnotherBlock) {
    const SourceFile& other_file = program_.symbols.file("other.c");
    const std::vector<Block*> others{
        &some_code().ends(JumpKind::kJump),
        &some_code().ends(JumpKind::kCall, Branch::kIndirect),
        &some_code().may_exit().ends(JumpKind::kCall),
        &some_code().op().ends(JumpKind::kCall),
        &some_code().reads(1).ends(JumpKind::kCall),
        &program_.code(f_, 0x1004).op(4, 10).reads(8).op(4, 11).ends(JumpKind::kCall),
        &program_.code(g_, 0x1000).op(4, 10).reads(8).op(4, 11).ends(JumpKind::kCall),
        &program_.entry(f_, 0x1000).op(4, 10).reads(8).op(4, 11).ends(JumpKind::kCall),
        &program_.code(f_, 0x1000, 1).op(4, 10).reads(8).op(4, 11).ends(JumpKind::kCall),
        &program_.code(f_, 0x1000, 0, 0x100).op(4, 10).reads(8).op(4, 11).ends(JumpKind::kCall),
        &program_.code(f_, 0x1000).op(4, 10).writes(8).op(4, 11).ends(JumpKind::kCall),
        &program_.code(f_, 0x1000).op(4, 10).modifies(8).op(4, 11).ends(JumpKind::kCall),
        &program_.code(f_, 0x1000).op(4, 10).may_read(8).op(4, 11).ends(JumpKind::kCall),
        &some_code().joins(8, AccessKind::kRead, 8).ends(JumpKind::kCall),
        &some_code().joins(8, AccessKind::kRead, 16).ends(JumpKind::kCall),
        &program_.code(f_, 0x1000).op(4, 10).reads(4).op(4, 11).ends(JumpKind::kCall),
        &program_.code(f_, 0x1000).op(4, 10).op(4, 11).reads(8).ends(JumpKind::kCall),
        &program_.code(f_, 0x1000).op(4, 10).reads(8).op(4, 12).ends(JumpKind::kCall),
        &program_.code(f_, 0x1000).op(4, 10).reads(8).op(5, 11).ends(JumpKind::kCall),
        &program_.code(f_, 0x1000).op(3, 10).reads(8).op(5, 11).ends(JumpKind::kCall),
        &program_.code(f_, 0x1000).op(4, 10).reads(8).in(other_file).op(4, 11).ends(JumpKind::kCall),
    };
    const std::set<Block*> distinct(others.begin(), others.end());
    EXPECT_EQ(distinct.size(), others.size());
    EXPECT_FALSE(distinct.contains(&known_));
    EXPECT_EQ(program_.blocks.blocks().size(), others.size() + 1);
    EXPECT_EQ(&some_code().ends(JumpKind::kCall), &known_);
}

// Their second instructions begin and end at the same addresses.
TEST_F(BlockTableTest, BlocksWhoseInstructionsDifferInSizeOnlyDiffer) {
    const auto block = [this](std::uint32_t size) {
        BlockBuilder builder;
        builder.start(0x4000, f_, 0, 0, false);
        builder.add_instruction(0x4000, size, *f_.file, 1);
        builder.add_instruction(0x4004, 4, *f_.file, 1);
        builder.add_exit(JumpKind::kJump);
        return &program_.blocks.add(builder);
    };
    EXPECT_NE(block(3), block(4));
}

TEST_F(BlockTableTest, WhatABlockHasIsAligned) {
    const auto is_aligned = [](const auto* first) {
        return reinterpret_cast<std::uintptr_t>(first) % alignof(decltype(*first)) == 0;
    };
    // One to three of each, so that one has an odd number of words before it.
    for (unsigned count = 1; count <= 3; ++count) {
        Code code = program_.code(f_, 0x8000 + 0x100 * count);
        for (unsigned i = 0; i < count; ++i) code.op().reads(8);
        const Block& block = code.ends();
        EXPECT_TRUE(is_aligned(block.exits_) && is_aligned(block.instructions_) && is_aligned(block.accesses_) &&
                    is_aligned(block.groups_) && is_aligned(block.fetches_))
            << count;
    }
}

TEST_F(BlockTableTest, IdsAreDense) {
    for (Address address = 0x2000; address < 0x3000; address += 16) program_.code(f_, address).op().ends();
    const auto blocks = program_.blocks.blocks();
    ASSERT_EQ(blocks.size(), 257u);
    for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_EQ(blocks[i]->id, i);
}

// I1 and D1 may be ahead on another processor.
TEST_F(BlockTableTest, WhatTheReplayCountsAndWhatRunsAheadAreInDifferentLinesOfTheHost) {
    if (sizeof(void*) == 4) GTEST_SKIP() << "no package helps: exits are smaller with 32 bits";
    constexpr std::uintptr_t kLine = 64;
    const auto line_of = [](const auto& member) { return reinterpret_cast<std::uintptr_t>(&member) / kLine; };
    Block& block = program_.code(f_, 0x7000).op().reads(8).may_exit().op().ends();
    for (const TracedExit& exit : block.exits()) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&exit) % kLine, 0u);
        for (const auto line : {line_of(exit.instructions), line_of(exit.blocks), line_of(exit.continuation_expected),
                                line_of(exit.may_skip_access), line_of(exit.fast_path_context), line_of(exit.cost)}) {
            EXPECT_EQ(line, line_of(exit.taken));
        }
        for (const auto line : {line_of(exit.first_group), line_of(exit.block), line_of(exit.bytes[1]),
                                line_of(exit.instructions_in_line[1]), line_of(exit.epoch), line_of(exit.latest)}) {
            EXPECT_EQ(line, line_of(exit.groups));
        }
        EXPECT_NE(line_of(exit.taken), line_of(exit.groups));
    }
}

TEST_F(BlockTableTest, SectionsOfDifferentObjectsDiffer) {
    const Function& in_lib = program_.function("h", "lib.c", "lib.so");
    EXPECT_EQ(program_.code(f_, 0x5000).op().ends().section, program_.code(g_, 0x5100).op().ends().section);
    EXPECT_NE(program_.code(f_, 0x5000, 1).op().ends().section,
              program_.code(f_, 0x5000).op().ends().section);
    EXPECT_NE(program_.code(in_lib, 0x6000).op().ends().section,
              program_.code(f_, 0x5000).op().ends().section);
    EXPECT_NE(program_.code(in_lib, 0x6000).op().ends().section,
              program_.code(f_, 0x5000, 15).op().ends().section);
}

}  // namespace
}  // namespace bd
