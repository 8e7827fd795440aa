// SPDX-License-Identifier: GPL-2.0-or-later
//
// Short traces through the whole engine, with what they cost worked out by hand. What the parts do for
// themselves is tested with them; here it is who is charged for what.

#include "engine/replay/engine.h"

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "program.h"

namespace bd {
namespace {

using test::Program;
using test::Trace;
using enum JumpKind;

// Events by name, those that are zero left out.
using Events = std::map<std::string, std::uint64_t>;

Events events_of(ConstCosts costs) {
    Events events;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        if (costs[i] != 0) events[kEvents[i].name] = costs[i];
    }
    return events;
}

// Only the events asked for: those of the data lines, say.
Events only(const Events& events, const std::string& suffix) {
    Events chosen;
    for (const auto& [name, count] : events) {
        if (name.ends_with(suffix)) chosen[name] = count;
    }
    return chosen;
}

// Every data access to another line evicts the one before: D1 is a single line. Code stays where it is, and
// so does everything in LL.
constexpr CacheGeometries kTinyD1{.i1 = {64 * 1024, 16, 64}, .d1 = {64, 1, 64}, .ll = {1024 * 1024, 16, 64}};

class ReplayTest : public testing::Test {
protected:
    // Runs the trace to its end.
    void replay(const EngineConfig& config = {.caches = kTinyD1}) {
        engine_ = std::make_unique<Engine>(config);
        engine_->replay_whole(trace_.all());
        engine_->finish();
    }

    // Self costs, over all contexts.
    Events self(Block& block, std::size_t instruction = 0) const {
        std::vector<std::uint64_t> sum(engine_->events().width());
        for (const BlockCost* cost : engine_->blocks().all()) {
            if (cost->block != &block) continue;
            for (const Exit& exit : block.exits()) {
                if (instruction >= exit.instructions) continue;
                const std::uint64_t taken = cost->exits[exit.index].taken;
                sum[column(Event::kIr)] += taken;
                for (const Access& access : block.accesses().first(exit.accesses)) {
                    if (access.instruction != instruction) continue;
                    sum[column(is_write(access.kind) ? Event::kDw : Event::kDr)] += taken;
                }
            }
            if (cost->instructions[instruction] != kNoCost) {
                add(sum, engine_->costs()[cost->instructions[instruction]]);
            }
        }
        return events_of(sum);
    }

    // Inclusive costs of the calls from one function to another.
    Events below(const Function& caller, const Function& callee) const {
        std::vector<std::uint64_t> sum(engine_->events().width());
        for (std::uint32_t id = 1; id <= engine_->arcs().size(); ++id) {
            const Arc& arc = engine_->arcs()[ArcId{id}];
            if (&arc.site.from->context->function() == &caller &&
                &arc.callee->context->function() == &callee) {
                add(sum, engine_->arcs().costs(ArcId{id}));
            }
        }
        return events_of(sum);
    }
    std::uint64_t calls(const Function& caller, const Function& callee) const {
        std::uint64_t calls = 0;
        for (std::uint32_t id = 1; id <= engine_->arcs().size(); ++id) {
            const Arc& arc = engine_->arcs()[ArcId{id}];
            if (&arc.site.from->context->function() == &caller &&
                &arc.callee->context->function() == &callee) {
                calls += arc.calls;
            }
        }
        return calls;
    }

    Program program_;
    Function& main_ = program_.function("main");
    Function& f_ = program_.function("f");
    Function& g_ = program_.function("g");
    Function& handler_ = program_.function("handler");

    // Each one line of code, so that fetches are no matter. main begins with stack pointer 1000.
    Block& main_calls_ = program_.entry(main_, 0x1000).op().ends(kCall);
    Block& main_goes_on_ = program_.code(main_, 0x1004).op().ends(kJump);
    Block& main_reads_ = program_.code(main_, 0x1008).op().reads(8).ends(kJump);
    Block& f_reads_ = program_.entry(f_, 0x2000).op().reads(8).ends(kReturn);
    Block& f_calls_ = program_.code(f_, 0x2004).op().ends(kCall);
    Block& f_returns_ = program_.code(f_, 0x2008).op().ends(kReturn);
    Block& g_reads_ = program_.entry(g_, 0x3000).op().reads(8).ends(kReturn);
    Block& handler_reads_ = program_.entry(handler_, 0x4000).op().reads(8).ends(kReturn);

