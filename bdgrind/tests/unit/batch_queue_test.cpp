// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/batch_queue.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sleeper.h"

namespace bd {
namespace {

using test::Sleeper;

constexpr unsigned kBatches = 5000;

// Sleeps for a while, as wakes do not arrive.
struct NapSleeper {
    static bool sleep(WaitWord&, std::uint32_t) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return true;
    }
    static bool wake(WaitWord&) { return false; }
};

struct RefusedSleeper {
    static bool sleep(WaitWord&, std::uint32_t) { return false; }
    static bool wake(WaitWord&) { return false; }
};

// What the threads share beside the queue, without a lock: the queue has to separate them. Functions without a context
// are all that the queue calls.
std::vector<Word> batch_sums;
Word words_answered = 0;
unsigned times_helped = 0;
// The helper's.
unsigned times_looked = 0;
unsigned times_answered = 0;

template <class Sleeper>
class BatchQueueTest : public testing::Test {
protected:
    BatchQueueTest() {
        batch_sums.clear();
        words_answered = 0;
        times_helped = times_looked = times_answered = 0;
    }

    static void add(Batch batch) {
        batch_sums.push_back(std::accumulate(batch.begin(), batch.end(), Word{0}));
        if (batch_sums.size() % 7 != 0) return;
        Word asked = batch_sums.back();
        const Word before = words_answered;
        queue.ask([](void* words) { words_answered += std::exchange(*static_cast<Word*>(words), 0); }, &asked);
        EXPECT_EQ(asked, 0u) << "it was answered before the work went on";
        EXPECT_EQ(words_answered, before + batch_sums.back());
    }

    static bool help() {
        ++times_helped;
        return false;
    }

    // Asks every fifth time, and looks once more then.
    static bool look() {
        if (++times_looked % 5 != 0) return false;
        bool is_answered = false;
        queue.ask(
            [](void* answered) {
                ++times_answered;
                *static_cast<bool*>(answered) = true;
            },
            &is_answered);
        EXPECT_TRUE(is_answered);
        return true;
    }

    static BatchQueue<Sleeper> queue;
};

template <class Sleeper>
BatchQueue<Sleeper> BatchQueueTest<Sleeper>::queue;

using Sleepers = testing::Types<Sleeper, NapSleeper, RefusedSleeper>;
TYPED_TEST_SUITE(BatchQueueTest, Sleepers);

TYPED_TEST(BatchQueueTest, AllIsDoneOnceAndInOrderWhateverTheSystemRefuses) {
    std::thread engine([] { TestFixture::queue.run(TestFixture::add); });
    // As few as the tool has, so that one is written anew as soon as its words are done.
    std::vector<std::vector<Word>> slots(4, std::vector<Word>(100));
    for (unsigned number = 0; number < kBatches; ++number) {
        TestFixture::queue.wait(3, TestFixture::help);
        std::vector<Word>& slot = slots[number % slots.size()];
        std::ranges::fill(slot, number);
        TestFixture::queue.submit(slot);
    }
    TestFixture::queue.wait(0, TestFixture::help);
    ASSERT_EQ(batch_sums.size(), kBatches);
    for (unsigned number = 0; number < kBatches; ++number) ASSERT_EQ(batch_sums[number], Word{100} * number);
    // Every seventh asks: numbers 6, 13, ..., 4,997.
    EXPECT_EQ(words_answered, Word{100} * (6 + 4997) * 714 / 2);
    EXPECT_GT(times_helped, 0u);
    TestFixture::queue.stop();
    engine.join();
    constexpr bool kFails = !std::is_same_v<TypeParam, Sleeper>;
    EXPECT_EQ(TestFixture::queue.fails(), kFails);
}

TYPED_TEST(BatchQueueTest, AHelperLooksAtAllThatIsSubmittedAndIsIdleWhenAllIsDone) {
    auto& shared = TestFixture::queue;
    shared.reset();
    shared.expect_helper();
    std::thread engine([] { TestFixture::queue.run(TestFixture::add); });
    std::thread helper([] { TestFixture::queue.run_helper(TestFixture::look); });
    shared.wait(0, TestFixture::help);
    EXPECT_GE(times_looked, 1u) << "before anything was submitted";
    const std::vector<Word> words{1, 2, 3};
    for (unsigned number = 0; number < 500; ++number) {
        shared.wait(3, TestFixture::help);
        shared.submit(words);
        if (number % 10 != 9) continue;
        shared.wait(0, TestFixture::help);
        // The helper touches nothing now.
        EXPECT_EQ(times_answered, times_looked / 5);
    }
    EXPECT_EQ(batch_sums, std::vector<Word>(500, 6));
    EXPECT_EQ(words_answered, Word{6} * (500 / 7));
    EXPECT_GE(times_looked, 50u);
    shared.stop();
    engine.join();
    helper.join();
    shared.reset();
    EXPECT_FALSE(shared.has_helper());
}

TYPED_TEST(BatchQueueTest, MayBeUsedAgain) {
    for (int round = 0; round < 3; ++round) {
        TestFixture::queue.reset();
        batch_sums.clear();
        std::thread engine([] { TestFixture::queue.run(TestFixture::add); });
        const std::vector<Word> words{1, 2, 3};
        TestFixture::queue.submit(words);
        TestFixture::queue.wait(0, TestFixture::help);
        EXPECT_EQ(batch_sums, std::vector<Word>{6});
        TestFixture::queue.stop();
        engine.join();
    }
}

TEST(BatchQueueDeath, MoreBatchesThanThereIsRoomForAreABug) {
    const auto fill = [] {
        BatchQueue<Sleeper> queue;
        for (unsigned number = 0; number <= kMostSubmitted; ++number) queue.submit({});
    };
    EXPECT_DEATH(fill(), "check failed");
}

}  // namespace
}  // namespace bd
