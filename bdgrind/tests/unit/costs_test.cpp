// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/costs.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace bd {
namespace {

TEST(CostPool, IdsAreDenseFromOneAndVectorsAreZero) {
    CostPool pool(3);
    EXPECT_EQ(pool.size(), 0u);
    for (std::uint32_t id = 1; id <= 5; ++id) {
        EXPECT_EQ(pool.make(), CostId{id});
        EXPECT_EQ(pool[CostId{id}].size(), 3u);
        for (const std::uint64_t count : pool[CostId{id}]) EXPECT_EQ(count, 0u);
    }
    EXPECT_EQ(pool.size(), 5u);
}

TEST(CostPool, VectorsNeitherMoveNorOverlapAsThePoolGrows) {
    CostPool pool(3);
    const std::uint64_t* first = pool[pool.make()].data();
    for (std::uint32_t id = 2; id <= 5000; ++id) pool.make();
    EXPECT_EQ(pool[CostId{1}].data(), first);
    for (std::uint32_t id = 1; id <= 5000; ++id) {
        for (std::size_t i = 0; i < 3; ++i) pool[CostId{id}][i] = id * 10 + i;
    }
    for (std::uint32_t id = 1; id <= 5000; ++id) {
        for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(pool[CostId{id}][i], id * 10 + i) << "id " << id;
    }
}

TEST(CostPool, ClearingKeepsTheVectors) {
    CostPool pool(2);
    for (int i = 0; i < 3000; ++i) pool[pool.make()][1] = 9;
    pool.clear_counts();
    EXPECT_EQ(pool.size(), 3000u);
    for (std::uint32_t id = 1; id <= 3000; ++id) ASSERT_EQ(pool[CostId{id}][1], 0u) << "id " << id;
}

}  // namespace
}  // namespace bd
