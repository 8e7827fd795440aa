// SPDX-License-Identifier: GPL-2.0-or-later
//
// Short traces: which branches are seen, how they went, and who is charged.

#include "engine/replay/branch_observer.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "program.h"

namespace bd {
namespace {

using test::Program;
using test::Trace;
using enum JumpKind;

// Bc, Bcm, Bi, Bim.
using Branches = std::vector<std::uint64_t>;

class BranchObserverTest : public testing::TestWithParam<bool> {
protected:
    void replay(EngineConfig config = {}) {
        config.caches = {.i1 = {4096, 1, 64}, .d1 = {4096, 1, 64}, .ll = {65536, 4, 64}};
        config.cache_sim = GetParam();
        config.branch_sim = true;
        engine_ = std::make_unique<Engine>(config);
        engine_->replay_whole(trace_.all());
        engine_->finish();
    }

    static Branches branches_of(ConstCosts costs) {
        const auto first = costs.subspan(column(Event::kBc), 4);
        return {first.begin(), first.end()};
    }

    // Self costs.
    Branches self(Block& block, std::size_t instruction) const {
        std::vector<std::uint64_t> sum(engine_->events().width());
        for (const BlockCost* cost : engine_->blocks().all()) {
            const CostId id = cost->block == &block ? cost->instructions[instruction] : kNoCost;
            if (id != kNoCost) add(sum, engine_->costs()[id]);
        }
        return branches_of(sum);
    }
    // Inclusive costs of the only call.
    Branches below() const {
        EXPECT_EQ(engine_->arcs().size(), 1u);
        return branches_of(engine_->arcs().costs(ArcId{1}));
    }

