// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/load_chains.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace bd {
namespace {

constexpr SiteId kSiteA{1};
constexpr SiteId kSiteB{2};
constexpr SiteId kSiteC{3};

TEST(LoadedFrom, HasTheTwoLatestLoads) {
    std::mt19937 random(1);
    for (unsigned round = 0; round < 2000; ++round) {
        LoadedFrom value;
        std::map<std::uint32_t, bool, std::greater<>> expected;  // the latest first; what was added first stays
        for (unsigned i = 0; i < 6; ++i) {
            LoadedFrom more(1 + random() % 8);
            std::map<std::uint32_t, bool, std::greater<>> all{{more.loads()[0].number, false}};
            if (random() % 2 == 0) {
                const auto number = static_cast<std::uint32_t>(1 + random() % 8);
                more.add(LoadedFrom(number), true);
                all.emplace(number, true);
            }
            const bool is_scaled = random() % 2 == 0;
            value.add(more, is_scaled);
            for (const auto& [number, was_scaled] : all) {
                expected.emplace(number, was_scaled || is_scaled);
                if (expected.size() > 2) expected.erase(std::prev(expected.end()));
            }
        }
        std::size_t at = 0;
        for (const auto& [number, is_scaled] : expected) {
            EXPECT_EQ(value.loads()[at].number, number);
            EXPECT_EQ(value.loads()[at].is_scaled, is_scaled ? 1u : 0u);
            EXPECT_TRUE(value.has(number));
            ++at;
        }
        for (; at < 2; ++at) EXPECT_EQ(value.loads()[at].number, 0u);
        EXPECT_FALSE(value.has(9));
    }
}

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
    expect(run({{kSiteA, 0x1000, {reg(1)}}}), Dependence::kUnknown);
    expect(run({{kSiteA, 0x1008, {reg(1)}}}), Dependence::kArithmetic);
    chains.start_piece();
    expect(run({{kSiteA, 0x1010, {reg(1)}}}), Dependence::kUnknown);
}

TEST_F(LoadChainsTest, AnIndexOrAPointerThatWasLoadedJustNow) {
    for (int i = 0; i < 3; ++i) {
        const LoadChains::Found index =
            run({{kSiteA, next(), {reg(1)}}, {kSiteB, next(), {reg(2), load(0).scaled()}}}, {{1, {reg(1)}}});
        if (i != 0) expect(index, Dependence::kIndex, kSiteA);
        const LoadChains::Found pointer = run({{kSiteA, next(), {reg(1)}}, {kSiteC, next(), {load(0)}}});
        if (i != 0) expect(pointer, Dependence::kPointer, kSiteA);
    }
}

TEST_F(LoadChainsTest, WhatWasLoadedBeforeTheLatestExecutionIsConstant) {
    run({{kSiteA, 0x1000, {reg(1)}}}, {{2, {load(0)}}});
    run({{kSiteB, 0x2000, {reg(2)}}});
    expect(run({{kSiteB, 0x2008, {reg(2)}}}), Dependence::kArithmetic);
    run({{kSiteA, 0x1008, {reg(1)}}}, {{2, {load(0)}}});
    expect(run({{kSiteB, 0x3000, {reg(2)}}}), Dependence::kPointer, kSiteA);
    expect(run({{kSiteB, 0x3008, {reg(2)}}}), Dependence::kArithmetic);
}

TEST_F(LoadChainsTest, AListIsAChainForAllThatReadsItsNodes) {
    LoadChains::Found value{};
    LoadChains::Found link{};
    for (int i = 0; i < 5; ++i) {
        value = run({{kSiteB, next(), {reg(1)}}});
        link = run({{kSiteA, next(), {reg(1)}}}, {{1, {load(0)}}});
    }
    expect(link, Dependence::kChain, kSiteA);
    expect(value, Dependence::kChain, kSiteA);
}

TEST_F(LoadChainsTest, TwoInstructionsThatTakeTurnsMakeAChain) {
    LoadChains::Found left{};
    LoadChains::Found right{};
    for (int i = 0; i < 4; ++i) {
        left = run({{kSiteA, next(), {reg(1)}}}, {{1, {load(0)}}});
        right = run({{kSiteB, next(), {reg(1)}}}, {{1, {load(0)}}});
    }
    expect(left, Dependence::kChain, kSiteB);
    expect(right, Dependence::kChain, kSiteA);
}

