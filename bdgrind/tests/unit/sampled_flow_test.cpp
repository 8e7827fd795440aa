// SPDX-License-Identifier: GPL-2.0-or-later

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "program.h"
#include "sampled_flow_fixture.h"

namespace bd::test {
namespace {

class SampledFlowTest : public SampledFlowFixture {
protected:
    const Block& innermost() const { return flow.header(flow.loops().back().loop); }

    Block& before = program.entry(f, 0x1000).op().ends();
    Block& outer = program.code(f, 0x1004).op().ends();
    Block& inner = program.code(f, 0x1008).op().op().ends();
    Block& latch = program.code(f, 0x1010).op().ends();
    Block& behind = program.code(f, 0x1014).op().ends();
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

// A block behind the code of its loop, which jumps back into the middle of it.
TEST_F(SampledFlowTest, ABlockOutOfLineBelongsToItsLoop) {
    Block& tests = program.code(f, 0x1008).op().may_exit().ends();
    Block& goes_on = program.code(f, 0x100c).op().op().ends();
    Block& cold = program.code(f, 0x1100).op().ends();
    run(before);
    run(tests);
    run(goes_on);
    EXPECT_EQ(run(tests), 1u);
    const std::uint32_t number = flow.loops()[0].run;
    const auto is_in_loop = [&] { return flow.loops().size() == 1 && flow.loops()[0].run == number; };
    run(cold);
    EXPECT_EQ(run(goes_on), 1u);
    EXPECT_TRUE(is_in_loop());
    for (int i = 0; i < 3; ++i) {
        run(tests);
        EXPECT_TRUE(is_in_loop());
        run(cold);
        EXPECT_TRUE(is_in_loop());
        run(goes_on);
        EXPECT_TRUE(is_in_loop());
        EXPECT_EQ(&innermost(), &tests);
    }
    EXPECT_EQ(run(behind), 0u);
}

TEST_F(SampledFlowTest, ABlockOutOfLineMayRepeatTheLoop) {
    Block& cold = program.code(f, 0x1100).op().ends();
    Block& other = program.code(f, 0x1020).op().ends();
    run(before);
    run(inner);
    run(inner);
    const std::uint32_t number = flow.loops()[0].run;
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(run(cold), i == 0 ? 0u : 1u);
        EXPECT_EQ(run(inner), 1u);
        EXPECT_EQ(flow.loops()[0].run, number);
    }
    EXPECT_EQ(run(behind), 0u);
    // What lies between them is not in it.
    run(other);
    EXPECT_EQ(run(other), 1u);
    EXPECT_EQ(&innermost(), &other);
}

TEST_F(SampledFlowTest, CodeOfAnotherFunctionThatIsJumpedToIsOutOfLine) {
    Block& tests = program.code(f, 0x1008).op().ends();
    Block& goes_on = program.code(f, 0x100c).op().op().ends();
    Block& cold = program.entry(program.function("f.cold"), 0x800).op().ends();
    run(before);
    for (int i = 0; i < 2; ++i) {
        run(tests);
        run(goes_on);
    }
    EXPECT_EQ(run(tests), 1u);
    const std::uint32_t number = flow.loops()[0].run;
    for (int i = 0; i < 2; ++i) {
        run(cold);
        EXPECT_EQ(run(goes_on), 1u);
        EXPECT_EQ(run(tests), 1u);
        EXPECT_EQ(flow.loops()[0].run, number);
    }
}

TEST_F(SampledFlowTest, CodeOutOfLineMayCall) {
    Block& tests = program.code(f, 0x1008).op().ends();
    Block& goes_on = program.code(f, 0x100c).op().op().ends();
    Block& cold = program.code(f, 0x1100).op().ends(JumpKind::kCall);
    Block& callee = program.entry(g, 0x2000).op().ends(JumpKind::kReturn);
    Block& returned = program.code(f, 0x1104).op().ends();
    run(before);
    run(tests);
    run(goes_on);
    EXPECT_EQ(run(tests), 1u);
    const std::uint32_t number = flow.loops()[0].run;
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(run(cold), i);
        EXPECT_EQ(run(callee, kTop - 8), i);
        EXPECT_EQ(run(returned), i);
        EXPECT_EQ(run(goes_on), 1u);
        EXPECT_EQ(run(tests), 1u);
        EXPECT_EQ(flow.loops()[0].run, number);
    }
}

// A loop that is entered at the test at its end, and goes on from a block behind that.
TEST_F(SampledFlowTest, ABlockOutOfLineOfALoopThatIsEnteredAtItsEnd) {
    Block& body = program.code(f, 0x1020).op().op().ends();
    Block& middle = program.code(f, 0x1024).op().ends();
    Block& test = program.code(f, 0x1028).op().ends();
    Block& cold = program.code(f, 0x1030).op().ends();
    for (int i = 0; i < 3; ++i) {
        run(before);
        run(test);
        run(body);
        run(test);
        run(body);
        const std::uint32_t number = flow.loops().back().run;
        for (int j = 0; j < 3; ++j) {
            run(test);
            run(cold);
            run(middle);
            EXPECT_EQ(flow.loops().back().run, number);
            run(test);
            run(body);
            EXPECT_EQ(flow.loops().back().run, number);
        }
        run(test);
    }
}

// A loop whose first part is a loop: both have the same header, and are one.
TEST_F(SampledFlowTest, LoopsWithTheSameHeaderAreOne) {
    run(before);
    run(inner);
    run(inner);
    const std::uint32_t number = flow.loops().back().run;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(run(latch), i == 0 ? 0u : 1u);
        for (int j = 0; j < 2; ++j) {
            EXPECT_EQ(run(inner), 1u);
            EXPECT_EQ(flow.loops().back().run, number);
        }
    }
    EXPECT_EQ(run(behind), 0u);
}

