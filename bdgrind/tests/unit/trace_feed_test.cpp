// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whatever happens on the way: the engine gets what has been written, all of it, once, and in that order.

#include "tool/trace_feed.h"

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "choice.h"
#include "runs.h"

namespace bd {
namespace {

using FeedWords = std::vector<Word>;

// A machine without Valgrind, whose engine's thread does nothing before it is waited for. So a slot that is filled
// again too early has other words in it then.
struct FeedMachine {
    FeedWords replayed;
    FeedWords recorded;
    TraceCursor in_code{};
    std::deque<Batch> submitted;
    std::vector<std::unique_ptr<FeedWords>> memory;
    unsigned slots_left = ~0u;
    unsigned starts = 0;
    bool has_thread = true;
    bool fails = false;

    void replay(Batch batch) {
        EXPECT_FALSE(batch.empty()) << "no chunk begins there";
        replayed.insert(replayed.end(), batch.begin(), batch.end());
    }
};

struct FeedHost {
    static constexpr std::size_t kBatchWords = 16;
    static constexpr std::size_t kLongestRecord = 9;
    static constexpr std::size_t kSlotWords = kBatchWords + kLongestRecord + 2 * kMarkerWords;
    static constexpr unsigned kSlots = 3;

    FeedMachine* machine = nullptr;

    Word* memory() const {
        if (machine->slots_left == 0) return nullptr;
        --machine->slots_left;
        return machine->memory.emplace_back(std::make_unique<FeedWords>(kSlotWords))->data();
    }
    void lend(std::uint32_t, TraceCursor cursor) const { machine->in_code = cursor; }
    TraceCursor lent(std::uint32_t) const { return machine->in_code; }
    void record(Batch batch) const {
        machine->recorded.insert(machine->recorded.end(), batch.begin(), batch.end());
    }
    void replay(Batch batch) const {
        EXPECT_TRUE(machine->submitted.empty()) << "only one of them may run the engine";
        machine->replay(batch);
    }
    bool start_threads() const {
        ++machine->starts;
        return machine->has_thread;
    }
    void submit(Batch batch) const { machine->submitted.push_back(batch); }
    void wait(unsigned count) const {
        for (; machine->submitted.size() > count; machine->submitted.pop_front()) {
            machine->replay(machine->submitted.front());
        }
    }
    bool threads_fail() const { return machine->fails; }
    void stop_threads() const { wait(0); }
    void forget_threads() const { EXPECT_TRUE(machine->submitted.empty()) << "the parent has drained the trace"; }
};

class TraceFeedTest : public testing::Test {
protected:
    void start(bool may_have_thread, VirtualOrder* order = nullptr) {
        feed_.start(first_.data(), order, may_have_thread);
    }

    // As a block does: asks for room before its record if it has to, and writes so many words.
    void run_block(std::size_t words) {
        if (machine_.in_code.next > machine_.in_code.limit) feed_.pass_on();
        for (std::size_t i = 0; i < words; ++i) *machine_.in_code.next++ = note(next_++);
    }
    void run_code(unsigned blocks, std::size_t words = 5) {
        feed_.enter_code(1);
        for (unsigned i = 0; i < blocks; ++i) run_block(words);
        feed_.leave_code();
    }
    void append_marker(Marker marker, Word value) {
        const std::array<Word, kMarkerWords> record{note(marker_word(marker)), note(value), note(0), note(0)};
        feed_.append(record);
    }
    Word note(Word word) { return written_.emplace_back(word); }
    void expect_all_replayed() {
        EXPECT_EQ(machine_.replayed, written_);
        EXPECT_EQ(machine_.recorded, written_);
    }

