// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/sampled_flow.h"

#include <gtest/gtest.h>

#include "program.h"

namespace bd::test {
namespace {

constexpr Address kTop = 0x7000;

class SampledFlowTest : public ::testing::Test {
protected:
    SampledFlowTest() { flow.start_piece(); }

    // Runs a block to its end; returns how many loops were open in it.
    std::size_t run(const Block& block, Address stack_pointer = kTop) {
        flow.enter(block, stack_pointer);
        flow.leave(block.exits().back());
        return flow.loops().size();
    }
    std::size_t run_to(const Block& block, std::size_t exit, Address stack_pointer = kTop) {
        flow.enter(block, stack_pointer);
        flow.leave(block.exits()[exit]);
        return flow.loops().size();
    }
    const Block& innermost() const { return flow.header(flow.loops().back().loop); }

    Program program;
    Function& f = program.function("f");
    Function& g = program.function("g");
    Block& before = program.entry(f, 0x1000).op().ends();
    Block& outer = program.code(f, 0x1004).op().ends();
    Block& inner = program.code(f, 0x1008).op().op().ends();
    Block& latch = program.code(f, 0x1010).op().ends();
    Block& behind = program.code(f, 0x1014).op().ends();
    SampledFlow flow;
};

TEST_F(SampledFlowTest, ALoopIsKnownOnceItWasRepeated) {
    EXPECT_EQ(run(before), 0u);
    EXPECT_EQ(run(inner), 0u);
    EXPECT_EQ(run(inner), 1u);
    EXPECT_EQ(&innermost(), &inner);
    EXPECT_EQ(run(behind), 0u);
    // From then on, from its first round.
    EXPECT_EQ(run(inner), 1u);
}

TEST_F(SampledFlowTest, LoopsNestAndEachRunHasANumber) {
    run(before);
    for (int i = 0; i < 2; ++i) {  // so that both are known
        run(outer);
        run(inner);
        run(inner);
        run(latch);
    }
    EXPECT_EQ(run(outer), 1u);
    const std::uint32_t outer_run = flow.loops()[0].run;
    EXPECT_EQ(run(inner), 2u);
    const std::uint32_t first_run = flow.loops()[1].run;
    EXPECT_EQ(run(inner), 2u);
    EXPECT_EQ(flow.loops()[1].run, first_run);
    EXPECT_EQ(run(latch), 1u);
    EXPECT_EQ(run(outer), 1u);
    EXPECT_EQ(flow.loops()[0].run, outer_run);
    EXPECT_EQ(run(inner), 2u);
    EXPECT_NE(flow.loops()[1].run, first_run);
    EXPECT_EQ(&flow.header(flow.loops()[0].loop), &outer);
    EXPECT_EQ(&innermost(), &inner);
    run(latch);
    EXPECT_EQ(run(behind), 0u);
}

TEST_F(SampledFlowTest, AnInstructionThatRepeatsItselfIsALoop) {
    Block& repeats = program.code(f, 0x1100).op().ends();
    run(before);
    run(repeats);
    EXPECT_EQ(run(repeats), 1u);
}

TEST_F(SampledFlowTest, ACallerStaysInItsLoop) {
    Block& calls = program.code(f, 0x1008, 0).op().ends(JumpKind::kCall);
    Block& callee = program.entry(g, 0x2000).op().ends(JumpKind::kReturn);
    Block& returned = program.code(f, 0x100c).op().ends();
    for (int i = 0; i < 2; ++i) {
        run(calls);
        run(callee, kTop - 8);
        run(returned);
    }
    EXPECT_EQ(run(calls), 1u);
    const std::uint32_t number = flow.loops()[0].run;
    EXPECT_EQ(run(callee, kTop - 8), 1u);
    EXPECT_EQ(flow.loops()[0].run, number);
    EXPECT_EQ(run(returned), 1u);
    EXPECT_EQ(flow.loops()[0].run, number);
}

TEST_F(SampledFlowTest, AReturnEndsTheLoopsOfItsFunction) {
    for (const Address return_bytes : {8, 0}) {  // with the return address on the stack, or in a register
        SCOPED_TRACE(return_bytes);
        Block& calls = program.code(f, 0x1100).op().ends(JumpKind::kCall);
        Block& loops = program.code(g, 0x2000).op().may_exit().op().ends(JumpKind::kReturn);
        Block& returned = program.code(f, 0x1104).op().ends();
        flow.start_piece();
        run(calls);
        run_to(loops, 0, kTop - return_bytes);
        EXPECT_EQ(run(loops, kTop - return_bytes), 1u);
        EXPECT_EQ(run(returned), 0u);
    }
}

TEST_F(SampledFlowTest, AJumpOutOfSeveralCallsEndsTheirLoops) {
    Block& calls = program.code(f, 0x1100).op().ends(JumpKind::kCall);
    Block& loops = program.code(g, 0x2000).op().ends();
    Block& back = program.code(f, 0x1104).op().ends();
    run(calls);
    run(loops, kTop - 8);
    EXPECT_EQ(run(loops, kTop - 8), 1u);
    EXPECT_EQ(run(back), 0u);
}

TEST_F(SampledFlowTest, AJumpBackToAnotherFunctionIsNoLoop) {
    Block& high = program.code(g, 0x3000).op().ends();
    run(high);
    EXPECT_EQ(run(before), 0u);
}

TEST_F(SampledFlowTest, APieceBeginsWithNothing) {
    run(inner);
    EXPECT_EQ(run(inner), 1u);
    const std::uint32_t piece = flow.piece();
    flow.start_piece();
    EXPECT_TRUE(flow.loops().empty());
    EXPECT_NE(flow.piece(), piece);
    EXPECT_EQ(run(before), 0u);
    EXPECT_EQ(run(inner), 1u);  // its header is known
}

}  // namespace
}  // namespace bd::test