// The same with an inner loop that is entered at the test at its end: the outer loop begins with that test.
TEST_F(SampledFlowTest, ALoopThatBeginsWithTheTestOfAnInnerLoopIsOneWithIt) {
    Block& body = program.code(f, 0x1020).op().ends();
    Block& test = program.code(f, 0x1024).op().ends();
    Block& other = program.code(f, 0x1028).op().ends();  // a loop that ends the first one
    Block& outer_latch = program.code(f, 0x102c).op().ends();
    const auto round = [&] {
        run(test);
        run(body);
        run(test);
        run(body);
        run(test);
        run(other);
        run(other);
        run(outer_latch);
    };
    run(before);
    for (int i = 0; i < 3; ++i) round();
    run(test);
    EXPECT_EQ(run(body), 1u);
    EXPECT_EQ(&innermost(), &body);
    const std::uint32_t number = flow.loops().back().run;
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(run(test), 1u);
        EXPECT_EQ(run(other), 2u);
        EXPECT_EQ(&innermost(), &other);
        EXPECT_EQ(run(outer_latch), 1u);
        EXPECT_EQ(run(test), 1u);
        EXPECT_EQ(run(body), 1u);
        EXPECT_EQ(flow.loops().back().run, number);
    }
}

// A loop that is entered at the test at its end. A block behind that jumps to the header of an inner loop, past the
// code before it: another run of the inner loop, and not another round.
TEST_F(SampledFlowTest, AnOuterLoopMayGoOnAtTheHeaderOfAnInnerLoop) {
    Block& body = program.code(f, 0x1020).op().ends();
    Block& loops = program.code(f, 0x1024).op().ends();
    Block& test = program.code(f, 0x1028).op().ends();
    Block& cold = program.code(f, 0x1100).op().ends();
    run(before);
    for (int i = 0; i < 3; ++i) {
        run(test);
        run(body);
        run(loops);
        run(loops);
    }
    EXPECT_EQ(run(test), 1u);
    const std::uint32_t outer_run = flow.loops()[0].run;
    std::uint32_t number = 0;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(run(cold), i == 0 ? 0u : 1u);
        EXPECT_EQ(run(loops), 2u);
        EXPECT_EQ(flow.loops()[0].run, outer_run);
        EXPECT_NE(flow.loops()[1].run, number);
        number = flow.loops()[1].run;
        EXPECT_EQ(run(loops), 2u);
        EXPECT_EQ(flow.loops()[1].run, number);
        EXPECT_EQ(run(test), 1u);
    }
}

// Loops as compilers lay them out: some of their blocks lie behind all others, and jump back to where they belong; some
// loops are entered at their last block, which may go on with such a block instead of the first one; and some loops
// begin with a loop, which is one with them.
class RandomLoops {
public:
    RandomLoops(Program& program, Function& function, std::uint64_t seed)
        : program_(program), function_(function), random_(seed) {
        main_ = make_loop(0);
        lay_out(main_);
        for (std::vector<Item>* const items : cold_) {
            for (Item& item : *items) place(item);
        }
    }

    // Runs it: calls `at` for each block, with the runs of the loops that it is in, as numbers. What lies behind the
    // others is executed only once all loops have been repeated without it.
    template <class At>
    void run(At at) {
        std::vector<std::uint32_t> runs = {1};  // of the loop around that repeats it
        execute(main_, runs, at);
        is_first_ = false;
    }

private:
    struct Item;
    struct Loop {
        std::vector<Item> items;
        bool is_entered_at_end = false;
    };
    struct Item {
        const Block* block = nullptr;  // straight code, or null
        Loop inner;
        std::vector<Item> cold;  // behind a block: executed now and then
        bool continues = false;  // from there to the next round
    };

    std::size_t choose(std::size_t count) { return random_() % count; }

