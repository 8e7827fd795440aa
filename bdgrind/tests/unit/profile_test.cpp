// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/profile.h"

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "program.h"

namespace bd {
namespace {

using test::Program;
using test::Trace;
using enum JumpKind;

// Without caches: every row has the columns Ir Dr Dw.
class ProfileTest : public testing::Test {
protected:
    void replay() {
        engine_.replay(trace_.all());
        engine_.finish();
    }

    // The whole profile as lines: "object file function", "  file:line address: costs" and
    // "  file:line address -> function file:line address, calls: costs".
    std::vector<std::string> text(PositionKinds kinds) const {
        const Profile profile(engine_, kinds);
        std::vector<std::string> lines;
        FunctionProfile function;
        for (std::size_t i = 0; i < profile.function_count(); ++i) {
            profile.collect(i, &function);
            const Function& name = function.context->function();
            lines.push_back(std::string(name.object->name) + ' ' + name.file->name + ' ' + name.name);
            for (const CostRow& row : function.rows) {
                lines.push_back("  " + text(row.position) + text(function.costs(row)));
            }
            for (const CallRow& call : function.calls) {
                lines.push_back("  " + text(call.position) + " -> " + call.callee->function().name + ' ' +
                                text(call.target) + ", " + std::to_string(call.calls) +
                                text(function.costs(call)));
            }
            for (const JumpRow& jump : function.jumps) {
                lines.push_back("  " + text(jump.position) + " jumps to " + text(jump.target) + ": " +
                                std::to_string(jump.followed) +
                                (jump.conditional ? " of " + std::to_string(jump.executed) : ""));
            }
        }
        return lines;
    }
    using Lines = std::vector<std::string>;

    static std::string text(const Position& position) {
        std::ostringstream text;
        text << position.file->name << ':' << position.line;
        if (position.address != 0) text << " 0x" << std::hex << position.address;
        return text.str();
    }
    static std::string text(ConstCosts costs) {
        std::string text = ":";
        for (const std::uint64_t cost : costs) text += ' ' + std::to_string(cost);
        return text;
    }

    static constexpr PositionKinds kLines{.lines = true, .instructions = false};
    static constexpr PositionKinds kInstructions{.lines = false, .instructions = true};
    static constexpr PositionKinds kBoth{.lines = true, .instructions = true};

    Program program_;
    Function& main_ = program_.function("main");
    Function& f_ = program_.function("f");
    Trace trace_;
    Engine engine_;

