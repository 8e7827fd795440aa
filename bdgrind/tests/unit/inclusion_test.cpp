// SPDX-License-Identifier: GPL-2.0-or-later
//
// By hand: an inclusive LL takes lines from I1, D1 and L2.

#include "engine/cache/hierarchy.h"

#include <vector>

#include <gtest/gtest.h>

#include "hierarchy_fixture.h"

namespace bd {
namespace {

using test::cache;
using test::FakeSink;
using test::kHit;
using test::kL1Miss;
using test::kLLMiss;
using test::List;

// Blocks of one instruction, each of which reads a line.
template <CacheTraits kTraits>
class Blocks {
public:
    explicit Blocks(CacheGeometries caches) : hierarchy_(inclusive(caches), sink) {}

    struct Missed {
        Outcome fetch;
        Outcome data;
        bool operator==(const Missed&) const = default;
    };

    // The code lies in one line of memory, at 64 * `code`.
    Missed read(Address code, Address line, std::uint32_t target = 0) {
        sink.target = target;
        Block& block = program_.code(function_, 64 * code).op().access(8, AccessKind::kRead, false).ends();
        trace_ = test::Trace().run(block, 0, {64 * line});
        hierarchy_.stage().run(trace_.all(), &chunk_);
        hierarchy_.set_chunk(chunk_);
        hierarchy_.set_data_position({});
        Missed missed{kHit, kHit};
        for (const auto& miss : test::true_misses(chunk_.fetched)) missed.fetch = hierarchy_.follow_fetch(miss);
        for (const auto& miss : test::true_misses(chunk_)) {
            if (miss.loads()) {
                missed.data = hierarchy_.follow_data(miss);
            } else {
                EXPECT_EQ(miss.at.access, miss.kBehindAccesses);
                hierarchy_.take(miss);
            }
        }
        return missed;
    }

    FakeSink sink;

private:
    static CacheGeometries inclusive(CacheGeometries caches) {
        caches.ll_inclusion = Inclusion::kInclusive;
        return caches;
    }

    Hierarchy<kTraits, FakeSink> hierarchy_;
    test::Program program_;
    const Function& function_ = program_.function("f");
    test::Trace trace_;
    typename Hierarchy<kTraits, FakeSink>::Chunk chunk_;
};

// D1 has two lines, I1 one, LL three: code is line 9.
TEST(InclusiveLastLevel, TakesLinesThatHit) {
    Blocks<test::kCommonUse> blocks({.i1 = cache(1, 1, 64), .d1 = cache(1, 2, 64), .ll = cache(1, 3, 64)});
    using Missed = decltype(blocks)::Missed;
    EXPECT_EQ(blocks.read(9, 1, 10), (Missed{kLLMiss, kLLMiss}));  // D1: 1    LL: 1 9
    EXPECT_EQ(blocks.read(9, 2, 20), (Missed{kHit, kLLMiss}));     // 2 1      2 1 9
    EXPECT_EQ(blocks.read(9, 1, 30), (Missed{kHit, kHit}));        // 1 2      LL does not see that
    EXPECT_EQ(blocks.sink.take(), List{});
    EXPECT_EQ(blocks.read(9, 3, 40), (Missed{kHit, kLLMiss}));     // 3 1      3 2 1: I1 loses 9
    // 4 instructions were fetched from the line of code, each of 4 bytes, the same ones.
    EXPECT_EQ(by_level(blocks.sink.take()), (List{{'1', 10, 4, 4, 64}, {'1', 20, 1, 8, 64}, {'L', 10, 4, 4, 64}}));
    // In the same block, line 1 still hits; then it is lost, with that use.
    EXPECT_EQ(blocks.read(9, 1, 50), (Missed{kLLMiss, kHit}));     // 3        9 3 2
    EXPECT_EQ(by_level(blocks.sink.take()), (List{{'1', 10, 3, 8, 64}, {'L', 10, 2, 8, 64}}));
    EXPECT_EQ(blocks.read(9, 1, 60), (Missed{kHit, kLLMiss}));     // 1 3      1 9 3
    EXPECT_EQ(blocks.read(9, 2, 70), (Missed{kHit, kLLMiss}));     // 2 1      2 1 9: line 3 has left D1 before
    EXPECT_EQ(by_level(blocks.sink.take()), (List{{'1', 40, 1, 8, 64}, {'L', 20, 1, 8, 64}, {'L', 40, 1, 8, 64}}));
}

// I1 and D1 have a line each, L2 and LL three.
TEST(InclusiveLastLevel, TakesLinesOfL2) {
    Blocks<test::with_l2(test::kCommonUse)> blocks(
        {.i1 = cache(1, 1, 64), .d1 = cache(1, 1, 64), .ll = cache(1, 3, 64), .l2 = cache(1, 3, 64)});
    using Missed = decltype(blocks)::Missed;
    EXPECT_EQ(blocks.read(9, 1), (Missed{kLLMiss, kLLMiss}));  // L2: 1 9    LL: 1 9
    EXPECT_EQ(blocks.read(9, 2), (Missed{kHit, kLLMiss}));     // 2 1 9      2 1 9
    EXPECT_EQ(blocks.read(9, 1), (Missed{kHit, kL1Miss}));     // 1 2 9      2 1 9
    EXPECT_EQ(blocks.read(8, 1), (Missed{kLLMiss, kHit}));     // 8 1 2      8 2 1
    EXPECT_EQ(blocks.read(8, 2), (Missed{kHit, kL1Miss}));     // 2 8 1      8 2 1
    EXPECT_EQ(blocks.read(8, 3), (Missed{kHit, kLLMiss}));     // 3 2 8      3 8 2
    EXPECT_EQ(blocks.read(8, 4), (Missed{kHit, kLLMiss}));     // 4 3        4 3 8: L2 evicts 8, and loses 2
    EXPECT_EQ(blocks.read(8, 2), (Missed{kHit, kLLMiss}));
}

}  // namespace
}  // namespace bd
