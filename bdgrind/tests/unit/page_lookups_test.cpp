// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/page_lookups.h"

#include <string>

#include <gtest/gtest.h>

#include "program.h"
#include "replay_fixture.h"

namespace bd {
namespace {

using enum JumpKind;

constexpr Address kPage = 4096;
constexpr Address kHugePage = Address{1} << 21;
constexpr Address kData = 512 * kHugePage;  // far from code, with which it shares the second level

TEST(Tlb, ReplacesTheLeastRecentlyUsedPageOfASet) {
    Tlb tlb({4, 2});  // even pages, odd pages
    Tlb::Time now = 0;
    EXPECT_FALSE(tlb.look_up(2, ++now));
    EXPECT_FALSE(tlb.look_up(4, ++now));
    EXPECT_FALSE(tlb.look_up(7, ++now));
    EXPECT_TRUE(tlb.look_up(2, ++now));
    EXPECT_FALSE(tlb.look_up(6, ++now)) << "instead of page 4";
    EXPECT_TRUE(tlb.look_up(2, ++now));
    EXPECT_TRUE(tlb.look_up(7, ++now));
    EXPECT_FALSE(tlb.look_up(4, ++now)) << "instead of page 6";
    EXPECT_FALSE(tlb.look_up(6, ++now));
    tlb.clear();
    EXPECT_FALSE(tlb.look_up(7, ++now));
}

TEST(Tlb, HintsAreRightOrThereIsNone) {
    Tlb tlb({4, 4});
    Tlb::Time now = 0;
    EXPECT_FALSE(tlb.hinted().look_up(5, ++now));
    tlb.look_up(5, ++now);
    EXPECT_TRUE(tlb.hinted().look_up(5, ++now));
    tlb.look_up(5 + 1024, ++now);  // shares its hint
    EXPECT_FALSE(tlb.hinted().look_up(5, ++now));
    EXPECT_TRUE(tlb.look_up(5, ++now));
    EXPECT_TRUE(tlb.hinted().look_up(5, ++now));
    // Address 0 may stand for an access that did not happen.
    tlb.look_up(1024, ++now);
    EXPECT_FALSE(tlb.look_up(0, ++now));
    EXPECT_FALSE(tlb.hinted().look_up(0, ++now));
    EXPECT_TRUE(tlb.look_up(0, ++now));
}

// TLBs of two and of four entries.
class PageLookupsTest : public test::ReplayTest {
protected:
    static constexpr TlbGeometries kTlbs{{12, {2, 2}, {2, 2}, {4, 4}}, {21, {2, 2}, {2, 2}, {4, 4}}};

    // The misses of data alone.
    test::Events misses(Block& block) {
        test::Events found;
        for (const auto& [name, count] : self(block)) {
            if (name.starts_with("DT") || name.starts_with("DH")) found[name] = count;
        }
        return found;
    }
    void run(EngineConfig config = {.caches = test::kTinyD1, .tlbs = kTlbs}) { replay(config); }
};

TEST_F(PageLookupsTest, LevelsAndSizesAreCounted) {
    trace_.thread(1);
    // Five pages of one huge page, twice: no level of base pages has any of them again.
    for (int round = 0; round < 2; ++round) {
        for (Address page = 1; page <= 5; ++page) trace_.run(main_reads_, 1000, {kData + page * kPage});
    }
    run();
    EXPECT_EQ(misses(main_reads_), (test::Events{{"DT1mr", 10}, {"DT2mr", 10}, {"DH1mr", 1}, {"DH2mr", 1}}));
}

TEST_F(PageLookupsTest, TheSecondLevelHasMore) {
    trace_.thread(1);
    // Three huge pages, twice; the second level holds the page of the code, too.
    for (int round = 0; round < 2; ++round) {
        for (Address page = 1; page <= 3; ++page) trace_.run(main_reads_, 1000, {page * kHugePage});
    }
    run();
    EXPECT_EQ(misses(main_reads_), (test::Events{{"DT1mr", 6}, {"DT2mr", 3}, {"DH1mr", 6}, {"DH2mr", 3}}));
}

TEST_F(PageLookupsTest, AnAccessToTwoPagesIsOneMiss) {
    trace_.thread(1);
    trace_.run(main_reads_, 1000, {kData + 2 * kPage - 4});
    trace_.run(main_reads_, 1000, {kData + kPage});
    trace_.run(main_reads_, 1000, {kData + 2 * kPage});
    trace_.run(main_reads_, 1000, {kData + kHugePage - 4});
    run();
    EXPECT_EQ(misses(main_reads_), (test::Events{{"DT1mr", 2}, {"DT2mr", 2}, {"DH1mr", 2}, {"DH2mr", 2}}));
}

TEST_F(PageLookupsTest, CallsThatAreOpenAreCharged) {
    trace_.thread(1);
    trace_.run(main_calls_, 1000);
    trace_.run(f_reads_, 992, {kData + 7 * kPage});
    trace_.run(main_goes_on_, 1000);
    run();
    EXPECT_EQ(misses(f_reads_), (test::Events{{"DT1mr", 1}, {"DT2mr", 1}, {"DH1mr", 1}, {"DH2mr", 1}}));
    const test::Events called = below(main_, f_);
    EXPECT_EQ(called.at("DT2mr"), 1u);
    EXPECT_EQ(called.at("IT2mr"), 1u) << "f is in another page than main";
    EXPECT_FALSE(called.contains("IH2mr"));
}

TEST_F(PageLookupsTest, CodeIsLookedUpWhereItGoesToAnotherPage) {
    trace_.thread(1);
    for (int round = 0; round < 3; ++round) {
        trace_.run(main_calls_, 1000);
        trace_.run(f_reads_, 992, {kPage});
    }
    run();
    EXPECT_EQ(self(main_calls_).at("IT1mr"), 1u);
    EXPECT_EQ(self(main_calls_).at("IH1mr"), 1u);
    EXPECT_EQ(self(f_reads_).at("IT1mr"), 1u);
}

TEST_F(PageLookupsTest, WhatIsNotCollectedIsLookedUpButNotCharged) {
    trace_.thread(1).collect(false);
    trace_.run(main_reads_, 1000, {7 * kPage});
    trace_.collect(true);
    trace_.run(main_reads_, 1000, {7 * kPage});
    run();
    EXPECT_EQ(misses(main_reads_), test::Events{});
}

TEST_F(PageLookupsTest, StoppingEmptiesThem) {
    trace_.thread(1);
    trace_.run(main_reads_, 1000, {7 * kPage});
    trace_.mark(Marker::kStop);
    trace_.run(main_reads_, 1000, {7 * kPage});
    run();
    EXPECT_EQ(misses(main_reads_).at("DT2mr"), 2u);
    EXPECT_EQ(self(main_reads_).at("IT2mr"), 2u);
}

TEST_F(PageLookupsTest, WithoutThemNothingIsCounted) {
    trace_.thread(1);
    trace_.run(main_reads_, 1000, {7 * kPage});
    run({.caches = test::kTinyD1});
    EXPECT_EQ(misses(main_reads_), test::Events{});
    EXPECT_FALSE(engine_->events().has(Event::kDT1mr));
}

}  // namespace
}  // namespace bd
