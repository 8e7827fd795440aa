// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads beside each other: what is put out is what was taken, with marks where they meet.

#include "engine/sharing/virtual_order.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>

#include "engine/replay/engine.h"
#include "program.h"
#include "replay_fixture.h"

namespace bd {
namespace {

using enum JumpKind;
using test::Program;
using test::Trace;
using Words = std::vector<Word>;

constexpr std::size_t kRoom = 1024;

// What there is to be put out.
Words put_out(VirtualOrder* order, std::size_t most = kRoom, bool may_lend = false) {
    Words all;
    Words some(most);
    for (;;) {
        const Batch batch = order->put_out(some.data(), most, may_lend);
        if (batch.empty()) return all;
        all.insert(all.end(), batch.begin(), batch.end());
    }
}

bool is_mark(Word first) {
    return first == marker_word(Marker::kCoherence) || first == marker_word(Marker::kCoreUse);
}

// Without marks.
Words unmarked(const Words& words) {
    Words others;
    for (std::size_t at = 0; at < words.size(); at += record_words(words[at])) {
        if (is_mark(words[at])) continue;
        const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
        others.insert(others.end(), begin, begin + static_cast<std::ptrdiff_t>(record_words(words[at])));
    }
    return others;
}

std::vector<CoherenceMark> marks_of(const Words& words) {
    std::vector<CoherenceMark> marks;
    for (std::size_t at = 0; at < words.size(); at += record_words(words[at])) {
        if (words[at] != marker_word(Marker::kCoherence)) continue;
        marks.push_back(CoherenceMark::of(std::span(words).subspan(at + 1, kMarkerValues)));
    }
    return marks;
}

std::ptrdiff_t transfers(const Words& words) {
    return std::ranges::count_if(marks_of(words), &CoherenceMark::transferred);
}

class VirtualOrderTest : public testing::Test {
protected:
    // Two threads that count `times` in memory at 0x1000 and `second`: main has created the other one, and Valgrind
    // runs it when main is done.
    Words counters(const OrderRules& rules, Address second, int times = 1000) {
        Trace trace;
        trace.thread(1).run(adds_, 1000, {0x9000}).mark(Marker::kThreadCreate, 1, 2);
        for (int i = 0; i < times; ++i) trace.run(adds_, 1000, {0x1000});
        trace.thread(2);
        for (int i = 0; i < times; ++i) trace.run(adds_, 2000, {second});
        VirtualOrder order(rules);
        order.take(trace.all());
        order.settle();
        Words words = put_out(&order);
        EXPECT_EQ(unmarked(words), Words(trace.all().begin(), trace.all().end()));
        return words;
    }