    Trace trace_;
    std::unique_ptr<Engine> engine_;
};

// --- What a block costs
// -----------------------------------------------------------------------------------------

TEST_F(ReplayTest, InstructionsAndAccessesAreCountedUpToTheExitTaken) {
    Block& block =
        program_.code(main_, 0x5000).op().reads(8).may_exit().op().writes(4).op().modifies(2).ends();
    trace_.thread(1).run(block, 1000, {0x100, 0x100, 0x100}).run_to(block, 0, 1000, {0x100});
    replay({.caches = kTinyD1, .cache_sim = false});
    EXPECT_EQ(self(block, 0), (Events{{"Ir", 2}, {"Dr", 2}}));
    EXPECT_EQ(self(block, 1), (Events{{"Ir", 1}, {"Dw", 1}}));
    EXPECT_EQ(self(block, 2), (Events{{"Ir", 1}, {"Dw", 1}})) << "a modify is one access, a write";
}

TEST_F(ReplayTest, AGuardedAccessThatDidNotHappenIsNotCounted) {
    Block& block = program_.code(main_, 0x5000).op().may_read(8).op().may_write(8).op().reads(8).ends();
    for (const bool cache_sim : {false, true}) {
        trace_ = Trace();
        trace_.thread(1).run(block, 1000, {0, 0x100, 0x100}).run(block, 1000, {0, 0, 0x100});
        replay({.caches = kTinyD1, .cache_sim = cache_sim, .cache_use = false});
        EXPECT_EQ(self(block, 0)["Dr"], 0u);
        EXPECT_EQ(self(block, 1)["Dw"], 1u);
        EXPECT_EQ(self(block, 2)["Dr"], 2u);
        EXPECT_EQ(self(block, 1)["D1mw"], cache_sim ? 1u : 0u);
    }
}

TEST_F(ReplayTest, MissesAreChargedToTheInstructionThatHadThem) {
    Block& block =
        program_.code(main_, 0x5000).op().reads(8).op().reads(8).op().writes(8).op().modifies(8).ends();
    trace_.thread(1).run(block, 1000, {0x100, 0x100, 0x200, 0x100});
    replay({.caches = kTinyD1, .cache_use = false});
    EXPECT_EQ(self(block, 0),
              (Events{{"Ir", 1}, {"I1mr", 1}, {"ILmr", 1}, {"Dr", 1}, {"D1mr", 1}, {"DLmr", 1}}));
    EXPECT_EQ(self(block, 1), (Events{{"Ir", 1}, {"Dr", 1}}));
    EXPECT_EQ(self(block, 2), (Events{{"Ir", 1}, {"Dw", 1}, {"D1mw", 1}, {"DLmw", 1}}));
    EXPECT_EQ(self(block, 3), (Events{{"Ir", 1}, {"Dw", 1}, {"D1mw", 1}}));
}

TEST_F(ReplayTest, EveryInstructionThatFetchesALineIsAnAccessToIt) {
    // Four instructions of 4 bytes, the last across the border of the line that ends at 0x5040.
    Block& block = program_.code(main_, 0x5032).op(4).op(4).op(4).op(4).ends();
    trace_.thread(1).run(block, 1000).run(block, 1000).run(block, 1000);
    replay();
    EXPECT_EQ(self(block, 0), (Events{{"Ir", 3},
                                      {"I1mr", 1},
                                      {"ILmr", 1},
                                      {"AcCost1", 1000 / 12},
                                      {"SpLoss1", 64 - 14},
                                      {"EvLine1", 1},
                                      {"UsByte1", 14},
                                      {"Access1", 12},
                                      {"AcCost2", 1000 / 12},
                                      {"SpLoss2", 64 - 14},
                                      {"EvLine2", 1},
                                      {"UsByte2", 14},
                                      {"Access2", 12}}));
    EXPECT_EQ(self(block, 3), (Events{{"Ir", 3},
                                      {"I1mr", 1},
                                      {"ILmr", 1},
                                      {"AcCost1", 1000 / 3},
                                      {"SpLoss1", 62},
                                      {"EvLine1", 1},
                                      {"UsByte1", 2},
                                      {"Access1", 3},
                                      {"AcCost2", 1000 / 3},
                                      {"SpLoss2", 62},
                                      {"EvLine2", 1},
                                      {"UsByte2", 2},
                                      {"Access2", 3}}));
}

TEST_F(ReplayTest, ALineAccessedMoreThanAThousandTimesHasNoAccessCost) {
    trace_.thread(1);
    for (int i = 0; i < 1001; ++i) trace_.run(main_reads_, 1000, {0x100});
    replay();
    // Its own fetches are 1001 as well.
    EXPECT_EQ(only(self(main_reads_), "1"),
              (Events{{"SpLoss1", 56 + 60},
                      {"EvLine1", 2},
                      {"UsByte1", 8 + 4},
                      {"Access1", 2002},
                      {"SpLossD1", 56},
                      {"EvLineD1", 1},
                      {"UsByteD1", 8},
                      {"AccessD1", 1001}}));
}

TEST_F(ReplayTest, ALineAccessedAThousandTimesHasTheLeastAccessCost) {
    trace_.thread(1);
    for (int i = 0; i < 1000; ++i) trace_.run(main_reads_, 1000, {0x100});
    replay();
    EXPECT_EQ(self(main_reads_)["AcCostD1"], 1u);
    EXPECT_EQ(self(main_reads_)["AcCost1"], 2u) << "and as many fetches";
}

// LL has two sets of one line: code in the first, data and the other code in the second.
TEST_F(ReplayTest, MissesThatDriveOutWrittenLinesAreToldApart) {
    Block& writes = program_.code(main_, 0x100c).op().writes(8).ends(kJump);
    Block& other_code = program_.code(main_, 0x5040).op().ends(kJump);
    trace_.thread(1).run(writes, 1000, {0x40}).run(writes, 1000, {0xc0}).run(main_reads_, 1000, {0x40});
    trace_.run(main_reads_, 1000, {0xc0}).run(writes, 1000, {0x40}).run(other_code, 1000);
    for (const CacheGeometry& d1 : {CacheGeometry{64, 1, 64}, CacheGeometry{32, 1, 32}}) {
        engine_.reset();
        replay({.caches = {.i1 = {1024, 1, 64}, .d1 = d1, .ll = {128, 1, 64}}, .write_back = true});
        Events written = self(writes);
        EXPECT_EQ(written["DLmw"], 3u);
        EXPECT_EQ(written["DLdmw"], 1u) << "the second one";
        Events read = self(main_reads_);
        EXPECT_EQ(read["DLmr"], 2u);
        EXPECT_EQ(read["DLdmr"], 1u) << "the first one";
        EXPECT_EQ(only(self(other_code), "r"), (Events{{"Ir", 1}, {"I1mr", 1}, {"ILmr", 1}, {"ILdmr", 1}}));
    }
}

TEST_F(ReplayTest, StreamsArePrefetchedIfThatIsAllThatIsAskedFor) {
    trace_.thread(1);
    for (Address line = 100; line < 110; ++line) trace_.run(main_reads_, 1000, {64 * line});
    replay({.caches = kTinyD1, .prefetch = true});
    EXPECT_EQ(self(main_reads_)["D1mr"], 10u);
    EXPECT_EQ(self(main_reads_)["DLmr"], 7u) << "the third one has fetched the line of the eighth";
}

// LL is one set, so each instruction is fetched by itself; the third one is behind the exit, in another line.
TEST_F(ReplayTest, NothingIsFetchedBehindTheExitTaken) {
    Block& block = program_.code(main_, 0x5038).op().op().may_exit().op().ends();
    trace_.thread(1).run_to(block, 0, 1000, {});
    replay({.caches = {.i1 = {1024, 1, 64}, .d1 = {64, 1, 64}, .ll = {512, 8, 64}}});
    EXPECT_EQ(events_of(engine_->totals(0))["I1mr"], 1u);
}

// The line of code loses its place in LL while an instruction further on in the same block runs.
TEST_F(ReplayTest, FetchesOfABlockAreCreditedBeforeItsAccessesPushCodeOutOfLl) {
    Block& block = program_.code(main_, 0x5000).op().op().reads(8).op().ends();
    trace_.thread(1).run(block, 1000, {0x10000});  // code in I1; LL: data
    trace_.run(block, 1000, {0x20000});            // LL: code? no: data again
    replay({.caches = {.i1 = {1024, 1, 64}, .d1 = {64, 1, 64}, .ll = {64, 1, 64}}});
    // LL holds one line. The first run loads the code and, at the second instruction, drives it out: two
    // fetches so far. What the copy in I1 gathers after that is dropped.
    const Events loader = self(block, 0);
    EXPECT_EQ(loader.at("Access2"), 2u);
    EXPECT_EQ(loader.at("UsByte2"), 8u);
    EXPECT_EQ(loader.at("Access1"), 6u);
    EXPECT_EQ(loader.at("UsByte1"), 12u);
}

// As above, with all fetches hitting I1: the accesses run ahead of the fetches' credit then.
TEST_F(ReplayTest, FetchesThatHitAreCreditedUpToTheInstructionThatPushesTheirLineOut) {
    Block& block = program_.code(main_, 0x5000).op().op().may_read(8).op().ends();
    Block& same_line = program_.code(main_, 0x5010).op().ends();
    trace_.thread(1).run(same_line, 1000);
    trace_.run(block, 1000, {0x10000}).run(block, 1000, {0});
    replay({.caches = {.i1 = {1024, 1, 64}, .d1 = {64, 1, 64}, .ll = {64, 1, 64}}});
    // One fetch of the block that loaded the line, two of the other before its read.
    EXPECT_EQ(self(same_line).at("Access2"), 3u);
    EXPECT_EQ(self(same_line).at("UsByte2"), 12u);
    EXPECT_EQ(self(same_line).at("Access1"), 1u + 3 + 3);
    EXPECT_EQ(self(same_line).at("UsByte1"), 16u);
}

// --- Whose call it was: what the tool is for
// ----------------------------------------------------------------------

TEST_F(ReplayTest, ALineEvictedAfterItsCallHasReturnedIsChargedToThatCall) {
    trace_.thread(1);
    trace_.run(main_calls_, 1000).run(f_reads_, 992, {0x100});  // f loads a line
    trace_.run(main_calls_, 1000).run(g_reads_, 992, {0x200});  // g drives it out
    trace_.run(main_goes_on_, 1000);
    replay();
    const Events one_line{
        {"EvLine1", 2}, {"UsByte1", 8 + 4}, {"SpLoss1", 56 + 60}, {"Access1", 2}, {"AcCost1", 2000},
        {"EvLineD1", 1}, {"UsByteD1", 8}, {"SpLossD1", 56}, {"AccessD1", 1}, {"AcCostD1", 1000}};
    EXPECT_EQ(only(below(main_, f_), "1"), one_line) << "a line of data and one of code";
    EXPECT_EQ(only(below(main_, g_), "1"), one_line);
    EXPECT_EQ(only(self(f_reads_), "1"), one_line);
}

TEST_F(ReplayTest, EveryCallOnTheChainIsChargedOnce) {
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992).run(g_reads_, 984, {0x100});
    trace_.run(f_returns_, 992).run(main_reads_, 1000, {0x200});
    replay();
    EXPECT_EQ(below(main_, f_)["DLmr"], 1u);
    EXPECT_EQ(below(f_, g_)["DLmr"], 1u);
    EXPECT_EQ(below(f_, g_)["UsByte1"], 8u + 4);
    EXPECT_EQ(below(main_, f_)["UsByte1"], 8u + 4 + 8);  // f's own code besides
    EXPECT_EQ(self(f_calls_)["D1mr"], 0u);
    EXPECT_EQ(below(main_, f_)["Ir"], 3u);
    EXPECT_EQ(below(main_, g_), Events{});
}

