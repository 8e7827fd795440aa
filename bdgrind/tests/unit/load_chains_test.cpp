// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/load_chains.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace bd {
namespace {

constexpr SiteId kA{1};
constexpr SiteId kB{2};
constexpr SiteId kC{3};

// Runs blocks of one or a few accesses, each written down as it is executed.
class LoadChainsTest : public ::testing::Test {
protected:
    LoadChainsTest() { chains.start_piece(); }

    struct Step {
        SiteId site;
        Address address;
        std::vector<Source> from;
        bool reads = true;
        std::vector<Source> stored{};
        bool stores = false;
        bool is_slot = false;
    };
    struct Put {
        unsigned number;
        std::vector<Source> value;
    };

    // Returns what was found of the last access.
    LoadChains::Found run(const std::vector<Step>& steps, const std::vector<Put>& puts = {}) {
        chains.enter_block(steps.size());
        LoadChains::Found found{};
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const Step& step = steps[i];
            found = chains.access(i, {step.from, step.stored, step.is_slot, step.stores}, step.site, &memory[step.site],
                                  step.address, 8, step.reads);
        }
        for (const Put& put : puts) chains.put({put.number, put.value});
        chains.leave_block();
        return found;
    }

    static Source reg(unsigned number) { return Source::of_register(number); }
    static Source load(std::size_t access) { return Source::of_access(access); }
    static void expect(const LoadChains::Found& found, Dependence dependence, SiteId on = kNoSite) {
        EXPECT_EQ(found.dependence, dependence);
        EXPECT_EQ(found.on, on);
    }

    LoadChains chains;
    std::map<SiteId, SiteMemory> memory;
    Address at = 0x10000;
    Address next() { return at += 64; }
};

TEST_F(LoadChainsTest, OfTheFirstExecutionNothingIsKnown) {
    expect(run({{kA, 0x1000, {reg(1)}}}), Dependence::kUnknown);
    expect(run({{kA, 0x1008, {reg(1)}}}), Dependence::kArithmetic);
    chains.start_piece();
    expect(run({{kA, 0x1010, {reg(1)}}}), Dependence::kUnknown);
}

TEST_F(LoadChainsTest, AnIndexOrAPointerThatWasLoadedJustNow) {
    for (int i = 0; i < 3; ++i) {
        const LoadChains::Found index =
            run({{kA, next(), {reg(1)}}, {kB, next(), {reg(2), load(0).scaled()}}}, {{1, {reg(1)}}});
        if (i != 0) expect(index, Dependence::kIndex, kA);
        const LoadChains::Found pointer = run({{kA, next(), {reg(1)}}, {kC, next(), {load(0)}}});
        if (i != 0) expect(pointer, Dependence::kPointer, kA);
    }
}

TEST_F(LoadChainsTest, WhatWasLoadedBeforeTheLatestExecutionIsConstant) {
    run({{kA, 0x1000, {reg(1)}}}, {{2, {load(0)}}});
    run({{kB, 0x2000, {reg(2)}}});
    expect(run({{kB, 0x2008, {reg(2)}}}), Dependence::kArithmetic);
    run({{kA, 0x1008, {reg(1)}}}, {{2, {load(0)}}});
    expect(run({{kB, 0x3000, {reg(2)}}}), Dependence::kPointer, kA);
    expect(run({{kB, 0x3008, {reg(2)}}}), Dependence::kArithmetic);
}

TEST_F(LoadChainsTest, AListIsAChainForAllThatReadsItsNodes) {
    LoadChains::Found value{};
    LoadChains::Found link{};
    for (int i = 0; i < 5; ++i) {
        value = run({{kB, next(), {reg(1)}}});
        link = run({{kA, next(), {reg(1)}}}, {{1, {load(0)}}});
    }
    expect(link, Dependence::kChain, kA);
    expect(value, Dependence::kChain, kA);
}

TEST_F(LoadChainsTest, TwoInstructionsThatTakeTurnsMakeAChain) {
    LoadChains::Found left{};
    LoadChains::Found right{};
    for (int i = 0; i < 4; ++i) {
        left = run({{kA, next(), {reg(1)}}}, {{1, {load(0)}}});
        right = run({{kB, next(), {reg(1)}}}, {{1, {load(0)}}});
    }
    expect(left, Dependence::kChain, kB);
    expect(right, Dependence::kChain, kA);
}

