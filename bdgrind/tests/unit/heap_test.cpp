// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/heap.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bd {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// What the supplier has given, and may give altogether. (A heap calls functions without a context.)
std::vector<std::size_t> supplies;
std::size_t supplies_left;
std::vector<void*> memory;

void* supply(std::size_t size_bytes) {
    if (size_bytes > supplies_left) return nullptr;
    supplies_left -= size_bytes;
    supplies.push_back(size_bytes);
    memory.push_back(std::aligned_alloc(16, (size_bytes + 15) / 16 * 16));
    return memory.back();
}

std::vector<std::pair<void*, std::size_t>> taken_back;

void take_back(void* block, std::size_t size_bytes) {
    taken_back.emplace_back(block, size_bytes);
    std::memset(block, 0xdd, size_bytes);
}

void exhausted() {
    std::fputs("the heap is exhausted\n", stderr);
    std::abort();
}

class HeapTest : public testing::Test {
protected:
    HeapTest() {
        supplies.clear();
        taken_back.clear();
        supplies_left = 1000 * kMegabyte;
    }
    ~HeapTest() override {
        for (void* const each : memory) std::free(each);
        memory.clear();
    }

    Heap heap_{supply, take_back, exhausted};
};

TEST_F(HeapTest, BlocksAreAlignedAndDoNotOverlap) {
    std::mt19937 random(1);
    std::map<unsigned char*, std::size_t> blocks;  // by address
    for (int i = 0; i < 5000; ++i) {
        const std::size_t size = random() % 3000;
        auto* const block = static_cast<unsigned char*>(heap_.allocate(size));
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0u);
        std::memset(block, i, size);
        blocks[block] = size;
        if (random() % 3 != 0) continue;
        const auto freed = std::next(blocks.begin(), static_cast<long>(random() % blocks.size()));
        heap_.free(freed->first);
        blocks.erase(freed);
    }
    for (auto block = blocks.begin(); std::next(block) != blocks.end(); ++block) {
        ASSERT_LE(block->first + block->second, std::next(block)->first);
    }
}

TEST_F(HeapTest, WhatIsFreedIsAllocatedAgain) {
    void* const block = heap_.allocate(1000);
    heap_.free(block);
    EXPECT_EQ(heap_.allocate(990), block) << "of the same size class";
    EXPECT_NE(heap_.allocate(990), block);
    heap_.free(nullptr);
}

TEST_F(HeapTest, OnePieceIsTakenInAdvanceAndNotMuchMore) {
    heap_.allocate(1);
    EXPECT_EQ(supplies, (std::vector{2 * kMegabyte, 2 * kMegabyte})) << "one in use, one in advance";
    for (int i = 0; i < 1000; ++i) heap_.allocate(100'000);
    std::size_t supplied = 0;
    for (const std::size_t each : supplies) supplied += each;
    EXPECT_GE(supplied, 100'000'000u);
    EXPECT_LT(supplied, 180'000'000u) << "a quarter for rounding up, and two pieces of a quarter each";
}

TEST_F(HeapTest, ALargeBlockHasMemoryOfItsOwn) {
    heap_.allocate(1);
    supplies.clear();
    heap_.allocate(10 * kMegabyte);
    ASSERT_EQ(supplies.size(), 1u);
    EXPECT_GE(supplies[0], 10 * kMegabyte);
    EXPECT_LE(supplies[0], 13 * kMegabyte);
    heap_.allocate(1);
    EXPECT_EQ(supplies.size(), 1u) << "the pieces are what they were";
}

TEST_F(HeapTest, ALargeBlockGoesBack) {
    heap_.free(heap_.allocate(kMegabyte / 2));
    EXPECT_TRUE(taken_back.empty());
    supplies.clear();
    heap_.free(heap_.allocate(10 * kMegabyte));
    EXPECT_EQ(taken_back, (std::vector{std::pair(memory.back(), supplies[0])}));
    heap_.allocate(10 * kMegabyte);
    EXPECT_EQ(supplies.size(), 2u);
}

TEST_F(HeapTest, APartOfAPieceIsKept) {
    supplies_left = 4 * kMegabyte;
    heap_.allocate(1);
    void* const block = heap_.allocate(kMegabyte);
    ASSERT_TRUE(heap_.runs_out());
    heap_.free(block);
    EXPECT_TRUE(taken_back.empty());
    EXPECT_EQ(heap_.allocate(kMegabyte), block);
}

TEST_F(HeapTest, ItRunsOutWhileAPieceIsLeft) {
    supplies_left = 4 * kMegabyte;
    heap_.allocate(1);
    EXPECT_FALSE(heap_.runs_out());
    std::size_t allocated = 0;
    while (!heap_.runs_out()) {
        heap_.allocate(10'000);
        allocated += 10'000;
    }
    EXPECT_LT(allocated, 2 * kMegabyte + 20'000);
    for (std::size_t more = 0; more < kMegabyte + kMegabyte / 2; more += 10'000) heap_.allocate(10'000);
}

TEST_F(HeapTest, ALargeBlockThatCannotBeHadMayFitThePieceInAdvance) {
    supplies_left = 4 * kMegabyte;
    heap_.allocate(1);
    auto* const block = static_cast<unsigned char*>(heap_.allocate(kMegabyte));
    std::memset(block, 1, kMegabyte);
    EXPECT_TRUE(heap_.runs_out());
}

TEST_F(HeapTest, ThatThereIsNothingAtAllIsTold) {
    supplies_left = 4 * kMegabyte;
    heap_.allocate(1);
    EXPECT_DEATH(heap_.allocate(3 * kMegabyte), "the heap is exhausted");
}

TEST_F(HeapTest, TwoThreadsGetBlocksOfTheirOwn) {
    const auto work = [&](unsigned char mark) {
        std::mt19937 random(mark);
        std::vector<std::pair<unsigned char*, std::size_t>> blocks;
        for (int i = 0; i < 20'000; ++i) {
            const std::size_t size = 1 + random() % 500;
            auto* const block = static_cast<unsigned char*>(heap_.allocate(size));
            std::memset(block, mark, size);
            blocks.emplace_back(block, size);
            if (i % 2 == 0) continue;
            std::swap(blocks[random() % blocks.size()], blocks.back());
            const auto [freed, bytes] = blocks.back();
            ASSERT_EQ(std::count(freed, freed + bytes, mark), static_cast<long>(bytes));
            heap_.free(freed);
            blocks.pop_back();
        }
    };
    // The test's supplier is for one thread, so that none is asked for.
    supplies_left = 100 * kMegabyte;
    std::vector<void*> warm;
    for (int i = 0; i < 100'000; ++i) warm.push_back(heap_.allocate(static_cast<std::size_t>(i % 500)));
    for (void* const block : warm) heap_.free(block);
    std::thread other(work, 1);
    work(2);
    other.join();
}

}  // namespace
}  // namespace bd