TEST_F(ReplayTest, WithRecursionAnArcIsChargedForEachOfItsOpenCalls) {
    trace_.thread(1).run(main_calls_, 1000);
    for (const Address stack_pointer : {992, 984, 976}) trace_.run(f_calls_, stack_pointer);
    trace_.run(g_reads_, 968, {0x100}).run(main_reads_, 1000, {0x200});
    replay();
    EXPECT_EQ(calls(main_, f_), 1u);
    EXPECT_EQ(calls(f_, f_), 2u);
    EXPECT_EQ(below(main_, f_)["D1mr"], 1u);
    EXPECT_EQ(below(f_, f_)["D1mr"], 2u);
    EXPECT_EQ(below(f_, g_)["D1mr"], 1u);
    EXPECT_EQ(below(f_, f_)["Ir"], 3u + 2);
}

// The inner call runs in the same context as the outer one, and is left by a jump: all that tells is the stack pointer.
TEST_F(ReplayTest, AJumpOutOfARecursionLeavesTheInnerCall) {
    Block& body = program_.code(f_, 0x2010).op().reads(8).ends(kJump);
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992);
    for (const Address stack_pointer : {984, 984, 984, 984, 992, 992}) trace_.run(body, stack_pointer, {0x100});
    for (const bool cache_sim : {false, true}) {
        engine_.reset();
        replay({.caches = kTinyD1, .cache_sim = cache_sim});
        EXPECT_EQ(below(f_, f_)["Ir"], 4u);
        EXPECT_EQ(below(main_, f_)["Ir"], 1u + 6);
    }
}