    Program program_;
    const Function& function_ = program_.function("f");
    Block& adds_ = program_.entry(function_, 0x1000).op().op().modifies(8).ends(JumpKind::kJump);
    Block& reads_ = program_.entry(function_, 0x2000).op().reads(8).ends(JumpKind::kJump);
};

// Of two cores; thread 2 is on the other one for half of the time.
TEST_F(VirtualOrderTest, AThreadRunsOnTheOnlyProcessorThatItMayUse) {
    Trace trace;
    trace.thread(1).run(adds_, 1000, {0x9000}).mark(Marker::kThreadCreate, 1, 2);
    for (int round = 0; round < 100; ++round) {
        trace.mark(Marker::kThread, 2, round < 50 ? 1 + 1 : 1 + 4).run(adds_, 1000, {0x1008});
        trace.mark(Marker::kThread, 1, 1 + 2).run(adds_, 1000, {0x1000});
    }
    VirtualOrder order({.cores = 2, .is_virtual = false});
    order.take(trace.all());
    order.settle();
    std::array<int, 2> transfers{};
    for (const CoherenceMark& mark : marks_of(put_out(&order))) transfers.at(mark.core) += mark.transferred;
    EXPECT_EQ(transfers, (std::array{50, 49})) << "the first access finds the line nowhere";
}

// While records wait to be put out, a hundred long pieces take 2.4 MB; then, as many short ones take what they need.
TEST_F(VirtualOrderTest, ShortPiecesDoNotKeepTheMemoryOfLongOnes) {
    VirtualOrder order({.is_virtual = false});
    const auto take_pieces = [&](int records) {
        Trace trace;
        trace.thread(1).mark(Marker::kThreadCreate, 1, 2);
        for (std::uint32_t piece = 0; piece < 100; ++piece) {
            trace.thread(1 + piece % 2);
            for (int i = 0; i < records; ++i) trace.run(adds_, 1000, {0x1000});
        }
        order.take(trace.all());
    };
    const std::size_t before = ::mallinfo2().uordblks;
    take_pieces(1000);
    const std::size_t of_long_pieces = ::mallinfo2().uordblks - before;
    put_out(&order);
    take_pieces(1);
    EXPECT_LE(::mallinfo2().uordblks - before, of_long_pieces / 8);
    put_out(&order);
}

// 2,000 instructions of each thread: 40 slices in turn, and each but the first takes the line from the other.
TEST_F(VirtualOrderTest, CountersInOneLineGoBackAndForthWithEachSlice) {
    EXPECT_EQ(transfers(counters({.slice = 100}, 0x1008)), 2 * 2000 / 100 - 1);
    EXPECT_EQ(transfers(counters({.slice = 10}, 0x1008)), 2 * 2000 / 10 - 1);
    EXPECT_EQ(transfers(counters({.slice = 100}, 0x1000)), 2 * 2000 / 100 - 1);
}

TEST_F(VirtualOrderTest, CountersInTwoLinesDoNot) {
    EXPECT_EQ(marks_of(counters({.slice = 100}, 0x1040)).size(), 0u);
}

TEST_F(VirtualOrderTest, LinesAreThoseOfTheCache) {
    EXPECT_EQ(marks_of(counters({.slice = 100, .line_bits = 5}, 0x1020)).size(), 0u);
    EXPECT_EQ(transfers(counters({.slice = 100, .line_bits = 6}, 0x1020)), 39);
}

TEST_F(VirtualOrderTest, InValgrindsOrderALineGoesOverOnce) {
    EXPECT_EQ(transfers(counters({.slice = 100, .is_virtual = false}, 0x1008)), 1);
}

TEST_F(VirtualOrderTest, ThreadsOfOneCoreShareItsCache) {
    EXPECT_EQ(marks_of(counters({.cores = 1, .slice = 100}, 0x1008)).size(), 0u);
}

TEST_F(VirtualOrderTest, WhatOneThreadDoesAloneCountsForNoCore) {
    Trace trace;
    trace.thread(1);
    for (int i = 0; i < 100; ++i) trace.run(adds_, 1000, {0x1000 + 8 * static_cast<Address>(i)});
    trace.mark(Marker::kThreadCreate, 1, 2).thread(2).run(reads_, 2000, {0x1000});
    VirtualOrder order({});
    order.take(trace.all());
    order.settle();
    EXPECT_TRUE(marks_of(put_out(&order)).empty());
}

// The second thread runs beside the first from where it was created, and not before.
TEST_F(VirtualOrderTest, AThreadBeginsWhereItIsCreated) {
    Trace trace;
    trace.thread(1).mark(Marker::kThreadCreate, 1, 3);
    for (int i = 0; i < 100; ++i) trace.run(adds_, 1000, {0x1000});
    trace.mark(Marker::kThreadCreate, 1, 2);
    for (int i = 0; i < 100; ++i) trace.run(adds_, 1000, {0x9000});
    trace.thread(2);
    for (int i = 0; i < 100; ++i) trace.run(adds_, 2000, {0x1000});
    VirtualOrder order({.slice = 20});
    order.take(trace.all());
    order.settle();
    EXPECT_EQ(transfers(put_out(&order)), 1) << "all of the first thread's counting comes before";
}

// What a thread did before it let others go on comes before what these do then; the rest is free.
TEST_F(VirtualOrderTest, WhoHasWaitedComesAfterWhatWasReleased) {
    Trace before;
    before.thread(1).mark(Marker::kThreadCreate, 1, 2);
    before.thread(2).run(reads_, 2000, {0x8000});
    Trace released;
    released.thread(1);
    for (int i = 0; i < 100; ++i) released.run(adds_, 1000, {0x1000});
    Trace beside;
    for (int i = 0; i < 100; ++i) beside.run(adds_, 1000, {0x2000});
    Trace after;
    after.thread(2);
    for (int i = 0; i < 100; ++i) after.run(adds_, 2000, {0x1008});
    for (int i = 0; i < 100; ++i) after.run(adds_, 2000, {0x2008});
    VirtualOrder order({.slice = 20});
    order.take(before.all());
    order.release(2);
    order.take(released.all());
    order.release(1);
    order.acquire(1, false);
    order.take(beside.all());
    order.acquire(2, true);
    order.take(after.all());
    order.settle();
    // The line at 0x1000 goes over once. The first thread is done with its second loop when the other begins its own.
    EXPECT_EQ(transfers(put_out(&order)), 2);
}

// The same where it is known who wakes whom: what the waker does later on is beside what was woken.
TEST_F(VirtualOrderTest, WhoIsWokenComesAfterTheWakerAndBesideTheRest) {
    for (const bool is_woken : {true, false}) {
        Trace before;
        before.thread(1).mark(Marker::kThreadCreate, 1, 2);
        before.thread(2).run(reads_, 2000, {0x8000});
        Trace waker;
        waker.thread(1);
        for (int i = 0; i < 100; ++i) waker.run(adds_, 1000, {0x1000});
        Trace beside;
        for (int i = 0; i < 100; ++i) beside.run(adds_, 1000, {0x2000});
        Trace after;
        after.thread(2);
        for (int i = 0; i < 100; ++i) after.run(adds_, 2000, {0x2008});
        after.run(adds_, 2000, {0x1008});
        VirtualOrder order({.slice = 20});
        order.take(before.all());
        order.begin_wait(2, 0x7000);
        order.take(waker.all());
        order.wake(0x7008, 5);
        if (is_woken) order.wake(0x7000, 1);
        order.take(beside.all());
        order.wake(0x7000, is_woken ? 1 : 0);  // no thread is left
        order.end_wait(2);
        order.take(after.all());
        order.settle();
        const Words words = put_out(&order);
        // 20 slices side by side; if it is not woken, its loop is beside the waker's first one.
        if (is_woken) {
            EXPECT_GE(transfers(words), 18);
        } else {
            EXPECT_LE(transfers(words), 3);
        }
    }
}

TEST_F(VirtualOrderTest, WhoWaitsForTheEndOfAThreadComesAfterIt) {
    Trace before;
    before.thread(1).mark(Marker::kThreadCreate, 1, 2);
    Trace other;
    other.thread(2);
    for (int i = 0; i < 100; ++i) other.run(adds_, 2000, {0x1008});
    other.mark(Marker::kThreadEnd, 2);
    Trace after;
    after.thread(1);
    for (int i = 0; i < 100; ++i) after.run(adds_, 1000, {0x1000});
    VirtualOrder order({.slice = 20});
    order.take(before.all());
    order.begin_wait(1, 0x7000);
    order.take(other.all());
    order.end_wait(1);
    order.take(after.all());
    order.settle();
    EXPECT_EQ(transfers(put_out(&order)), 1);
}

TEST_F(VirtualOrderTest, NothingIsPutOutBeforeEachThreadThatCanRunIsKnown) {
    Trace first;
    first.thread(1).mark(Marker::kThreadCreate, 1, 2);
    for (int i = 0; i < 100; ++i) first.run(adds_, 1000, {0x1000});
    Trace second;
    second.thread(2);
    for (int i = 0; i < 100; ++i) second.run(adds_, 2000, {0x1008});
    VirtualOrder order({.slice = 20});
    order.take(first.all());
    EXPECT_EQ(put_out(&order).size(), 4u) << "what came before there were two threads";
    order.take(second.all());
    EXPECT_GT(put_out(&order).size(), 300u);
}

// Also before it has been woken in earnest.
TEST_F(VirtualOrderTest, AThreadThatHasBeenWokenIsWaitedFor) {
    Trace before;
    before.thread(1).mark(Marker::kThreadCreate, 1, 2).thread(2);
    Trace waker;
    waker.thread(1);
    for (int i = 0; i < 100; ++i) waker.run(adds_, 1000, {0x1000});
    VirtualOrder order({.slice = 20});
    order.take(before.all());
    order.begin_wait(2, 0x7000);
    order.take(waker.all());
    EXPECT_GT(put_out(&order).size(), 300u) << "no other thread can run";
    order.wake(0x7000, 1);
    order.take(waker.all());
    EXPECT_EQ(put_out(&order).size(), 0u);
}

TEST_F(VirtualOrderTest, NoMoreWaitsThanMay) {
    VirtualOrder order({.slice = 20, .most_waiting = 1000});
    Trace trace;
    trace.thread(1).mark(Marker::kThreadCreate, 1, 2);
    order.take(trace.all());
    std::size_t taken = 0;
    std::size_t out = 0;
    for (int i = 0; i < 100; ++i) {
        Trace more;
        for (int j = 0; j < 20; ++j) more.run(adds_, 1000, {0x1000});
        order.take(more.all());
        taken += more.all().size();
        out += put_out(&order).size();
        EXPECT_LT(taken, out + 2 * 1000 + 100);
    }
}

// Of whatever threads do, wherever it is cut, and however little there is room for.
TEST_F(VirtualOrderTest, WhatIsPutOutIsWhatWasTaken) {
    std::mt19937 random(36);
    const auto below = [&random](unsigned limit) { return static_cast<unsigned>(random() % limit); };
    std::size_t marks = 0;
    for (int run = 0; run < 200; ++run) {
        Words taken;
        Words out;
        VirtualOrder order({.cores = 1 + below(5), .slice = 1 + below(50), .is_virtual = below(4) != 0});
        const std::size_t room = 16 + below(100);
        const unsigned threads = 1 + below(5);
        for (int part = 0; part < 20; ++part) {
            Trace trace;
            const unsigned thread = 1 + below(threads);
            trace.thread(thread);
            if (below(3) == 0) trace.mark(Marker::kThreadCreate, thread, 1 + below(threads));
            for (unsigned i = below(40); i != 0; --i) {
                const Address address = 0x1000 + 8 * below(32);
                if (below(20) == 0) trace.mark_with(Marker::kFreed, {0x5000});
                trace.run(below(2) == 0 ? adds_ : reads_, 1000, {address});
            }
            if (below(5) == 0) trace.mark(Marker::kSignalEnter, thread);
            if (below(9) == 0) trace.mark(Marker::kThreadEnd, thread);
            order.take(trace.all());
            taken.insert(taken.end(), trace.all().begin(), trace.all().end());
            if (below(3) == 0) order.release(1 + below(threads));
            if (below(3) == 0) order.acquire(1 + below(threads), below(2) == 0);
            if (below(3) == 0) order.begin_wait(1 + below(threads), 0x100 * (1 + below(2)));
            if (below(3) == 0) order.wake(0x100 * (1 + below(2)), 1 + below(2));
            if (below(3) == 0) order.end_wait(1 + below(threads));
            if (below(5) == 0) order.settle();
            const Words some = put_out(&order, room);
            out.insert(out.end(), some.begin(), some.end());
        }
        order.settle();
        const Words rest = put_out(&order, room);
        out.insert(out.end(), rest.begin(), rest.end());
        ASSERT_EQ(unmarked(out), taken) << run;
        marks += marks_of(out).size();
    }
    EXPECT_GT(marks, 1000u);
}

// Long and short pieces, in buffers or copied, put out where they are or copied: the same.
TEST_F(VirtualOrderTest, BuffersAndWhatIsLentAreAsCopies) {
    std::mt19937 random(37);
    const auto below = [&random](unsigned limit) { return static_cast<unsigned>(random() % limit); };
    constexpr std::size_t kBufferWords = 4096;
    std::size_t marks = 0;
    for (int run = 0; run < 150; ++run) {
        const OrderRules rules{.cores = 3, .slice = 1 + below(500), .is_virtual = below(4) != 0};
        VirtualOrder copying(rules);
        VirtualOrder lending(rules);
        Words copied;
        Words lent;
        for (int part = 0; part < 20; ++part) {
            Trace head;
            Trace body;
            const unsigned thread = 1 + below(3);
            head.thread(thread);
            if (part == 0) head.mark(Marker::kThreadCreate, thread, 1 + thread % 3);
            const unsigned records = 1 + (below(2) == 0 ? below(40) : 600 + below(600));
            for (unsigned i = 0; i < records; ++i) {
                const Address address = below(400) == 0 ? 0x1000 + 8 * below(32) : 0x10000 * thread + 8 * below(64);
                body.run(below(2) == 0 ? adds_ : reads_, 1000, {address});
            }
            for (VirtualOrder* order : {&copying, &lending}) order->take(head.all());
            copying.take(body.all(), below(2) == 0);
            if (below(3) == 0) {
                lending.take(body.all(), true);
            } else {
                ASSERT_LE(body.all().size(), kBufferWords);
                std::ranges::copy(body.all(), lending.buffer(kBufferWords));
                lending.take_buffer(body.all().size());
            }
            if (below(3) == 0) continue;
            for (const Word word : put_out(&copying)) copied.push_back(word);
            for (const Word word : put_out(&lending, kRoom, true)) lent.push_back(word);
        }
        copying.settle();
        lending.settle();
        for (const Word word : put_out(&copying)) copied.push_back(word);
        for (const Word word : put_out(&lending, kRoom, true)) lent.push_back(word);
        ASSERT_EQ(lent, copied) << run;
        marks += marks_of(lent).size();
    }
    EXPECT_GT(marks, 1000u);
}

TEST_F(VirtualOrderTest, WhatIsLentStaysUntilMoreIsPutOut) {
    VirtualOrder order({});
    Trace trace;
    trace.thread(1);
    order.take(trace.all());
    Words some(kRoom);
    const Word* const first = order.buffer(kRoom * 4);
    for (int round = 0; round < 3; ++round) {
        Trace body;
        for (int i = 0; i < 1000; ++i) body.run(adds_, 1000, {0x1000});
        std::ranges::copy(body.all(), order.buffer(kRoom * 4));
        order.take_buffer(body.all().size());
        if (round == 0) {
            EXPECT_EQ(order.put_out(some.data(), kRoom, true).data(), some.data()) << "a short piece";
        }
        const Batch lent = order.put_out(some.data(), kRoom, true);
        EXPECT_EQ(lent.data() == first, round != 1) << "two buffers in turn";
        EXPECT_TRUE(std::ranges::equal(lent, body.all()));
        EXPECT_NE(order.buffer(kRoom * 4), lent.data());
    }
}

// --- With the engine

class SharingReplayTest : public test::ReplayTest {
protected:
    // The trace, through the order of threads.
    void replay_ordered(EngineConfig config, const OrderRules& rules = {.slice = 10}) {
        VirtualOrder order(rules);
        order.take(trace_.all());
        order.settle();
        const Words words = put_out(&order, 1 << 20);
        config.cores = kMostCores;
        engine_ = std::make_unique<Engine>(config);
        engine_->replay_whole(words);
        engine_->finish();
    }
    void count_in_two_threads() {
        trace_.thread(1).run(main_calls_, 1000).mark(Marker::kThreadCreate, 1, 2).run(f_counts_, 992, {0x1000});
        trace_.thread(2).run(main_calls_, 5000).run(g_counts_, 4992, {0x1008});
        for (int i = 0; i < 100; ++i) trace_.run(g_goes_on_, 4992, {0x1008});
        trace_.thread(1);
        for (int i = 0; i < 100; ++i) trace_.run(f_goes_on_, 992, {0x1000});
    }

