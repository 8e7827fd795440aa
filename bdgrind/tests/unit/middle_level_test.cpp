// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/middle_level.h"

#include <gtest/gtest.h>

#include "cache_fixture.h"
#include "hierarchy_fixture.h"

namespace bd {
namespace {

using test::cache;
using test::kHit;
using test::kL1Miss;
using test::kL2Miss;
using test::kLLMiss;
using test::List;

// I1 and D1: one line. L2: two lines. LL: eight.
template <class CachesType>
class MiddleLevelTest : public testing::Test {
protected:
    CachesType caches_{{.i1 = cache(1, 1, 64), .d1 = cache(1, 1, 64), .ll = cache(1, 8, 64), .l2 = cache(1, 2, 64)}};
};
using MiddleLevelVariants =
    testing::Types<test::Caches<test::with_l2(test::kCommonUse)>, test::Caches<test::with_l2(test::kAnyUse)>>;
TYPED_TEST_SUITE(MiddleLevelTest, MiddleLevelVariants);

TYPED_TEST(MiddleLevelTest, WhatMissesALevelIsAskedOfTheNext) {
    auto& caches = this->caches_;
    //                                              D1 | L2  | LL
    EXPECT_EQ(caches.data(1, 0x0000, 8), kLLMiss);  // 0 | 0   | 0
    EXPECT_EQ(caches.sink.loads, 3u);
    EXPECT_EQ(caches.data(2, 0x0040, 4), kLLMiss);  // 1 | 1 0 | 1 0
    EXPECT_EQ(caches.sink.take(), (List{{'1', 1, 1, 8, 64}}));
    EXPECT_EQ(caches.data(3, 0x0080, 1), kLLMiss);  // 2 | 2 1 | 2 1 0
    EXPECT_EQ(by_level(caches.sink.take()), (List{{'1', 2, 1, 4, 64}, {'2', 1, 1, 8, 64}}));
    EXPECT_EQ(caches.data(4, 0x0000, 2), kL2Miss);  // 0 | 0 2 | 2 1 0
    EXPECT_EQ(by_level(caches.sink.take()), (List{{'1', 3, 1, 1, 64}, {'2', 2, 1, 4, 64}}));
    EXPECT_EQ(caches.data(5, 0x0081, 1), kL1Miss);  // 2 | 2 0 | 2 1 0
    // What L2 has been given of a line goes on to LL, for both of its stays there.
    caches.sink.take();
    EXPECT_EQ(caches.flush(), by_level(List{{'1', 5, 1, 1, 64},
                                            {'2', 3, 2, 2, 64},
                                            {'2', 4, 1, 2, 64},
                                            {'L', 1, 2, 8, 64},
                                            {'L', 2, 1, 4, 64},
                                            {'L', 3, 2, 2, 64}}));
}

TYPED_TEST(MiddleLevelTest, AnL2LineTakesOverWhatItsLiveCopiesHaveGathered) {
    auto& caches = this->caches_;
    //                              I1 | D1 | L2  | LL
    caches.data(1, 0x0000, 4);   // -  | 0  | 0   | 0
    caches.fetch(2, 0x1000, 2);  // 40 | 0  | 40 0
    caches.data(1, 0x0004, 4);
    caches.sink.take();
    caches.fetch(3, 0x2000, 2);  // 80 | 0  | 80 40
    EXPECT_EQ(by_level(caches.sink.take()), (List{{'1', 2, 1, 2, 64}, {'2', 1, 2, 8, 64}}));
    // The copy stays, and what it gathers is LL's in the end: all of it once.
    EXPECT_EQ(caches.data(4, 0x0008, 1), kHit);
    EXPECT_EQ(caches.flush(), by_level(List{{'1', 1, 3, 9, 64},
                                            {'1', 3, 1, 2, 64},
                                            {'2', 2, 1, 2, 64},
                                            {'2', 3, 1, 2, 64},
                                            {'L', 1, 3, 9, 64},
                                            {'L', 2, 1, 2, 64},
                                            {'L', 3, 1, 2, 64}}));
}

TYPED_TEST(MiddleLevelTest, LinesWhoseChargesAreDroppedStayInAllLevels) {
    this->caches_.data(1, 0x0000, 4);
    this->caches_.hierarchy.drop_charges();
    EXPECT_EQ(this->caches_.data(2, 0x0004, 4), kHit);
    EXPECT_EQ(this->caches_.flush(), (List{{'1', 0, 2, 8, 64}, {'2', 0, 2, 8, 64}, {'L', 0, 2, 8, 64}}));
}

}  // namespace
}  // namespace bd