// Coroutines that run the same function jump to each other: the lower stack is not that of the call from main.
TEST_F(ReplayTest, AJumpToALowerStackLeavesTheCallsThatAreOpenOnThisOne) {
    Block& body = program_.code(f_, 0x2010).op().ends(kJump);
    trace_.thread(1).run(main_calls_, 100'000).run(f_returns_, 99'992);
    for (const Address stack_pointer : {1000, 99'992, 99'992, 99'992, 900, 900, 900}) trace_.run(body, stack_pointer);
    replay({.caches = kTinyD1, .cache_sim = false});
    EXPECT_EQ(below(main_, f_)["Ir"], 1u + 3);
    EXPECT_EQ(self(body)["Ir"], 7u);
}

// g has run on a stack below, and main calls a stub on its own.
TEST_F(ReplayTest, AJumpOutOfAStubIsNoticedWhereThereIsAnotherStack) {
    Block& g_returns = program_.code(g_, 0x3010).op().ends(kReturn);
    Block& stub = program_.code(f_, 0x2010).op().ends(kJump);
    f_.skipped = true;
    trace_.thread(1).run(main_calls_, 100'000).run(handler_reads_, 99'992, {0x100}).run(g_returns, 1000);
    trace_.run(main_goes_on_, 100'000).run(main_calls_, 100'000).run(stub, 99'992).run(main_goes_on_, 100'000);
    replay({.caches = kTinyD1, .cache_sim = false});
    EXPECT_EQ(self(main_goes_on_)["Ir"], 2u);
    EXPECT_EQ(self(main_calls_)["Ir"], 2u + 1);
}

TEST_F(ReplayTest, CallsThatAreOpenAtTheEndHaveTheirCosts) {
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992).run(g_reads_, 984, {0x100});
    replay();
    EXPECT_EQ(below(main_, f_)["Ir"], 2u);
    EXPECT_EQ(below(main_, f_)["EvLine1"], 3u);
    EXPECT_EQ(below(f_, g_)["EvLine1"], 2u);
}

TEST_F(ReplayTest, SkippedCodeIsChargedToTheCallThatLedToIt) {
    f_.skipped = true;
    trace_.thread(1).run(main_calls_, 1000).run(f_reads_, 992, {0x100}).run(main_goes_on_, 1000);
    replay();
    EXPECT_EQ(calls(main_, f_), 0u);
    EXPECT_EQ(self(f_reads_), Events{});
    const Events caller = self(main_calls_);
    EXPECT_EQ(caller.at("Ir"), 2u);
    EXPECT_EQ(caller.at("Dr"), 1u);
    EXPECT_EQ(caller.at("D1mr"), 1u);
    EXPECT_EQ(caller.at("I1mr"), 2u);
    EXPECT_EQ(caller.at("EvLine1"), 3u);
}

TEST_F(ReplayTest, AGuardedAccessOfSkippedCodeIsTakenBackFromTheChargedCallSite) {
    g_.skipped = true;
    Block& block = program_.entry(g_, 0x5000).op().may_read(8).may_read(8).ends(kReturn);
    for (const bool cache_sim : {false, true}) {
        trace_ = Trace();
        trace_.thread(1).run(main_calls_, 1000).run(block, 992, {0, 0x100}).run(main_goes_on_, 1000);
        replay({.caches = kTinyD1, .cache_sim = cache_sim});
        EXPECT_EQ(self(main_calls_)["Dr"], 1u);
        EXPECT_EQ(self(block), Events{});
    }
}

// --- Collecting
// -----------------------------------------------------------------------------------------------------

TEST_F(ReplayTest, LinesLoadedWhileCollectingAreChargedWhenTheyAreEvictedLater) {
    trace_.thread(1).run(main_calls_, 1000).run(f_reads_, 992, {0x100});
    trace_.collect(false).run(main_reads_, 1000, {0x200}).run(main_goes_on_, 1000);
    replay();
    EXPECT_EQ(below(main_, f_)["UsByte1"], 8u + 4);
    EXPECT_EQ(self(main_reads_), Events{});
    EXPECT_EQ(self(main_goes_on_), Events{});
}

TEST_F(ReplayTest, LinesLoadedWhileNotCollectingAreChargedToNobody) {
    trace_.thread(1).collect(false).run(main_calls_, 1000).run(f_reads_, 992, {0x100});
    trace_.collect(true).run(main_reads_, 1000, {0x104});  // another use of f's line
    replay();
    EXPECT_EQ(calls(main_, f_), 0u);
    EXPECT_EQ(self(f_reads_), Events{});
    // Its code is in main's line, which was not loaded now either.
    EXPECT_EQ(self(main_reads_), (Events{{"Ir", 1}, {"Dr", 1}}));
}

TEST_F(ReplayTest, ACallEnteredBeforeCollectingHasWhatIsCollectedInIt) {
    trace_.thread(1).collect(false).run(main_calls_, 1000);
    trace_.run(f_calls_, 992).collect(true).run(g_reads_, 984, {0x100}).run(main_goes_on_, 1000);
    replay();
    EXPECT_EQ(calls(main_, f_), 0u);
    EXPECT_EQ(calls(f_, g_), 1u);
    EXPECT_EQ(below(main_, f_)["Ir"], 1u);
    EXPECT_EQ(below(main_, f_)["D1mr"], 1u);
    EXPECT_EQ(below(main_, f_)["UsByte1"], 8u + 4);
}

// --- Threads and signal handlers
// ------------------------------------------------------------------------------------

TEST_F(ReplayTest, EachThreadHasItsOwnCalls) {
    trace_.thread(1).run(main_calls_, 1000);
    trace_.thread(2).run(main_calls_, 5000);
    trace_.thread(1).run(f_calls_, 992);
    trace_.thread(2).run(g_reads_, 4992, {0x100});
    trace_.thread(1).run(g_reads_, 984, {0x200});
    replay();
    EXPECT_EQ(calls(main_, f_), 1u);
    EXPECT_EQ(calls(main_, g_), 1u);
    EXPECT_EQ(calls(f_, g_), 1u);
    EXPECT_EQ(below(main_, f_)["Ir"], 2u);
    EXPECT_EQ(below(main_, g_)["D1mr"], 1u);
    EXPECT_EQ(below(main_, f_)["D1mr"], 1u);
}

TEST_F(ReplayTest, AThreadThatHasEndedIsStillChargedForItsLines) {
    trace_.thread(1).run(main_calls_, 1000);
    trace_.thread(2).run(main_calls_, 5000).run(f_reads_, 4992, {0x100}).mark(Marker::kThreadEnd, 2);
    trace_.thread(1).run(g_reads_, 992, {0x200});
    replay();
    EXPECT_EQ(below(main_, f_)["UsByte1"], 8u + 4);
    EXPECT_EQ(below(main_, f_)["Ir"], 1u);
}

TEST_F(ReplayTest, AThreadNumberIsUsedAgainFromScratch) {
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992).mark(Marker::kThreadEnd, 1);
    trace_.thread(1).run(g_reads_, 900, {0x100});
    replay();
    EXPECT_EQ(calls(f_, g_), 0u);
    EXPECT_EQ(below(main_, f_)["Ir"], 1u);
}