// The links are loaded before what hangs on them is.
TEST_F(LoadChainsTest, ATreeIsAChainAlsoForWhatIsReadLast) {
    LoadChains::Found key{};
    for (int i = 0; i < 6; ++i) {
        const Source taken = i % 2 == 0 ? load(0) : load(1);
        key = run({{kSiteA, next(), {reg(1)}}, {kSiteB, next(), {reg(1)}}, {kSiteC, next(), {reg(1)}}}, {{1, {taken}}});
    }
    EXPECT_EQ(key.dependence, Dependence::kChain);
}

TEST_F(LoadChainsTest, AnIndexThatIsLoadedARoundAheadIsStillOne) {
    LoadChains::Found element{};
    for (int i = 0; i < 4; ++i) {
        element = run({{kSiteA, next(), {reg(1)}}, {kSiteB, next(), {reg(2).scaled(), reg(3)}}}, {{2, {load(0)}}});
    }
    expect(element, Dependence::kIndex, kSiteA);
}

TEST_F(LoadChainsTest, ThreeLevelsOfPointersAreNone) {
    LoadChains::Found last{};
    for (int i = 0; i < 5; ++i) {
        last = run({{kSiteA, next(), {reg(1)}}, {kSiteB, next(), {load(0)}}, {kSiteC, next(), {load(1)}}});
    }
    expect(last, Dependence::kPointer, kSiteB);
}

TEST_F(LoadChainsTest, WhatIsSpilledToTheStackGoesOn) {
    const Address slot = 0x7000;
    LoadChains::Found link{};
    for (int i = 0; i < 4; ++i) {
        // The pointer is loaded from the slot, followed, and stored there again.
        run({{kSiteB, slot, {reg(4)}, true, {}, false, true}}, {{1, {load(0)}}});
        link = run({{kSiteA, next(), {reg(1)}}}, {{1, {load(0)}}});
        run({{kSiteC, slot, {reg(4)}, false, {reg(1)}, true, true}});
    }
    expect(link, Dependence::kChain, kSiteA);
}

TEST_F(LoadChainsTest, AnArraysBaseThatIsLoadedAgainAndAgainIsConstant) {
    LoadChains::Found element{};
    for (int i = 0; i < 4; ++i) {
        element = run({{kSiteA, 0x2000, {reg(1)}}, {kSiteB, next(), {load(0), reg(2).scaled()}}});
    }
    expect(element, Dependence::kArithmetic);
}

TEST_F(LoadChainsTest, AVariableThatIsStoredInBetweenIsNot) {
    LoadChains::Found link{};
    for (int i = 0; i < 4; ++i) {
        link = run({{kSiteA, 0x2000, {reg(1)}}, {kSiteB, next(), {load(0)}}}, {{2, {load(1)}}});
        run({{kSiteC, 0x2000, {reg(1)}, false, {reg(2)}, true}});
    }
    expect(link, Dependence::kChain, kSiteB);
}

TEST_F(LoadChainsTest, RegistersTakeTheirValuesOfTheBlocksEntry) {
    // They are exchanged.
    run({{kSiteA, next(), {reg(9)}}}, {{1, {load(0)}}});
    run({{kSiteC, next(), {reg(9)}}}, {{2, {load(0)}}});
    run({}, {{1, {reg(2)}}, {2, {reg(1)}}});
    run({{kSiteB, next(), {}}});
    run({{kSiteA, next(), {reg(9)}}}, {{1, {load(0)}}});
    run({{kSiteC, next(), {reg(9)}}}, {{2, {load(0)}}});
    run({}, {{1, {reg(2)}}, {2, {reg(1)}}});
    expect(run({{kSiteB, next(), {reg(1)}}}), Dependence::kPointer, kSiteC);
}

TEST_F(LoadChainsTest, AnAccessThatDidNotHappenLoadsNothing) {
    for (int i = 0; i < 3; ++i) run({{kSiteA, next(), {reg(1)}}, {kSiteB, next(), {load(0)}}});
    chains.enter_block(2);
    chains.skip(0);
    const std::vector<Source> from{load(0)};
    const LoadChains::Found found =
        chains.access(1, {from, {}, false, false}, kSiteB, &memory[kSiteB], next(), 8, true);
    chains.leave_block();
    expect(found, Dependence::kArithmetic);
}

}  // namespace
}  // namespace bd