// The links are loaded before what hangs on them is.
TEST_F(LoadChainsTest, ATreeIsAChainAlsoForWhatIsReadLast) {
    LoadChains::Found key{};
    for (int i = 0; i < 6; ++i) {
        const Source taken = i % 2 == 0 ? load(0) : load(1);
        key = run({{kA, next(), {reg(1)}}, {kB, next(), {reg(1)}}, {kC, next(), {reg(1)}}}, {{1, {taken}}});
    }
    EXPECT_EQ(key.dependence, Dependence::kChain);
}

TEST_F(LoadChainsTest, AnIndexThatIsLoadedARoundAheadIsStillOne) {
    LoadChains::Found element{};
    for (int i = 0; i < 4; ++i) {
        element = run({{kA, next(), {reg(1)}}, {kB, next(), {reg(2).scaled(), reg(3)}}}, {{2, {load(0)}}});
    }
    expect(element, Dependence::kIndex, kA);
}

TEST_F(LoadChainsTest, ThreeLevelsOfPointersAreNone) {
    LoadChains::Found last{};
    for (int i = 0; i < 5; ++i) {
        last = run({{kA, next(), {reg(1)}}, {kB, next(), {load(0)}}, {kC, next(), {load(1)}}});
    }
    expect(last, Dependence::kPointer, kB);
}

TEST_F(LoadChainsTest, WhatIsSpilledToTheStackGoesOn) {
    const Address slot = 0x7000;
    LoadChains::Found link{};
    for (int i = 0; i < 4; ++i) {
        // The pointer is loaded from the slot, followed, and stored there again.
        run({{kB, slot, {reg(4)}, true, {}, false, true}}, {{1, {load(0)}}});
        link = run({{kA, next(), {reg(1)}}}, {{1, {load(0)}}});
        run({{kC, slot, {reg(4)}, false, {reg(1)}, true, true}});
    }
    expect(link, Dependence::kChain, kA);
}

TEST_F(LoadChainsTest, AnArraysBaseThatIsLoadedAgainAndAgainIsConstant) {
    LoadChains::Found element{};
    for (int i = 0; i < 4; ++i) {
        element = run({{kA, 0x2000, {reg(1)}}, {kB, next(), {load(0), reg(2).scaled()}}});
    }
    expect(element, Dependence::kArithmetic);
}

TEST_F(LoadChainsTest, AVariableThatIsStoredInBetweenIsNot) {
    LoadChains::Found link{};
    for (int i = 0; i < 4; ++i) {
        link = run({{kA, 0x2000, {reg(1)}}, {kB, next(), {load(0)}}}, {{2, {load(1)}}});
        run({{kC, 0x2000, {reg(1)}, false, {reg(2)}, true}});
    }
    expect(link, Dependence::kChain, kB);
}

TEST_F(LoadChainsTest, RegistersTakeTheirValuesOfTheBlocksEntry) {
    // They are exchanged.
    run({{kA, next(), {reg(9)}}}, {{1, {load(0)}}});
    run({{kC, next(), {reg(9)}}}, {{2, {load(0)}}});
    run({}, {{1, {reg(2)}}, {2, {reg(1)}}});
    run({{kB, next(), {}}});
    run({{kA, next(), {reg(9)}}}, {{1, {load(0)}}});
    run({{kC, next(), {reg(9)}}}, {{2, {load(0)}}});
    run({}, {{1, {reg(2)}}, {2, {reg(1)}}});
    expect(run({{kB, next(), {reg(1)}}}), Dependence::kPointer, kC);
}

TEST_F(LoadChainsTest, AnAccessThatDidNotHappenLoadsNothing) {
    for (int i = 0; i < 3; ++i) run({{kA, next(), {reg(1)}}, {kB, next(), {load(0)}}});
    chains.enter_block(2);
    chains.skip(0);
    const std::vector<Source> from{load(0)};
    const LoadChains::Found found = chains.access(1, {from, {}, false, false}, kB, &memory[kB], next(), 8, true);
    chains.leave_block();
    expect(found, Dependence::kArithmetic);
}

}  // namespace
}  // namespace bd