TEST_F(ReplayTest, AHandlerIsNoCallOfWhatItInterrupts) {
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992);  // about to call g
    trace_.mark(Marker::kSignalEnter, 1, 0, 800)
        .run(handler_reads_, 700, {0x100})
        .mark(Marker::kSignalLeave, 1);
    trace_.run(g_reads_, 984, {0x200}).run(main_goes_on_, 1000);
    replay();
    EXPECT_EQ(self(handler_reads_)["D1mr"], 1u);
    EXPECT_EQ(below(main_, f_)["Ir"], 2u);
    EXPECT_EQ(below(main_, f_)["D1mr"], 1u);
    EXPECT_EQ(calls(f_, g_), 1u) << "the interrupted call still happens";
    EXPECT_EQ(calls(f_, handler_), 0u);
}

TEST_F(ReplayTest, AHandlerHasCallsOfItsOwn) {
    Block& handler_calls = program_.entry(handler_, 0x4010).op().ends(kCall);
    trace_.thread(1).run(main_calls_, 1000);
    trace_.mark(Marker::kSignalEnter, 1, 0, 800).run(handler_calls, 700).run(g_reads_, 692, {0x100});
    trace_.mark(Marker::kSignalLeave, 1).run(f_reads_, 992, {0x200});
    replay();
    EXPECT_EQ(calls(handler_, g_), 1u);
    EXPECT_EQ(below(handler_, g_)["D1mr"], 1u);
    EXPECT_EQ(below(main_, f_)["D1mr"], 1u);
}

// siglongjmp out of a handler that interrupted deep calls.
TEST_F(ReplayTest, AJumpOutOfAHandlerLeavesItAndTheCallsJumpedOver) {
    Block& handler_jumps = program_.entry(handler_, 0x4010).op().ends(kJump);
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992).run(f_calls_, 984).run(f_calls_, 976);
    trace_.mark(Marker::kSignalEnter, 1, 0, 900).run(handler_jumps, 800);
    trace_.run(main_goes_on_, 1000).run(main_calls_, 1000).run(g_reads_, 992, {0x100});
    replay();
    EXPECT_EQ(calls(main_, g_), 1u);
    EXPECT_EQ(calls(f_, f_), 2u);
    EXPECT_EQ(calls(f_, g_), 0u) << "the call that was interrupted never happened";
    EXPECT_EQ(below(main_, f_)["Ir"], 3u);
}

TEST_F(ReplayTest, AJumpOutOfAHandlerOnAnAlternateStackIsNoticedThoughTheStackIsLower) {
    Block& handler_jumps = program_.entry(handler_, 0x4010).op().ends(kJump);
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992);
    trace_.mark(Marker::kSignalEnter, 1, 5000, 6000).run(handler_jumps, 5900);
    trace_.run(f_returns_, 980).run(main_reads_, 1000, {0x100});
    replay();
    EXPECT_EQ(calls(main_, f_), 1u);
    EXPECT_EQ(calls(f_, g_), 0u);
    EXPECT_EQ(below(main_, f_)["Ir"], 2u);
    EXPECT_EQ(self(handler_jumps)["Ir"], 1u);
}

TEST_F(ReplayTest, AHandlerMayInterruptAnother) {
    Block& outer = program_.entry(handler_, 0x4010).op().ends(kCall);
    trace_.thread(1).run(main_calls_, 1000);
    trace_.mark(Marker::kSignalEnter, 1, 0, 900).run(outer, 800);                     // about to call f
    trace_.mark(Marker::kSignalEnter, 1, 0, 700)
        .run(handler_reads_, 600, {0x100})
        .mark(Marker::kSignalLeave, 1);
    trace_.run(f_reads_, 792, {0x200}).mark(Marker::kSignalLeave, 1);
    trace_.run(g_reads_, 992, {0x300});
    replay();
    EXPECT_EQ(calls(handler_, f_), 1u);
    EXPECT_EQ(calls(main_, g_), 1u);
    EXPECT_EQ(below(handler_, f_)["D1mr"], 1u);
    EXPECT_EQ(self(handler_reads_)["D1mr"], 1u);
}

TEST_F(ReplayTest, AJumpMayLeaveSeveralHandlersAtOnce) {
    Block& jumps = program_.entry(handler_, 0x4010).op().ends(kJump);
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992);
    trace_.mark(Marker::kSignalEnter, 1, 0, 900).run(jumps, 800);
    trace_.mark(Marker::kSignalEnter, 1, 5000, 6000).run(jumps, 5900);
    trace_.run(main_calls_, 1000).run(g_reads_, 992, {0x100});
    replay();
    EXPECT_EQ(calls(main_, g_), 1u);
}

