// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/chunk_queue.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace bd {
namespace {

// Chunks of three words; a word of 0 empties the caches.
struct FakeData {
    struct Chunk {
        Batch words;
        Word sum = 0;
        bool empties_caches = false;
    };

    void run(Batch batch, Chunk* chunk) {
        EXPECT_FALSE(must_flush) << "run ahead of the replay that empties the caches";
        std::size_t length = std::min<std::size_t>(batch.size(), 3);
        if (const auto stop = std::ranges::find(batch.first(length), 0); stop != batch.first(length).end()) {
            length = static_cast<std::size_t>(stop - batch.begin()) + 1;
            must_flush = true;
        }
        chunk->words = batch.first(length);
        chunk->sum = std::accumulate(chunk->words.begin(), chunk->words.end(), Word{0});
        chunk->empties_caches = must_flush;
        ++runs;
        if (meanwhile) meanwhile();
    }
    bool may_be_far_ahead() const { return far; }

    bool far = true;
    bool must_flush = false;
    unsigned runs = 0;
    std::function<void()> meanwhile;
};

class ChunkQueueTest : public testing::Test {
protected:
    std::vector<Word> words_ = [] {
        std::vector<Word> words(1000);
        std::iota(words.begin(), words.end(), Word{1});
        return words;
    }();
    FakeData data_;
    ChunkQueue<FakeData> queue_{data_};
};

TEST_F(ChunkQueueTest, WithoutAnnouncementsChunksAreMadeWhenTheyAreNeeded) {
    EXPECT_FALSE(queue_.advance());
    const Batch batch = Batch(words_).first(5);
    EXPECT_EQ(queue_.next(batch).sum, 1u + 2 + 3);
    EXPECT_EQ(data_.runs, 1u);
    EXPECT_EQ(queue_.next(batch.subspan(3)).sum, 4u + 5);
    EXPECT_EQ(queue_.next(Batch(words_).subspan(5)).sum, 6u + 7 + 8);
}

TEST_F(ChunkQueueTest, WhatIsAnnouncedIsMadeInAdvanceAndInOrder) {
    const Batch first = Batch(words_).first(4);
    const Batch second = Batch(words_).subspan(4, 2);
    queue_.announce(first);
    queue_.announce(second);
    EXPECT_TRUE(queue_.advance());
    EXPECT_TRUE(queue_.advance());
    EXPECT_TRUE(queue_.advance());
    EXPECT_FALSE(queue_.advance()) << "nothing is left";
    EXPECT_EQ(queue_.next(first).sum, 1u + 2 + 3);
    EXPECT_EQ(queue_.next(first.subspan(3)).sum, 4u);
    EXPECT_EQ(queue_.next(second).sum, 5u + 6);
    EXPECT_EQ(data_.runs, 3u);
}

// Its lock may be held by who waits for memory, which the thread that announces has to get.
TEST_F(ChunkQueueTest, AnnouncingDoesNotWait) {
    struct SlowData : FakeData {
        void run(Batch batch, Chunk* chunk) {
            running = true;
            while (!announced) std::this_thread::yield();
            FakeData::run(batch, chunk);
        }
        std::atomic<bool> running{false};
        std::atomic<bool> announced{false};
    };
    SlowData data;
    ChunkQueue<SlowData> queue(data);
    queue.announce(Batch(words_).first(3));
    std::thread replay([&] { queue.next(words_); });
    while (!data.running) std::this_thread::yield();
    queue.announce(Batch(words_).subspan(3, 3));
    data.announced = true;
    replay.join();
    EXPECT_TRUE(queue.advance());
}

TEST_F(ChunkQueueTest, TheReplayMakesAChunkItselfIfThereIsNone) {
    queue_.announce(words_);
    EXPECT_EQ(queue_.next(words_).sum, 1u + 2 + 3);
    EXPECT_TRUE(queue_.advance());
    EXPECT_EQ(queue_.next(Batch(words_).subspan(3)).sum, 4u + 5 + 6);
    EXPECT_EQ(queue_.next(Batch(words_).subspan(6)).sum, 7u + 8 + 9);
    EXPECT_EQ(data_.runs, 3u);
}

TEST_F(ChunkQueueTest, TheReplayIsSuppliedWhileItHasAnotherChunk) {
    queue_.announce(words_);
    EXPECT_FALSE(queue_.is_supplied());
    queue_.next(words_);
    EXPECT_FALSE(queue_.is_supplied()) << "it has this one only";
    queue_.advance();
    EXPECT_TRUE(queue_.is_supplied());
    queue_.next(Batch(words_).subspan(3));
    EXPECT_FALSE(queue_.is_supplied());
}

TEST_F(ChunkQueueTest, WhileAChunkIsMadeNoOtherThreadMakesOne) {
    data_.meanwhile = [this] { EXPECT_FALSE(queue_.advance()); };
    queue_.announce(words_);
    EXPECT_TRUE(queue_.advance());
    EXPECT_EQ(data_.runs, 1u);
}

TEST_F(ChunkQueueTest, ThereIsRoomForSoManyChunks) {
    queue_.announce(words_);
    while (queue_.advance()) continue;
    EXPECT_EQ(data_.runs, 64u);
    queue_.next(words_);
    EXPECT_FALSE(queue_.advance()) << "that one is still in use";
    queue_.next(Batch(words_).subspan(3));
    EXPECT_TRUE(queue_.advance());
}

TEST_F(ChunkQueueTest, DataThatMustNotBeFarAheadIsOneChunkAheadAtMost) {
    data_.far = false;
    queue_.announce(words_);
    EXPECT_TRUE(queue_.advance());
    EXPECT_FALSE(queue_.advance());
    queue_.next(words_);
    EXPECT_FALSE(queue_.advance()) << "the replay asks about that one";
    EXPECT_EQ(queue_.next(Batch(words_).subspan(3)).sum, 4u + 5 + 6);
}

TEST_F(ChunkQueueTest, NoChunkIsMadeUntilTheReplayHasEmptiedTheCaches) {
    words_[4] = 0;
    queue_.announce(words_);
    EXPECT_TRUE(queue_.advance());
    EXPECT_TRUE(queue_.advance());
    EXPECT_FALSE(queue_.advance());
    queue_.next(words_);
    EXPECT_EQ(queue_.next(Batch(words_).subspan(3)).words.size(), 2u);
    EXPECT_FALSE(queue_.advance());
    data_.must_flush = false;  // at the end of the chunk, the replay does that
    EXPECT_EQ(queue_.next(Batch(words_).subspan(5)).sum, 6u + 7 + 8);
    EXPECT_TRUE(queue_.advance());
}

// As the tool does it: one thread announces batch after batch and helps, the other replays.
TEST_F(ChunkQueueTest, TwoThreadsMakeTheSameChunks) {
    std::vector<Word> many(300'000);
    std::iota(many.begin(), many.end(), Word{1});
    constexpr std::size_t kBatch = 1000;
    std::atomic<std::size_t> announced{0};
    std::atomic<std::size_t> replayed{0};
    std::vector<Word> sums;
    std::thread replay([&] {
        for (std::size_t begin = 0; begin < many.size(); begin += kBatch) {
            while (announced.load() <= begin) std::this_thread::yield();
            for (std::size_t at = begin; at < begin + kBatch;) {
                const auto& chunk = queue_.next(Batch(many).subspan(at, begin + kBatch - at));
                sums.push_back(chunk.sum);
                at += chunk.words.size();
            }
            replayed.store(begin + kBatch);
        }
    });
    for (std::size_t begin = 0; begin < many.size(); begin += kBatch) {
        while (begin - replayed.load() > 20 * kBatch) std::this_thread::yield();
        queue_.announce(Batch(many).subspan(begin, kBatch));
        announced.store(begin + kBatch);
        queue_.advance();
    }
    while (queue_.advance()) continue;
    replay.join();
    ASSERT_EQ(sums.size(), 300u * 334);
    EXPECT_EQ(data_.runs, sums.size());
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), Word{0}), Word{300'000} * 300'001 / 2);
}

}  // namespace
}  // namespace bd
