// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which call or loop carries the reuse of lines: made-up runs, counted by hand. D1 is a single line, so that whatever
// is accessed between two accesses to a line makes the second one miss.

#include <cstdio>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "replay_fixture.h"

namespace bd {
namespace {

using test::kTinyD1;
using test::name;
using enum JumpKind;

using NamedCounts = std::map<std::string, std::uint64_t>;

constexpr Word kA = 0x10000;
constexpr Word kB = 0x20000;

class ReuseTest : public test::ReplayTest {
protected:
    // A block at this address of main, that reads so many times and goes on by a jump.
    Block& block(Address address, unsigned reads, JumpKind jump = kJump) {
        auto code = program_.code(main_, address).op();
        for (unsigned i = 0; i < reads; ++i) code.reads(8);
        return code.ends(jump);
    }

    // Misses that are no first touches, by "function" or "function@loop", "-" for none.
    NamedCounts carried(std::uint64_t fewest_times = ReuseRules{}.fewest_times) {
        replay({.caches = kTinyD1, .why = true, .reuse_rules = {.fewest_times = fewest_times}});
        NamedCounts counts;
        for (const ReuseSum& sum : engine_->why()->reuses.all()) {
            if (sum.key.cause == static_cast<unsigned>(Cause::kFirst)) continue;
            std::string text = "-";
            if (sum.key.scope != 0) {
                const Scope& scope = engine_->scopes()[sum.key.scope - 1];
                text = name(*scope.context);
                char address[20];
                std::snprintf(address, sizeof address, "@%llx",
                              static_cast<unsigned long long>(scope.loop == nullptr ? 0 : scope.loop->address));
                if (scope.loop != nullptr) text += address;
            }
            counts[text] += sum.misses;
        }
        return counts;
    }