TEST_F(ReplayTest, ReturningFromAHandlerThatWasLeftByAJumpChangesNothing) {
    Block& jumps = program_.entry(handler_, 0x4010).op().ends(kJump);
    trace_.thread(1).run(main_calls_, 1000);
    trace_.mark(Marker::kSignalEnter, 1, 0, 900).run(jumps, 800).run(main_goes_on_, 1000);
    trace_.mark(Marker::kSignalLeave, 1).run(main_calls_, 1000).run(g_reads_, 992, {0x100});
    replay();
    EXPECT_EQ(calls(main_, g_), 1u);
}

TEST_F(ReplayTest, ASignalMayComeBeforeAThreadsFirstBlock) {
    trace_.thread(1).mark(Marker::kSignalEnter, 1, 0, 900).run(handler_reads_, 800, {0x100});
    trace_.mark(Marker::kSignalLeave, 1).run(main_calls_, 1000).run(f_reads_, 992, {0x200});
    replay();
    EXPECT_EQ(calls(main_, f_), 1u);
    EXPECT_EQ(self(handler_reads_)["D1mr"], 1u);
}

// --- What is asked for on the way
// ---------------------------------------------------------------------------------------------------------------

// Two threads do the same: a call that has returned, a jump within main, and a miss.
TEST_F(ReplayTest, AThreadIsZeroedAlone) {
    Block& main_jumps = program_.code(main_, 0x1010).op().ends(kJump);
    for (const Word id : {1, 2}) {
        trace_.thread(id).run(main_calls_, 1000 * id).run(f_returns_, 1000 * id - 8);
        trace_.run(main_jumps, 1000 * id).run(main_reads_, 1000 * id, {0x100 * id});
    }
    const EngineConfig config{.caches = kTinyD1, .separate_threads = true, .collect_jumps = true};
    const auto counts_of = [&](std::uint32_t thread) {
        Events counts = events_of(engine_->totals(thread));
        for (std::uint32_t id = 1; id <= engine_->arcs().size(); ++id) {
            if (engine_->arcs()[ArcId{id}].site.from->context->thread() != thread) continue;
            counts["calls"] += engine_->arcs()[ArcId{id}].calls;
            for (const std::uint64_t cost : engine_->arcs().costs(ArcId{id})) counts["inclusive"] += cost;
        }
        for (const Jump& jump : engine_->jumps()) {
            if (jump.site.from->context->thread() == thread) counts["jumps"] += jump.count;
        }
        std::erase_if(counts, [](const auto& each) { return each.second == 0; });
        return counts;
    };
    const auto replayed = [&] {
        engine_.reset();  // it knows the blocks
        engine_ = std::make_unique<Engine>(config);
        engine_->replay_whole(trace_.all());
        engine_->settle();
    };
    replayed();
    const Events first = counts_of(1);
    const Events second = counts_of(2);
    EXPECT_EQ(second.at("calls"), 1u);
    EXPECT_GT(second.at("inclusive"), 0u);
    EXPECT_GT(second.at("jumps"), 0u);
    EXPECT_EQ(second.at("Ir"), 4u);
    EXPECT_EQ(second.at("D1mr"), 1u);
    engine_->zero(2);
    EXPECT_EQ(counts_of(1), first);
    EXPECT_EQ(counts_of(2), Events{});
    replayed();
    engine_->zero(1);
    EXPECT_EQ(counts_of(1), Events{});
    EXPECT_EQ(counts_of(2), second);
    engine_->zero(0);
    EXPECT_EQ(counts_of(2), Events{});
}

TEST_F(ReplayTest, ASystemCallIsChargedToTheLastInstructionBeforeIt) {
    Block& f_asks = program_.entry(f_, 0x2010).op().op().ends(kJump);
    trace_.thread(1).mark(Marker::kSystemCall, 1, 1000, 100).run(main_calls_, 1000).run(f_asks, 992);
    trace_.mark(Marker::kSystemCall, 1, 70, 30).run(f_returns_, 992).run(main_goes_on_, 1000);
    replay({.caches = kTinyD1, .system_calls = true, .system_cpu_time = true});
    EXPECT_EQ(only(self(f_asks, 0), "Time"), Events{});
    EXPECT_EQ(self(f_asks, 1)["sysCount"], 1u);
    EXPECT_EQ(self(f_asks, 1)["sysTime"], 70u);
    EXPECT_EQ(self(f_asks, 1)["sysCpuTime"], 30u);
    EXPECT_EQ(below(main_, f_)["sysTime"], 70u);
    EXPECT_EQ(events_of(engine_->totals(0))["sysCount"], 1u) << "before its first instruction a thread has none";
}

// Only the outermost of recursive calls is one.
TEST_F(ReplayTest, ACallThatTogglesCollectingDoesSoOnce) {
    f_.triggers.toggle_collect = true;
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992).run(f_returns_, 984).run(f_returns_, 992);
    trace_.run(main_goes_on_, 1000).run(main_goes_on_, 1000);
    replay({.caches = kTinyD1, .cache_sim = false, .collect_at_start = false});
    EXPECT_EQ(events_of(engine_->totals(0)), (Events{{"Ir", 3}}));
    EXPECT_EQ(calls(f_, f_), 1u);
}

TEST_F(ReplayTest, ACallIsInThePartBehindTheDumpThatItAsksFor) {
    f_.triggers.dump_before = true;
    f_.triggers.dump_after = true;
    trace_.thread(1).run(main_calls_, 1000).run(f_calls_, 992).run(f_returns_, 984).run(f_returns_, 992);
    trace_.run(main_goes_on_, 1000);
    engine_ = std::make_unique<Engine>(EngineConfig{.cache_sim = false});
    Batch batch = trace_.all();
    const auto replay_to_dump = [&](RequestKind kind, std::uint64_t instructions, std::uint64_t calls_of_f) {
        batch = batch.subspan(engine_->replay(batch));
        ASSERT_EQ(engine_->requests().size(), 1u);
        EXPECT_EQ(engine_->requests()[0].kind, kind);
        EXPECT_EQ(engine_->requests()[0].function, &f_);
        engine_->clear_requests();
        engine_->settle();
        EXPECT_EQ(engine_->totals(0)[column(Event::kIr)], instructions);
        EXPECT_EQ(calls(main_, f_), calls_of_f);
    };
    replay_to_dump(RequestKind::kDumpBefore, 1, 0);
    replay_to_dump(RequestKind::kDumpAfter, 4, 1);
    engine_->replay_whole(batch);
    engine_->finish();
    EXPECT_EQ(calls(main_, f_), 1u);
    EXPECT_EQ(engine_->totals(0)[column(Event::kIr)], 5u);
    EXPECT_EQ(engine_->blocks_run(), 5u);
}