    Program program_;
    const Function& main_ = program_.function("main");
    const Function& f_ = program_.function("f");
    Trace trace_;
    std::unique_ptr<Engine> engine_;
};

INSTANTIATE_TEST_SUITE_P(WithAndWithoutCaches, BranchObserverTest, testing::Bool());

// Three branches; the block is left at none, at the first, and at the last of them.
TEST_P(BranchObserverTest, ABranchIsExecutedWhereItsExitIsReachedAndTakenWhereItIsTheWayOut) {
    Block& block = program_.code(main_, 0x1000)
                             .op().may_exit(kJump, Branch::kTaken)
                             .op().may_exit(kJump, Branch::kNone)
                             .op().may_exit(kJump, Branch::kTaken)
                             .ends();
    trace_.thread(1).run(block, 1000).run_to(block, 0, 1000, {}).run_to(block, 2, 1000, {});
    replay();
    // Nothing is predicted to be taken yet, so what is taken is mispredicted.
    EXPECT_EQ(self(block, 0), (Branches{3, 1, 0, 0}));
    EXPECT_EQ(self(block, 1), (Branches{0, 0, 0, 0})) << "an exit that is no branch of the guest's";
    EXPECT_EQ(self(block, 2), (Branches{2, 1, 0, 0}));
}

// VEX may turn a branch around: then the side exit is the way of not taking it.
TEST_P(BranchObserverTest, ABranchTurnedAroundIsTakenWhereItsExitIsNot) {
    Block& block = program_.code(main_, 0x1000).op().may_exit(kJump, Branch::kNotTaken).ends();
    trace_.thread(1).run_to(block, 0, 1000, {}).run_to(block, 0, 1000, {}).run(block, 1000);
    replay();
    EXPECT_EQ(self(block, 0), (Branches{3, 1, 0, 0}));
}

TEST_P(BranchObserverTest, AnIndirectBranchIsKnownWhenTheNextBlockBegins) {
    Block& jumps = program_.code(main_, 0x1000).op().op().ends(kJump, Branch::kIndirect);
    Block& here = program_.code(main_, 0x1100).op().ends();
    Block& there = program_.code(main_, 0x1200).op().ends();
    trace_.thread(1);
    for (Block* target : {&here, &here, &there, &there}) trace_.run(jumps, 1000).run(*target, 1000);
    trace_.run(jumps, 1000);  // to where, is not known
    replay();
    EXPECT_EQ(self(jumps, 1), (Branches{0, 0, 4, 2}));
}

// What comes between in other threads and in signal handlers is not its target.
TEST_P(BranchObserverTest, AnIndirectBranchGoesToTheNextBlockOfItsThread) {
    Block& jumps = program_.code(main_, 0x1000).op().ends(kJump, Branch::kIndirect);
    Block& here = program_.code(main_, 0x1100).op().ends();
    Block& elsewhere = program_.entry(f_, 0x2000).op().ends(kReturn);
    trace_.thread(1);
    trace_.run(jumps, 1000).run(here, 1000);
    trace_.run(jumps, 1000).thread(2).run(elsewhere, 5000).thread(1).run(here, 1000);
    trace_.run(jumps, 1000).mark(Marker::kSignalEnter, 1, 0, 900).run(elsewhere, 800);
    trace_.mark(Marker::kSignalLeave, 1).run(here, 1000);
    replay();
    EXPECT_EQ(self(jumps, 0), (Branches{0, 0, 3, 1}));
}

// An indirect call belongs to the caller, what the callee does to the call.
TEST_P(BranchObserverTest, BranchesAreChargedToTheCallsThatAreOpen) {
    Block& calls = program_.code(main_, 0x1000).op().ends(kCall, Branch::kIndirect);
    Block& goes_on = program_.code(main_, 0x1004).op().may_exit(kJump, Branch::kTaken).ends();
    Block& callee = program_.entry(f_, 0x2000).op().may_exit(kReturn, Branch::kTaken).op().ends(kReturn);
    trace_.thread(1);
    trace_.run(calls, 1000).run(callee, 992).run(goes_on, 1000);
    trace_.run(calls, 1000).run_to(callee, 0, 992, {}).run(goes_on, 1000);
    replay();
    EXPECT_EQ(self(calls, 0), (Branches{0, 0, 2, 1}));
    EXPECT_EQ(self(callee, 0), (Branches{2, 1, 0, 0}));
    EXPECT_EQ(self(goes_on, 0), (Branches{2, 0, 0, 0}));
    EXPECT_EQ(below(), (Branches{2, 1, 0, 0}));
}

// The predictors learn all the time, as caches are filled all the time.
TEST_P(BranchObserverTest, WhileNothingIsCollectedBranchesAreLearntButNotCharged) {
    Block& jumps = program_.code(main_, 0x1000).op().ends(kJump, Branch::kIndirect);
    Block& here = program_.code(main_, 0x1100).op().may_exit(kJump, Branch::kTaken).ends();
    trace_.thread(1).collect(false);
    trace_.run(jumps, 1000).run(here, 1000).collect(true).run(jumps, 1000).run(here, 1000);
    replay();
    EXPECT_EQ(self(jumps, 0), (Branches{0, 0, 1, 0}));
    EXPECT_EQ(self(here, 0), (Branches{1, 0, 0, 0}));
}

TEST_P(BranchObserverTest, BranchesOfASkippedFunctionAreChargedToItsCall) {
    Function& skipped = program_.function("skipped");
    skipped.skipped = true;
    Block& calls = program_.entry(main_, 0x1000).op().ends(kCall);
    Block& goes_on = program_.code(main_, 0x1004).op().ends();
    Block& stub =
        program_.entry(skipped, 0x3000).op().may_exit(kJump, Branch::kTaken).ends(kJump, Branch::kIndirect);
    Block& callee = program_.entry(f_, 0x2000).op().ends(kReturn);
    trace_.thread(1).run(calls, 1000).run(stub, 992).run(callee, 992).run(goes_on, 1000);
    replay();
    EXPECT_EQ(self(calls, 0), (Branches{1, 0, 1, 1}));
    EXPECT_EQ(self(stub, 0), (Branches{0, 0, 0, 0}));
    EXPECT_EQ(below(), (Branches{0, 0, 0, 0}));
}

}  // namespace
}  // namespace bd