    Block& f_counts_ = program_.entry(f_, 0x5000).op().modifies(8).ends(kJump);
    Block& f_goes_on_ = program_.code(f_, 0x5100).op().modifies(8).ends(kJump);
    Block& g_counts_ = program_.entry(g_, 0x6000).op().modifies(8).ends(kJump);
    Block& g_goes_on_ = program_.code(g_, 0x6100).op().modifies(8).ends(kJump);
};

TEST_F(SharingReplayTest, TransfersAreChargedToWhoSuffersThemAndToCallsThatAreOpen) {
    count_in_two_threads();
    replay_ordered({.caches = test::kTinyD1});
    const auto f = self(f_goes_on_);
    const auto g = self(g_goes_on_);
    EXPECT_GE(f.at("Xferw"), 9u);
    EXPECT_GE(g.at("Xferw"), 9u);
    EXPECT_EQ(f.count("Xferr"), 0u);
    EXPECT_EQ(f.at("Inval"), f.at("Xferw")) << "each takes the only copy";
    EXPECT_EQ(below(main_, f_)["Xferw"], self(f_counts_)["Xferw"] + f.at("Xferw"));
    EXPECT_EQ(below(main_, g_)["Lost"], self(g_counts_)["Lost"] + g.at("Lost"));
}

// As all share one set of caches then.
TEST_F(SharingReplayTest, AskedWhyAllElseIsAsWithoutCores) {
    count_in_two_threads();
    replay_ordered({.caches = test::kTinyD1, .why = true});
    std::vector<test::Events> with;
    for (Block* block : {&f_goes_on_, &g_goes_on_, &f_counts_, &g_counts_}) with.push_back(self(*block));
    replay({.caches = test::kTinyD1, .why = true});
    std::size_t at = 0;
    for (Block* block : {&f_goes_on_, &g_goes_on_, &f_counts_, &g_counts_}) {
        for (const char* name : {"Xferr", "Xferw", "Lost", "Inval"}) with[at].erase(name);
        EXPECT_EQ(with[at++], self(*block));
    }
}

TEST_F(SharingReplayTest, TheTableAndTheRestAddUpToTheEvents) {
    count_in_two_threads();
    replay_ordered({.caches = test::kTinyD1});
    const Sharing& sharing = *engine_->sharing();
    SharingCounts sum = sharing.rest();
    for (const SharedAccess& access : sharing.accesses()) sum.add(access.counts);
    const std::vector<std::uint64_t> totals = engine_->totals(0);
    EXPECT_EQ(sum.reads, totals[column(Event::kXferr)]);
    EXPECT_EQ(sum.writes, totals[column(Event::kXferw)]);
    EXPECT_EQ(sum.lost, totals[column(Event::kLost)]);
    EXPECT_EQ(sum.invalidated, totals[column(Event::kInval)]);
    ASSERT_EQ(sharing.lines().size(), 1u);
    const SharedLine& line = sharing.lines()[0];
    EXPECT_EQ(line.line, LineNumber{0x1000 / 64});
    ASSERT_EQ(line.cores.size(), 2u);
    std::uint64_t all_bytes = 0;
    for (const CoreUse& use : line.cores) {
        EXPECT_EQ(use.written, use.core == 0 ? 0xffu : 0xff00u);
        EXPECT_EQ(use.kinds[static_cast<std::size_t>(SharingKind::kTrue)], 0u);
        EXPECT_EQ(use.kinds[static_cast<std::size_t>(SharingKind::kMigrating)], 0u);
        EXPECT_GE(use.kinds[static_cast<std::size_t>(SharingKind::kFalse)], 5u);
        all_bytes |= use.written;
    }
    EXPECT_EQ(all_bytes, 0xffffu);
    engine_->zero(0);
    EXPECT_EQ(sharing.rest(), SharingCounts{});
}

TEST_F(SharingReplayTest, OneThreadHasNothingToShare) {
    trace_.thread(1).run(main_calls_, 1000).run(f_counts_, 992, {0x1000});
    for (int i = 0; i < 100; ++i) trace_.run(f_goes_on_, 992, {0x1000});
    replay_ordered({.caches = test::kTinyD1});
    for (const Event event : {Event::kXferr, Event::kXferw, Event::kLost, Event::kInval}) {
        EXPECT_EQ(engine_->totals(0)[column(event)], 0u);
    }
    EXPECT_TRUE(engine_->sharing()->lines().empty());
}

// A trace from elsewhere may say anything.
TEST_F(SharingReplayTest, MarksThatMakeNoSenseAreLeftOut) {
    const Word most = ~Word{0};
    trace_.mark(Marker::kCoherence, most, most, most).mark(Marker::kCoreUse, most, most, most);
    trace_.thread(1).mark(Marker::kCoherence, 0, 0x1000, 8).run(main_calls_, 1000);
    trace_.mark(Marker::kCoherence, most, most, most).mark(Marker::kCoreUse, most, most, most);
    EngineConfig config{.caches = test::kTinyD1};
    config.cores = 2;
    replay(config);
    EXPECT_EQ(engine_->totals(0)[column(Event::kInval)], 0u);
}

}  // namespace
}  // namespace bd