    // main, and what it calls first.
    Block& start_ = program_.entry(main_, 0x1000).op().ends(kJump);
};

TEST_F(ReuseTest, ALoopCarriesWhatItsIterationsShare) {
    Block& body = block(0x1010, 2);
    trace_.thread(1).run(start_, 1000);
    for (int i = 0; i < 3; ++i) trace_.run(body, 1000, {kA, kB});
    EXPECT_EQ(carried(), (NamedCounts{{"main@1010", 4}}));
}

// As where main jumps back and down, to where the stack of f was: f has been left, and asks for one.
TEST_F(ReuseTest, ALoopBeginsWithAJumpThatADumpInterrupts) {
    Block& f_switches = program_.entry(f_, 0x2010).op().ends(kJump);
    f_.triggers.dump_after = true;
    Block& body = block(0x1010, 2);
    trace_.thread(1).run(start_, 100'000).run(f_switches, 50'000);
    trace_.run(body, 100'000, {kA, kB}).run(body, 40'000, {kA, kB});
    EXPECT_EQ(carried(), (NamedCounts{{"main@1010", 2}}));
}

// The first iteration's reuse is not the loop's: f had touched the line before the loop began.
TEST_F(ReuseTest, WhatWasTouchedBeforeTheLoopIsCarriedByTheCall) {
    Block& body = block(0x1010, 2);
    trace_.thread(1).run(main_calls_, 1000).run(f_reads_, 999, {kA}).run(main_goes_on_, 1000);
    for (int i = 0; i < 3; ++i) trace_.run(body, 1000, {kB, kA});
    EXPECT_EQ(carried(), (NamedCounts{{"main", 1}, {"main@1010", 4}}));
}

// Three loops over four lines. A loop is known when it first jumps back, and the last iteration of the loop before may
// be part of it, as far as is known then: so it carries the last line.
TEST_F(ReuseTest, PassesOverAnArrayAreCarriedByTheFunctionThatMakesThem) {
    trace_.thread(1).run(start_, 1000);
    for (const Address pass : {0x1010, 0x1020, 0x1030}) {
        Block& body = block(pass, 1);
        for (Word i = 0; i < 4; ++i) trace_.run(body, 1000, {kA + 64 * i});
    }
    // (The last line of a pass is hit if the next begins with it; here it does not.)
    EXPECT_EQ(carried(), (NamedCounts{{"main", 6}, {"main@1020", 1}, {"main@1030", 1}}));
}

TEST_F(ReuseTest, PassesInFunctionsAreCarriedByTheirCaller) {
    Block& f_loop = program_.code(f_, 0x2010).op().reads(8).ends(kJump);
    Block& f_starts = program_.entry(f_, 0x2000).op(8).ends(kJump);
    Block& f_ends = program_.code(f_, 0x2020).op().ends(kReturn);
    trace_.thread(1).run(start_, 1000);
    for (const Address from : {0x1010, 0x1020, 0x1030}) {
        trace_.run(block(from, 0, kCall), 1000).run(f_starts, 999);
        for (Word i = 0; i < 4; ++i) trace_.run(f_loop, 999, {kA + 64 * i});
        trace_.run(f_ends, 999).run(block(from + 4, 0), 1000);
    }
    EXPECT_EQ(carried(), (NamedCounts{{"main", 8}}));
}

// for j: for i: a[i]; with three times three iterations. The inner loop carries nothing.
TEST_F(ReuseTest, TheOuterLoopOfANestCarriesWhatTheInnerOneGoesThrough) {
    Block& outer = block(0x1010, 0);
    Block& inner = block(0x1020, 1);
    Block& latch = block(0x1030, 0);
    trace_.thread(1).run(start_, 1000);
    for (int j = 0; j < 3; ++j) {
        trace_.run(outer, 1000);
        for (Word i = 0; i < 3; ++i) trace_.run(inner, 1000, {kA + 64 * i});
        trace_.run(latch, 1000);
    }
    EXPECT_EQ(carried(), (NamedCounts{{"main@1010", 6}}));
}

TEST_F(ReuseTest, TimesMayBeCountedAnew) {
    Block& outer = block(0x1010, 0);
    Block& inner = block(0x1020, 1);
    Block& latch = block(0x1030, 0);
    trace_.thread(1).run(main_calls_, 1000).run(f_reads_, 999, {kB}).run(main_goes_on_, 1000);
    for (int j = 0; j < 1000; ++j) {
        trace_.run(outer, 1000);
        for (Word i = 0; i < 30; ++i) trace_.run(inner, 1000, {kA + 64 * i});
        trace_.run(latch, 1000);
    }
    trace_.run(block(0x1050, 1), 1000, {kB});
    EXPECT_EQ(carried(64), (NamedCounts{{"main", 1}, {"main@1010", 999 * 30}}));
}

TEST_F(ReuseTest, ALoopThatCallsCarriesWhatItsCallsShare) {
    Block& calls = block(0x1010, 0, kCall);
    Block& latch = block(0x1014, 0);
    Block& g_reads_both = program_.entry(g_, 0x3100).op().reads(8).op().reads(8).ends(kReturn);
    trace_.thread(1).run(start_, 1000);
    for (int i = 0; i < 4; ++i) trace_.run(calls, 1000).run(g_reads_both, 999, {kA, kB}).run(latch, 1000);
    EXPECT_EQ(carried(), (NamedCounts{{"main@1010", 6}}));
}

// Each call is open while the next one is made, and had been when the line was touched last.
TEST_F(ReuseTest, ARecursiveCallCarriesWhatItSharesWithThoseItMakes) {
    Block& f_recurses = program_.entry(f_, 0x2100).op().reads(8).op().reads(8).ends(kCall);
    trace_.thread(1).run(main_calls_, 1000);
    for (Word depth = 0; depth < 4; ++depth) trace_.run(f_recurses, 999 - depth, {kA, kB});
    EXPECT_EQ(carried(), (NamedCounts{{"f", 6}}));
}

// A loop entered at its test: 1030, 1010, 1030, 1010, ... What it is known by is where it jumps back to.
TEST_F(ReuseTest, ALoopMayBeEnteredAtItsEnd) {
    Block& body = block(0x1010, 2);
    Block& test = block(0x1030, 0);
    trace_.thread(1).run(main_calls_, 1000).run(f_reads_, 999, {kA}).run(test, 1000);
    for (int i = 0; i < 3; ++i) trace_.run(body, 1000, {kA, kB}).run(test, 1000);
    // A is hit at first, as f has just loaded it.
    EXPECT_EQ(carried(), (NamedCounts{{"main@1010", 4}}));
}

// Two blocks that jump to each other, entered at either: no loop of a kind, but nothing is lost.
TEST_F(ReuseTest, IrreducibleFlowLosesNothing) {
    Block& one = block(0x1010, 1);
    Block& two = block(0x1020, 1);
    trace_.thread(1).run(start_, 1000);
    for (int i = 0; i < 5; ++i) {
        if (i % 2 == 0) trace_.run(one, 1000, {kA});
        trace_.run(two, 1000, {kB}).run(one, 1000, {kA + 64});
    }
    std::uint64_t misses = 0;
    for (const auto& [scope, count] : carried()) misses += count;
    EXPECT_EQ(misses, 3u + 5u + 5u - 3u);
}

// What a thread shares with those before it, no scope of its own carries.
TEST_F(ReuseTest, NothingCarriesWhatWasTouchedBeforeTheThreadBegan) {
    trace_.thread(1).run(main_reads_, 1000, {kA}).run(main_reads_, 1000, {kB});
    trace_.thread(2).run(g_reads_, 5000, {kA});
    EXPECT_EQ(carried(), (NamedCounts{{"-", 1}}));
}

// The inner loop has been left, so it is not what carries, although it has been entered before.
TEST_F(ReuseTest, ALoopThatHasBeenLeftCarriesNothing) {
    Block& loop = block(0x1010, 2);
    trace_.thread(1).run(main_calls_, 1000).run(f_returns_, 999).run(main_goes_on_, 1000);
    for (int i = 0; i < 2; ++i) trace_.run(loop, 1000, {kA, kB});
    trace_.run(block(0x1030, 1), 1000, {kA});
    EXPECT_EQ(carried(), (NamedCounts{{"main@1010", 2}, {"main", 1}}));
}

// Who had loaded the line, and who had driven it out.
TEST_F(ReuseTest, KnowsTheHistoryOfALine) {
    Block& first = block(0x1010, 1);
    Block& second = block(0x1020, 1);
    Block& third = block(0x1030, 1);
    trace_.thread(1).run(start_, 1000).run(first, 1000, {kA}).run(second, 1000, {kB}).run(third, 1000, {kA});
    replay({.caches = kTinyD1, .why = true});
    const auto block_of = [&](CostId id) -> Address {
        for (const BlockCost* cost : engine_->blocks().all()) {
            if (cost->instructions[0] == id) return cost->block->address;
        }
        return 0;
    };
    std::size_t reuses = 0;
    for (const ReuseSum& sum : engine_->why()->reuses.all()) {
        if (sum.key.cause == static_cast<unsigned>(Cause::kFirst)) continue;
        ++reuses;
        EXPECT_EQ(block_of(sum.key.missed), 0x1030u);
        EXPECT_EQ(block_of(sum.key.loaded_by), 0x1010u);
        EXPECT_EQ(block_of(sum.key.evicted_by), 0x1020u);
        EXPECT_EQ(sum.key.cause, static_cast<unsigned>(Cause::kCapacity));
        EXPECT_EQ(sum.misses, 1u);
        EXPECT_EQ(sum.ll_misses, 0u);
        EXPECT_EQ(sum.distance, 1u);
    }
    EXPECT_EQ(reuses, 1u);
}

}  // namespace
}  // namespace bd