    Loop make_loop(int depth) {
        Loop loop;
        loop.is_entered_at_end = depth > 0 && choose(3) == 0;
        const std::size_t count = 2 + choose(3);
        for (std::size_t i = 0; i < count; ++i) {
            Item& item = loop.items.emplace_back();
            const bool is_last = i + 1 == count;
            // A loop that is entered at its end begins with a block of its own.
            const bool is_own_block = i == 0 && loop.is_entered_at_end;
            if (!is_last && !is_own_block && depth < 2 && choose(2) == 0) {
                item.inner = make_loop(depth + 1);
            } else if (choose(2) == 0) {
                item.cold.resize(1 + choose(2));
                // Not in loops that are entered at their end: four of a thousand functions would be followed wrongly.
                item.continues = !loop.is_entered_at_end && choose(3) == 0;
            }
        }
        return loop;
    }
    void lay_out(Loop& loop) {
        for (Item& item : loop.items) {
            if (!item.inner.items.empty()) {
                lay_out(item.inner);
            } else {
                place(item);
                if (!item.cold.empty()) cold_.push_back(&item.cold);
            }
        }
    }
    void place(Item& item) {
        item.block = &program_.code(function_, next_).op().ends();
        next_ += 4;
    }

    template <class At>
    void execute(const Loop& loop, std::vector<std::uint32_t>& runs, At& at) {
        if (loop.is_entered_at_end) at(*loop.items.back().block, runs);
        runs.push_back(++latest_);
        execute_rounds(loop, false, runs, at);
        runs.pop_back();
    }
    // A loop with which the outer one begins. If it is entered at its end, the outer one is known to begin behind that.
    template <class At>
    void execute_first(const Loop& loop, bool has_begun, std::vector<std::uint32_t>& runs, At& at) {
        if (loop.is_entered_at_end) {
            const std::uint32_t run = runs.back();
            if (!has_begun) runs.pop_back();
            at(*loop.items.back().block, runs);
            if (!has_begun) runs.push_back(run);
        }
        execute_rounds(loop, has_begun, runs, at);
    }
    template <class At>
    void execute_rounds(const Loop& loop, bool has_begun, std::vector<std::uint32_t>& runs, At& at) {
        bool goes_elsewhere = false;
        for (std::size_t rounds = is_first_ ? 2 : 1 + choose(5); rounds != 0; --rounds) {
            for (std::size_t i = goes_elsewhere ? 1 : 0; i != loop.items.size(); ++i) {
                const bool is_end = loop.is_entered_at_end && i + 1 == loop.items.size();
                if (is_end && rounds == 1) {
                    at(*loop.items[i].block, runs);
                    break;
                }
                bool goes_on = true;
                if (loop.items[i].block != nullptr) {
                    goes_on = execute_block(loop.items[i], runs, at);
                } else if (i == 0) {
                    execute_first(loop.items[i].inner, has_begun, runs, at);
                } else {
                    execute(loop.items[i].inner, runs, at);
                }
                has_begun = true;
                goes_elsewhere = !goes_on && is_end;
                if (!goes_on && loop.items[i].continues) break;
            }
        }
    }
    // False if it was followed by code that lies elsewhere.
    template <class At>
    bool execute_block(const Item& item, std::vector<std::uint32_t>& runs, At& at) {
        at(*item.block, runs);
        if (item.cold.empty() || is_first_ || choose(3) != 0) return true;
        for (const Item& cold : item.cold) at(*cold.block, runs);
        return false;
    }

    Program& program_;
    Function& function_;
    std::mt19937_64 random_;
    Address next_ = 0x10000;
    std::uint32_t latest_ = 1;
    Loop main_;
    std::vector<std::vector<Item>*> cold_;
    bool is_first_ = true;
};

TEST(SampledFlowRandomTest, KnowsTheLoopsOfGeneratedCode) {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE(seed);
        Program program;
        Function& f = program.function("f");
        RandomLoops loops(program, f, seed);
        SampledFlow flow;
        flow.start_piece();
        bool is_known = false;  // once it has run for a while
        std::map<std::uint32_t, std::uint32_t> same_run;
        std::size_t differ = 0;
        const auto at = [&](const Block& block, const std::vector<std::uint32_t>& runs) {
            flow.enter(block, SampledFlowFixture::kTop);
            flow.leave(block.exits().back());
            if (!is_known) return;
            if (flow.loops().size() != runs.size()) {
                ++differ;
                return;
            }
            for (std::size_t i = 0; i < runs.size(); ++i) {
                const auto [found, is_new] = same_run.try_emplace(runs[i], flow.loops()[i].run);
                if (found->second != flow.loops()[i].run) ++differ;
            }
        };
        Block& begins = program.entry(f, 0x8000).op().ends();
        for (int i = 0; i < 60; ++i) {
            if (i == 50) is_known = true;
            flow.enter(begins, SampledFlowFixture::kTop);
            flow.leave(begins.exits().back());
            loops.run(at);
        }
        EXPECT_EQ(differ, 0u);
    }
}

}  // namespace
}  // namespace bd::test