    explicit ProfileTest(bool collect_jumps = false)
        : engine_({.caches = {{1024, 1, 64}, {1024, 1, 64}, {1024, 1, 64}},
                   .cache_sim = false,
                   .collect_jumps = collect_jumps}) {}
};

TEST_F(ProfileTest, CostsOfALineAddUp) {
    // Instructions of lines 10 and 11 in turn, and another block of line 11.
    Block& block =
        program_.code(main_, 0x1000).op(4, 10).reads(8).op(4, 11).op(4, 10).writes(8).ends();
    Block& other = program_.code(main_, 0x1100).op(4, 11).reads(8).reads(8).ends();
    trace_.thread(1)
        .run(block, 1000, {0x100, 0x100})
        .run(block, 1000, {0x100, 0x100})
        .run(other, 1000, {0x100, 0x100});
    replay();
    EXPECT_EQ(text(kLines), (Lines{"prog prog.c main", "  prog.c:10: 4 2 2", "  prog.c:11: 3 2 0"}));
}

TEST_F(ProfileTest, RowsAreThePositionsAskedFor) {
    Block& block = program_.entry(main_, 0x1000).op(4, 11).op(4, 10).reads(8).op(4, 11).ends();
    trace_.thread(1).run(block, 1000, {0x100});
    replay();
    EXPECT_EQ(text(kInstructions), (Lines{"prog prog.c main", "  prog.c:0 0x1000: 1 0 0",
                                          "  prog.c:0 0x1004: 1 1 0", "  prog.c:0 0x1008: 1 0 0"}));
    EXPECT_EQ(text(kBoth), (Lines{"prog prog.c main", "  prog.c:10 0x1004: 1 1 0",
                                  "  prog.c:11 0x1000: 1 0 0", "  prog.c:11 0x1008: 1 0 0"}));
}

TEST_F(ProfileTest, TheSameInstructionInSeveralBlocksIsOneRow) {
    Block& block = program_.code(main_, 0x1000).op(4, 10).op(4, 10).ends();
    Block& its_end = program_.code(main_, 0x1004).op(4, 10).ends();
    trace_.thread(1).run(block, 1000).run(its_end, 1000).run(its_end, 1000);
    replay();
    EXPECT_EQ(text(kInstructions),
              (Lines{"prog prog.c main", "  prog.c:0 0x1000: 1 0 0", "  prog.c:0 0x1004: 3 0 0"}));
}

TEST_F(ProfileTest, AddressesAreThoseInTheObjectFile) {
    const Function& g = program_.function("g", "lib.c", "lib.so");
    Block& block = program_.entry(g, 0x7f0000001000, 0, 0x7f0000000000).op(4, 10).ends();
    trace_.thread(1).run(block, 1000);
    replay();
    EXPECT_EQ(text(kInstructions), (Lines{"lib.so lib.c g", "  lib.c:0 0x1000: 1 0 0"}));
}

TEST_F(ProfileTest, InlinedCodeKeepsItsOwnFileWithinTheFunction) {
    const SourceFile& header = program_.symbols.file("inline.h");
    Block& block = program_.entry(main_, 0x1000)
                             .op(4, 10)
                             .in(header)
                             .op(4, 10)
                             .reads(8)
                             .in(*main_.file)
                             .op(4, 12)
                             .ends();
    trace_.thread(1).run(block, 1000, {0x100});
    replay();
    EXPECT_EQ(text(kLines), (Lines{"prog prog.c main", "  inline.h:10: 1 1 0", "  prog.c:10: 1 0 0",
                                   "  prog.c:12: 1 0 0"}));
}

TEST_F(ProfileTest, OnlyWhatWasExecutedHasARow) {
    Block& block = program_.entry(main_, 0x1000).op(4, 10).may_exit().op(4, 11).ends();
    trace_.thread(1).run_to(block, 0, 1000, {});
    replay();
    EXPECT_EQ(text(kLines), (Lines{"prog prog.c main", "  prog.c:10: 1 0 0"}));
}

TEST_F(ProfileTest, AGuardedAccessThatNeverHappenedLeavesNoTrace) {
    Block& block = program_.code(main_, 0x1000).op(4, 10).may_read(8).ends();
    trace_.thread(1).run(block, 1000, {0}).run(block, 1000, {0});
    replay();
    EXPECT_EQ(text(kLines), (Lines{"prog prog.c main", "  prog.c:10: 2 0 0"}));
}

TEST_F(ProfileTest, FunctionsAreSortedByObjectFileAndName) {
    // Made in another order.
    const Function* functions[] = {
        &program_.function("b", "b.c", "prog"), &program_.function("z", "a.c", "prog"),
        &program_.function("a", "b.c", "prog"), &program_.function("y", "y.c", "lib.so"),
        &program_.function("a", "a.c", "prog")};
    trace_.thread(1);
    Address address = 0x10000;
    for (const Function* function : functions) {
        trace_.run(program_.code(*function, address += 0x1000).op().ends(kReturn), 1000);
    }
    replay();
    EXPECT_EQ(text(kLines),
              (Lines{"lib.so y.c y", "  y.c:1: 1 0 0", "prog a.c a", "  a.c:1: 1 0 0", "prog a.c z",
                     "  a.c:1: 1 0 0", "prog b.c a", "  b.c:1: 1 0 0", "prog b.c b", "  b.c:1: 1 0 0"}));
}

TEST_F(ProfileTest, CallsAreSortedByPositionAndCalleeAndAddUp) {
    const Function& g = program_.function("g", "lib.c", "lib.so");
    Block& late = program_.code(main_, 0x1000).op(4, 20).ends(kCall);
    Block& early = program_.code(main_, 0x1100).op(4, 10).ends(kCall);
    Block& early_again = program_.code(main_, 0x1200).op(4, 10).ends(kCall);
    Block& f = program_.entry(f_, 0x2000).op(4, 50).ends(kReturn);
    Block& in_g = program_.entry(g, 0x3000).op(4, 70).op(4, 71).ends(kReturn);
    trace_.thread(1);
    trace_.run(late, 1000).run(f, 992).run(early, 1000).run(f, 992);
    trace_.run(early_again, 1000).run(f, 992).run(early, 1000).run(in_g, 992);
    replay();
    // Both call sites of line 10 are one row in a profile of lines, and two in one of instructions.
    EXPECT_EQ(text(kLines),
              (Lines{"lib.so lib.c g", "  lib.c:70: 1 0 0", "  lib.c:71: 1 0 0",  //
                     "prog prog.c f", "  prog.c:50: 3 0 0",                       //
                     "prog prog.c main", "  prog.c:10: 3 0 0", "  prog.c:20: 1 0 0",
                     "  prog.c:10 -> g lib.c:70, 1: 2 0 0", "  prog.c:10 -> f prog.c:50, 2: 2 0 0",
                     "  prog.c:20 -> f prog.c:50, 1: 1 0 0"}));
    const Lines instructions = text(kInstructions);
    EXPECT_EQ(Lines(instructions.end() - 4, instructions.end()),
              (Lines{"  prog.c:0 0x1000 -> f prog.c:0 0x2000, 1: 1 0 0",
                     "  prog.c:0 0x1100 -> g lib.c:0 0x3000, 1: 2 0 0",
                     "  prog.c:0 0x1100 -> f prog.c:0 0x2000, 1: 1 0 0",
                     "  prog.c:0 0x1200 -> f prog.c:0 0x2000, 1: 1 0 0"}));
}

TEST_F(ProfileTest, CallsThatEnterAFunctionAtDifferentAddressesStayApart) {
    Block& calls = program_.code(main_, 0x1000).op(4, 10).ends(kCall);
    Block& f = program_.entry(f_, 0x2000).op(4, 50).ends(kReturn);
    Block& past_its_prologue = program_.code(f_, 0x2008).op(4, 52).ends(kReturn);
    trace_.thread(1).run(calls, 1000).run(past_its_prologue, 992).run(calls, 1000).run(f, 992);
    replay();
    const Lines lines = text(kLines);
    EXPECT_EQ(Lines(lines.end() - 2, lines.end()),
              (Lines{"  prog.c:10 -> f prog.c:50, 1: 1 0 0", "  prog.c:10 -> f prog.c:52, 1: 1 0 0"}));
}

TEST_F(ProfileTest, TheCallingInstructionIsTheLastBeforeTheExit) {
    Block& block =
        program_.code(main_, 0x1000).op(4, 10).may_exit(kCall).op(4, 11).op(4, 12).ends(kCall);
    Block& f = program_.entry(f_, 0x2000).op(4, 50).ends(kReturn);
    trace_.thread(1).run_to(block, 0, 1000, {}).run(f, 992).run(block, 1000).run(f, 992);
    replay();
    const Lines lines = text(kLines);
    EXPECT_EQ(Lines(lines.end() - 2, lines.end()),
              (Lines{"  prog.c:10 -> f prog.c:50, 1: 1 0 0", "  prog.c:12 -> f prog.c:50, 1: 1 0 0"}));
}

TEST_F(ProfileTest, AFunctionThatOnlyCalledIsListed) {
    Block& calls = program_.code(main_, 0x1000).op(4, 10).ends(kCall);
    Block& f = program_.entry(f_, 0x2000).op(4, 50).ends(kReturn);
    trace_.thread(1).collect(false).run(calls, 1000).collect(true).run(f, 992);
    replay();
    EXPECT_EQ(text(kLines), (Lines{"prog prog.c f", "  prog.c:50: 1 0 0",  //
                                   "prog prog.c main", "  prog.c:10 -> f prog.c:50, 1: 1 0 0"}));
}

TEST_F(ProfileTest, TotalsAreTheSumOfAllRows) {
    Block& block = program_.code(main_, 0x1000).op().reads(8).may_exit().op().may_write(8).ends(kCall);
    Block& f = program_.entry(f_, 0x2000).op().modifies(4).ends(kReturn);
    trace_.thread(1).run(block, 1000, {0x100, 0}).run(f, 992, {0x100}).run_to(block, 0, 1000, {0x100});
    replay();
    const Profile profile(engine_, kLines);
    EXPECT_EQ(text(profile.totals()), ": 4 2 1");
}

TEST_F(ProfileTest, NothingExecutedIsAnEmptyProfile) {
    replay();
    const Profile profile(engine_, kLines);
    EXPECT_EQ(profile.function_count(), 0u);
    EXPECT_EQ(text(profile.totals()), ": 0 0 0");
}

class JumpProfileTest : public ProfileTest {
protected:
    JumpProfileTest() : ProfileTest(true) {}
};

// The branch at 0x1004 is executed 3 times within the block and twice where that is entered in the middle, and
// followed twice and once: 3 of 5.
TEST_F(JumpProfileTest, AConditionalJumpSaysHowOftenItWasExecuted) {
    const auto code = [&](Address address) { return program_.code(main_, address); };
    Block& whole = code(0x1000).op(4, 10).op(4, 11).may_exit(kJump, Branch::kTaken).op(4, 12).ends();
    Block& its_end = code(0x1004).op(4, 11).may_exit(kJump, Branch::kTaken).op(4, 12).ends();
    Block& target = code(0x1100).op(4, 20).ends();
    trace_.thread(1);
    trace_.run_to(whole, 0, 1000, {}).run(target, 1000);
    trace_.run_to(whole, 0, 1000, {}).run(target, 1000);
    trace_.run(whole, 1000);
    trace_.run_to(its_end, 0, 1000, {}).run(target, 1000);
    trace_.run(its_end, 1000);
    replay();
    EXPECT_EQ(text(kInstructions),
              (Lines{"prog prog.c main", "  prog.c:0 0x1000: 3 0 0", "  prog.c:0 0x1004: 5 0 0",
                     "  prog.c:0 0x1008: 2 0 0", "  prog.c:0 0x1100: 3 0 0",
                     "  prog.c:0 0x1004 jumps to prog.c:0 0x1100: 3 of 5",
                     "  prog.c:0 0x1008 jumps to prog.c:0 0x1004: 1",
                     "  prog.c:0 0x1100 jumps to prog.c:0 0x1000: 2",
                     "  prog.c:0 0x1100 jumps to prog.c:0 0x1004: 1"}));
}

// The jump of a branch that VEX has turned around is made at the block's end. Left at its own exit, it went on.
TEST_F(JumpProfileTest, AConditionalJumpTurnedAroundIsFollowedBehindItsExit) {
    Block& block = program_.code(main_, 0x1000).op(4, 10).may_exit(kJump, Branch::kNotTaken).ends();
    Block& behind = program_.code(main_, 0x1004).op(4, 11).ends();
    trace_.thread(1).run(block, 1000).run(block, 1000).run_to(block, 0, 1000, {}).run(behind, 1000);
    replay();
    EXPECT_EQ(text(kLines), (Lines{"prog prog.c main", "  prog.c:10: 3 0 0", "  prog.c:11: 1 0 0",
                                   "  prog.c:10 jumps to prog.c:10: 2 of 3"}));
}

TEST_F(JumpProfileTest, JumpsOfALineAddUp) {
    // Two branches of line 10 to line 20: followed once and twice, executed 3 and 2 times.
    Block& block = program_.code(main_, 0x1000)
                             .op(4, 10).may_exit(kJump, Branch::kTaken)
                             .op(4, 10).may_exit(kJump, Branch::kTaken)
                             .ends();
    Block& target = program_.code(main_, 0x1100).op(4, 20).ends();
    trace_.thread(1).run_to(block, 0, 1000, {}).run(target, 1000);
    for (int i = 0; i < 2; ++i) trace_.run_to(block, 1, 1000, {}).run(target, 1000);
    replay();
    EXPECT_EQ(text(kLines), (Lines{"prog prog.c main", "  prog.c:10: 5 0 0", "  prog.c:20: 3 0 0",
                                   "  prog.c:10 jumps to prog.c:20: 3 of 5",
                                   "  prog.c:20 jumps to prog.c:10: 2"}));
}

}  // namespace
}  // namespace bd