    FeedMachine machine_;
    FeedWords first_ = FeedWords(FeedHost::kSlotWords);
    FeedWords written_;
    Word next_ = 1;
    TraceFeed<FeedHost> feed_{FeedHost{&machine_}};
};

TEST_F(TraceFeedTest, AThreadIsStartedWithTheFirstBatchThatIsFull) {
    start(true);
    run_code(3);
    EXPECT_EQ(machine_.starts, 0u);
    run_code(2);
    EXPECT_EQ(machine_.starts, 1u);
    EXPECT_TRUE(feed_.is_apart());
    EXPECT_EQ(machine_.submitted.size(), 1u);
    feed_.drain();
    expect_all_replayed();
}

TEST_F(TraceFeedTest, WithoutAThreadTheEngineRunsHere) {
    start(false);
    run_code(20);
    EXPECT_EQ(machine_.starts, 0u);
    EXPECT_GT(machine_.replayed.size(), 0u);
    feed_.drain();
    expect_all_replayed();
}

TEST_F(TraceFeedTest, AThreadThatCannotBeStartedIsNotAskedForAgain) {
    machine_.has_thread = false;
    start(true);
    run_code(20);
    EXPECT_EQ(machine_.starts, 1u);
    EXPECT_FALSE(feed_.is_apart());
}

TEST_F(TraceFeedTest, AThreadThatFailsIsNotStartedAgain) {
    start(true);
    run_code(8);
    ASSERT_TRUE(feed_.is_apart());
    machine_.fails = true;
    run_code(8);
    EXPECT_FALSE(feed_.is_apart());
    machine_.fails = false;
    run_code(8);
    EXPECT_FALSE(feed_.is_apart());
    feed_.drain();
    expect_all_replayed();
}

TEST_F(TraceFeedTest, ItIsStartedAgainWhenTheLastHoldHasGone) {
    start(true);
    run_code(8);
    feed_.hold_threads();
    feed_.hold_threads();
    EXPECT_FALSE(feed_.is_apart());
    feed_.unhold_threads();
    run_code(8);
    EXPECT_FALSE(feed_.is_apart());
    feed_.unhold_threads();
    run_code(8);
    EXPECT_TRUE(feed_.is_apart());
    feed_.drain();
    expect_all_replayed();
}

TEST_F(TraceFeedTest, WhatIsDrainedWithinABlockIsNotPassedOnAgain) {
    start(true);
    feed_.enter_code(7);
    run_block(3);
    feed_.drain();
    EXPECT_TRUE(feed_.is_code_running());
    EXPECT_EQ(machine_.replayed, written_);
    run_block(2);
    feed_.leave_code();
    feed_.drain();
    feed_.drain();
    expect_all_replayed();
}

TEST_F(TraceFeedTest, ARecordThatGoesOnNowIsBehindAllThatWasWritten) {
    start(true);
    run_code(6);
    const FeedWords record{note(101), note(102)};
    feed_.pass_on_now(record);
    expect_all_replayed();
}

TEST_F(TraceFeedTest, AChildGoesOnWithoutTheParentsThread) {
    start(true);
    run_code(8);
    feed_.drain();
    feed_.go_on_in_child();
    EXPECT_FALSE(feed_.is_apart());
    run_code(8);
    EXPECT_EQ(machine_.starts, 2u);
    feed_.drain();
    expect_all_replayed();
}

TEST_F(TraceFeedTest, WhatIsNotDrawnFailsACheck) {
    start(true);
    EXPECT_DEATH(feed_.pass_on(), "is_code_running");
    EXPECT_DEATH(feed_.unhold_threads(), "holds_");
    EXPECT_DEATH(start(true), "cursor_.next == nullptr");
    feed_.enter_code(1);
    EXPECT_DEATH(feed_.enter_code(2), "is_code_running");
    EXPECT_DEATH(feed_.up_to_date_order(), "is_code_running");
    machine_.in_code.next = first_.data() + FeedHost::kSlotWords + 1;
    EXPECT_DEATH(feed_.leave_code(), "kSlotWords");
}

TEST_F(TraceFeedTest, AtRandomAllIsReplayedInTheOrderInWhichItWasWritten) {
    for (unsigned seed = 0; seed < test::runs(300); ++seed) {
        SCOPED_TRACE(seed);
        test::Choice choice(seed);
        FeedMachine machine;
        FeedWords first(FeedHost::kSlotWords);
        FeedWords written;
        // Small pieces of the trace wait there, so that now and then there are many to be put out.
        VirtualOrder order({.cores = 2, .slice = 10, .most_waiting = 64});
        const bool is_ordered = choice.chance(50);
        machine.has_thread = choice.chance(90);
        if (choice.chance(30)) machine.slots_left = static_cast<unsigned>(choice.below(3));
        TraceFeed<FeedHost> feed{FeedHost{&machine}};
        feed.start(first.data(), is_ordered ? &order : nullptr, choice.chance(90));
        unsigned holds = 0;
        const auto record = [&](Marker marker) {
            const std::array<Word, kMarkerWords> words{marker_word(marker), 1 + choice.below(2), choice.any(), 0};
            written.insert(written.end(), words.begin(), words.end());
            return words;
        };
        for (unsigned i = 0; i < 200; ++i) {
            const std::uint64_t what = choice.below(20);
            if (what < 10) {
                if (!feed.is_code_running()) feed.enter_code(1);
                if (machine.in_code.next > machine.in_code.limit) feed.pass_on();
                for (const Word word : record(Marker::kSystemCall)) *machine.in_code.next++ = word;
            } else if (what < 13) {
                feed.append(record(choice.chance(50) ? Marker::kThread : Marker::kSystemCall));
            } else if (what == 13) {
                feed.leave_code();
            } else if (what == 14) {
                feed.drain();
                EXPECT_EQ(machine.replayed, written);
                if (choice.chance(20)) feed.go_on_in_child();
            } else if (what == 15) {
                feed.pass_on_now(record(Marker::kSystemCall));
            } else if (what == 16) {
                feed.hold_threads();
                ++holds;
            } else if (what == 17 && holds != 0) {
                feed.unhold_threads();
                --holds;
            } else if (what == 18) {
                feed.leave_threads();
            } else if (what == 19 && choice.chance(5)) {
                machine.fails = true;
            }
        }
        feed.drain();
        EXPECT_EQ(machine.replayed, written);
        EXPECT_EQ(machine.recorded, written);
    }
}

}  // namespace
}  // namespace bd