TEST_F(ReplayTest, ADumpIsAskedForAfterEachSoManyBlocks) {
    trace_.thread(1);
    for (int i = 0; i < 4; ++i) trace_.run(main_reads_, 1000, {0x100}).collect(true).run(main_goes_on_, 1000);
    for (const bool cache_sim : {false, true}) {
        engine_.reset();
        engine_ = std::make_unique<Engine>(EngineConfig{.caches = kTinyD1, .cache_sim = cache_sim, .dump_every = 3});
        std::vector<std::uint64_t> dumped_at;
        for (Batch batch = trace_.all(); !batch.empty(); engine_->clear_requests()) {
            batch = batch.subspan(engine_->replay(batch));
            for (const Request& request : engine_->requests()) {
                EXPECT_EQ(request.kind, RequestKind::kDumpEvery);
                EXPECT_EQ(request.function, nullptr);
                EXPECT_EQ(request.thread, 0u);
                dumped_at.push_back(engine_->blocks_run());
            }
        }
        EXPECT_EQ(dumped_at, (std::vector<std::uint64_t>{3, 6}));
        EXPECT_EQ(engine_->blocks_run(), 8u);
    }
}

// From reads to goes_on; from there it goes straight on.
TEST_F(ReplayTest, JumpsAreCountedWhateverElseIsAskedFor) {
    trace_.thread(1);
    for (int i = 0; i < 5; ++i) trace_.run(main_goes_on_, 1000).run(main_reads_, 1000, {0x100});
    constexpr CacheGeometries kShortLines{.i1 = {1024, 1, 32}, .d1 = {32, 1, 32}, .ll = {1024, 1, 32}};
    for (const EngineConfig& config : {EngineConfig{.caches = kTinyD1, .cache_sim = false, .collect_jumps = true},
                                       EngineConfig{.caches = kTinyD1, .collect_jumps = true},
                                       EngineConfig{.caches = kTinyD1, .cache_use = false, .collect_jumps = true},
                                       EngineConfig{.caches = kShortLines, .collect_jumps = true}}) {
        engine_.reset();
        replay(config);
        ASSERT_EQ(engine_->jumps().size(), 1u);
        EXPECT_EQ(engine_->jumps()[0].site.from->block, &main_reads_);
        EXPECT_EQ(engine_->jumps()[0].target, &main_goes_on_);
        EXPECT_EQ(engine_->jumps()[0].count, 4u);
    }
}

TEST_F(ReplayTest, StacksAreThoseOfThreadsAndTheirHandlers) {
    trace_.thread(1).run(main_calls_, 1000).thread(3).run(f_calls_, 5000);
    trace_.mark(Marker::kSignalEnter, 3, 0, 4800).run(handler_reads_, 4700, {0x100});
    engine_ = std::make_unique<Engine>(EngineConfig{.caches = kTinyD1});
    engine_->replay(trace_.all());
    std::vector<std::pair<std::uint32_t, const Function*>> stacks;
    for (const Engine::Stack& stack : engine_->stacks()) {
        stacks.emplace_back(stack.thread, &stack.execution->context->function());
    }
    EXPECT_EQ(stacks, (decltype(stacks){{1, &main_}, {3, &f_}, {3, &handler_}}));
    EXPECT_EQ(engine_->threads(), std::vector<std::uint32_t>{0}) << "costs are not kept apart by thread";
}

TEST_F(ReplayTest, ThreadsAreOfThePlaceThatCreatedThem) {
    trace_.thread(1).run(main_calls_, 1000).mark(Marker::kThreadCreate, 1, 6).run(f_calls_, 992);
    for (const Word id : {2, 3, 5}) trace_.mark(Marker::kThreadCreate, 1, id);
    for (const Word id : {2, 3, 6}) trace_.thread(id).run(g_reads_, 1000 * id, {0x100});
    trace_.mark(Marker::kThreadEnd, 3).thread(5);  // which has not run yet
    // Nobody knows who created these.
    for (const Word id : {4, 7, 9}) trace_.thread(id).run(g_reads_, 1000 * id, {0x100});
    engine_ = std::make_unique<Engine>(EngineConfig{.caches = kTinyD1});
    engine_->replay_whole(trace_.all());
    const std::vector<ThreadOrigin> origins = engine_->thread_origins();
    ASSERT_EQ(origins.size(), 2u);
    for (const ThreadOrigin& origin : origins) {
        EXPECT_EQ(&origin.root->function(), &g_);
        ASSERT_FALSE(origin.creators.empty());
        EXPECT_EQ(&origin.creators.front()->function(), &main_);
        const bool from_f = &origin.creators.back()->function() == &f_;
        EXPECT_EQ(origin.creators.size(), from_f ? 2u : 1u);
        EXPECT_EQ(origin.threads, from_f ? 2u : 1u);
    }
}

// --- The end, and the numbers about the engine itself
// ---------------------------------------------------------------

TEST_F(ReplayTest, AnEmptyTraceCostsNothing) {
    replay();
    EXPECT_EQ(engine_->arcs().size(), 0u);
    EXPECT_EQ(engine_->stats().tree.made, 0u);
    EXPECT_EQ(engine_->stats().tree.most_live, 0u);
    EXPECT_EQ(engine_->stats().average_nodes, 0);
}

