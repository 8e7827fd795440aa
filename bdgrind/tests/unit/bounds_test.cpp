// SPDX-License-Identifier: GPL-2.0-or-later
//
// Numbers that are kept in 32 bits, or fewer, where a long run or a large program gets to their bounds.

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/narrow.h"
#include "engine/cache/chunk_queue.h"
#include "engine/costs/backdating_tree.h"
#include "engine/costs/costs.h"
#include "engine/objects/use_patterns.h"
#include "engine/replay/follow.h"
#include "engine/trace/trace_file.h"
#include "heap_blocks_fixture.h"
#include "sleeper.h"

namespace bd {
namespace {

constexpr std::uint32_t kMost32 = std::numeric_limits<std::uint32_t>::max();

TEST(Bounds, NumbersAreGivenUpToTheOneBeforeTheLast) {
    EXPECT_EQ(next_number(0), 0u);
    EXPECT_EQ(next_number(kMost32 - 1), kMost32 - 1);
    EXPECT_DEATH(next_number(kMost32), "check failed");
    EXPECT_DEATH(next_number(std::size_t{1} << 32), "check failed");
}

TEST(Bounds, ALineKnowsTheLastCostVectorThatIsEverMade) {
    const ChargeTarget last(NodeId{kMost32}, CostId{CostPool::kMostVectors});
    EXPECT_EQ(last.costs, CostId{CostPool::kMostVectors});
    EXPECT_EQ(last.loaded_by, Reference::kFetch);
    CostPool pool(1, 3);
    for (std::uint32_t id = 1; id <= 3; ++id) EXPECT_EQ(pool.make(), CostId{id});
    EXPECT_DEATH(pool.make(), "check failed");
}

TEST(Bounds, ANodeMayHaveReferencesUpTo32Bits) {
    ArcTable arcs(1);
    BackdatingTree tree(arcs, 1);
    const NodeId root = tree.make_root();
    tree.acquire(root, kMost32 - 1);
    EXPECT_DEATH(tree.acquire(root), "check failed");
    EXPECT_DEATH(tree.acquire_child(root, ArcId{1}), "check failed") << "a child keeps its parent";
}

// The cursor's sums, before they are added to those of 64 bits: the record that begins last is whole.
TEST(Bounds, SumsOfManyRecordsFit) {
    constexpr std::uint64_t kRecords = ReplayCursor::kMostWords / kHeaderWords + 1;
    EXPECT_LE(kRecords * kMaxTracedInstructions, kMost32);
    EXPECT_LE(kRecords * kMaxTracedAccesses, kMost32);
}

TEST(Bounds, PatternsThatAreTooManyAreLeftOut) {
    UsePatterns patterns(3);
    const auto add = [&](std::uint32_t offset) { patterns.add(CostId{1}, GroupId{1}, 64, offset, 8, 1); };
    for (const std::uint32_t offset : {0u, 8u, 16u, 24u, 32u, 8u}) add(offset);
    patterns.settle();
    ASSERT_EQ(patterns.all().size(), 3u);
    EXPECT_EQ(patterns.all()[1].times, 2u);
    EXPECT_EQ(patterns.left_out(), 2u);
    patterns.clear();
    EXPECT_EQ(patterns.left_out(), 0u);
}

// --- Heap blocks of too many sizes

class HeapBlocksOfFewSizes : public test::HeapBlocksTest {
protected:
    HeapBlocks few_{groups_, test::kLineBits, 2};
};

TEST_F(HeapBlocksOfFewSizes, ABlockOfOneMoreIsNotKnown) {
    const GroupId a = group("a");
    EXPECT_TRUE(few_.add(0x5000, 16, a, false));
    EXPECT_TRUE(few_.add(0x5020, 32, a, false));
    EXPECT_FALSE(few_.add(0x5000, 48, a, false));
    EXPECT_EQ(few_.find(0x5000).size, 0u) << "what was there is not, either";
    EXPECT_FALSE(few_.add(0x5040, 16, group("b"), false));
    EXPECT_TRUE(few_.add(0x5040, 32, a, false)) << "this size is known";
    EXPECT_EQ(few_.find(0x505f).group, a);
}

TEST_F(HeapBlocksOfFewSizes, OneThatIsCutToAnotherSizeIsForgotten) {
    const GroupId a = group("a");
    groups_.add_block(a, 64, 64);
    ASSERT_TRUE(few_.add(0x5000, 64, a, false));
    ASSERT_TRUE(few_.add(0x6000, 32, a, false));
    few_.forget(0x5010, 0x5fff);
    EXPECT_EQ(few_.find(0x5000).size, 0u);
    EXPECT_EQ(groups_[a].live_bytes, 0u);
    groups_.add_block(a, 64, 64);
    ASSERT_TRUE(few_.add(0x5000, 64, a, false));
    few_.forget(0x5020, 0x5fff);
    EXPECT_EQ(few_.find(0x5000).size, 32u) << "this size is known";
    EXPECT_EQ(groups_[a].live_bytes, 32u);
}

// --- Queues whose numbers begin again

// A chunk is a word.
struct WordData {
    struct Chunk {
        Batch words;
        bool empties_caches = false;
    };
    void run(Batch batch, Chunk* chunk) { chunk->words = batch.first(1); }
    bool may_be_far_ahead() const { return true; }
};

TEST(Bounds, ChunksKeepTheirOrderWhereTheirNumbersBeginAgain) {
    std::vector<Word> words(300);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = i;
    WordData data;
    ChunkQueue<WordData> queue(data, kMost32 - 100);
    for (std::size_t at = 0; at < words.size(); at += 3) {
        const Batch batch = Batch(words).subspan(at, 3);
        queue.announce(batch);
        if (at % 2 == 0) queue.advance();
        for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(queue.next(batch.subspan(i)).words.front(), at + i);
    }
}

// As far ahead as it goes.
TEST(Bounds, TheRingOfChunksGoesOnWhereTheirNumbersBeginAgain) {
    std::vector<Word> words(300);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = i;
    WordData data;
    ChunkQueue<WordData> queue(data, kMost32 - 100);
    queue.announce(words);
    for (std::size_t at = 0; at < words.size(); ++at) {
        while (queue.advance()) {}
        ASSERT_EQ(queue.next(Batch(words).subspan(at)).words.front(), at);
    }
}

std::vector<Word> handed_over;
BatchQueue<test::Sleeper> late_queue(kMost32 - 50);

TEST(Bounds, BatchesKeepTheirOrderWhereTheirNumbersBeginAgain) {
    handed_over.clear();
    std::thread engine([] { late_queue.run([](Batch batch) { handed_over.push_back(batch.front()); }); });
    std::vector<Word> words(200);
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = i;
        late_queue.wait(kMostSubmitted - 1, [] { return false; });
        late_queue.submit(Batch(words).subspan(i, 1));
    }
    late_queue.wait(0, [] { return false; });
    late_queue.stop();
    engine.join();
    EXPECT_EQ(handed_over, words);
}

}  // namespace
}  // namespace bd