TEST_F(ReplayTest, StatsCountNodesCallsAndArcs) {
    trace_.thread(1);
    for (int i = 0; i < 5; ++i) trace_.run(main_calls_, 1000).run(f_returns_, 992);
    trace_.run(main_calls_, 1000).run(g_reads_, 992, {0x100});
    replay();
    const EngineStats stats = engine_->stats();
    EXPECT_EQ(stats.arcs, 2u);
    EXPECT_EQ(stats.calls, 6u);
    // The root, f for the line of its code, and g. The last four calls of f load nothing.
    EXPECT_EQ(stats.tree.made, 3u);
    EXPECT_EQ(stats.tree.most_live, 3u);
    EXPECT_EQ(stats.tree.live, 0u);
    // When main's line is loaded into both levels there is the root; then for f's 1 and 2, for g's 2 and 3, for its
    // data 3.
    EXPECT_DOUBLE_EQ(stats.average_nodes, (1 + 1 + 1 + 2 + 2 + 3 + 3 + 3) / 8.0);
}

TEST_F(ReplayTest, AForkedChildCountsFromTheForkAndWhatItHasLoadedItself) {
    // Thread 2 is gone in the child. f is still open in thread 1, and line 0x100 still cached.
    Block& f_begins = program_.entry(f_, 0x2010).op().reads(8).ends(kJump);
    trace_.thread(2).run(main_reads_, 5000, {0x300}).thread(1).run(main_calls_, 1000).run(f_begins, 992, {0x100});
    engine_ = std::make_unique<Engine>(EngineConfig{.caches = kTinyD1});
    engine_->replay(trace_.all());
    engine_->start_in_child(1);
    EXPECT_EQ(events_of(engine_->totals(0)), Events{});

    // The child reads another line, which drives the parent's out of D1.
    trace_ = Trace();
    trace_.thread(1).run(f_calls_, 992).run(g_reads_, 984, {0x200});
    engine_->replay(trace_.all());
    engine_->finish();
    EXPECT_EQ(calls(main_, f_), 0u);
    EXPECT_EQ(calls(f_, g_), 1u);
    EXPECT_EQ(below(main_, f_)["Ir"], 2u);
    EXPECT_EQ(below(f_, g_)["EvLine1"], 2u) << "its code and 0x200";
    EXPECT_EQ(events_of(engine_->totals(0))["D1mr"], 1u);
    EXPECT_EQ(events_of(engine_->totals(0))["EvLine1"], 2u);
    EXPECT_EQ(events_of(engine_->totals(0))["EvLine2"], 2u);
}

TEST_F(ReplayTest, AForkedChildGoesOnInTheThreadThatForked) {
    trace_.thread(2).run(main_reads_, 5000, {0x300}).thread(1).run(main_calls_, 1000);
    engine_ = std::make_unique<Engine>(EngineConfig{.caches = kTinyD1});
    engine_->replay(trace_.all());
    engine_->start_in_child(1);
    trace_ = Trace();
    trace_.run(f_reads_, 992, {0x100});
    engine_->replay(trace_.all());
    engine_->finish();
    EXPECT_EQ(calls(main_, f_), 1u);
}

TEST_F(ReplayTest, ABlockOfNoThreadFailsACheck) {
    trace_.run(main_goes_on_, 1000);
    EXPECT_DEATH(replay(), "current");
}

TEST_F(ReplayTest, EventsFollowTheConfiguration) {
    const auto width = [](bool cache_sim, bool cache_use) {
        return EngineConfig{.caches = kTinyD1, .cache_sim = cache_sim, .cache_use = cache_use}
            .events()
            .width();
    };
    EXPECT_EQ(width(true, true), column(Event::kAccessDL) + 1);
    EXPECT_EQ(width(true, false), column(Event::kDLmw) + 1);
    EXPECT_EQ(width(false, true), column(Event::kDw) + 1);
    EXPECT_EQ(width(false, false), column(Event::kDw) + 1);
}

TEST_F(ReplayTest, WhatCostsTimeIsOffUnlessItIsAskedFor) {
    const EngineConfig config;
    EXPECT_FALSE(config.separate_threads || config.write_back || config.prefetch || config.branch_sim ||
                 config.collect_jumps || config.bus_events || config.system_calls || config.system_cpu_time ||
                 config.context_tree || config.objects);
    EXPECT_EQ(config.dump_every, 0u);
}

// Without caches there is nothing to do in advance.
TEST_F(ReplayTest, WithoutCachesNothingIsDoneAhead) {
    trace_.thread(1).run(main_calls_, 1000);
    Engine engine({.caches = kTinyD1, .cache_sim = false});
    engine.announce(trace_.all());
    EXPECT_FALSE(engine.advance());
    EXPECT_FALSE(engine.is_supplied());
}

// What an engine notes about blocks and functions would be mixed up with another's.
TEST_F(ReplayTest, TwoEnginesAtOnceOnTheSameBlocksFailACheck) {
    trace_.thread(1).run(main_calls_, 1000);
    Engine first({.caches = kTinyD1});
    first.replay(trace_.all());
    EXPECT_DEATH(replay(), "may_know");
}

// Sums of what blocks do are kept short for a while; no batch may be too long for that.
TEST_F(ReplayTest, ABatchMayBeOfAnyLength) {
    constexpr std::uint32_t kLong = 60000;
    constexpr std::uint64_t kTimes = 90000;
    auto code = program_.code(f_, 0x10000);
    for (std::uint32_t i = 0; i < kLong; ++i) code.op(1);
    Block& long_block = code.ends();
    trace_.thread(1).run(main_calls_, 1000);
    for (std::uint64_t i = 0; i < kTimes; ++i) trace_.run(long_block, 992);
    replay({.caches = kTinyD1, .cache_sim = false});
    EXPECT_EQ(below(main_, f_)["Ir"], kTimes * kLong);
    EXPECT_GT(kTimes * kLong, std::uint64_t{1} << 32);
}

}  // namespace
}  // namespace bd
