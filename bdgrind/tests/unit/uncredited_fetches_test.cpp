// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/uncredited_fetches.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "program.h"

namespace bd {
namespace {

using test::Program;

// Two blocks of 4-byte instructions on lines 0x40 and 0x41; the first may be left after its first instruction, at the
// end of line 0x40.
class UncreditedFetchesTest : public testing::Test {
protected:
    // The credit that the line at `place` has got since the last time, by fetch place.
    using Credits = std::map<std::uint32_t, std::uint64_t>;
    Credits settle(std::uint32_t place) {
        Credits credits;
        fetches_.settle(place, [&](const Fetch& fetch, std::uint64_t times) { credits[fetch.place] += times; });
        return credits;
    }
    Credits forget(std::uint32_t place) {
        Credits credits;
        fetches_.forget(place, [&](const Fetch& fetch, std::uint64_t times) { credits[fetch.place] += times; });
        return credits;
    }

    Program program_{6};
    const Block& two_lines_ = program_.code(program_.function("f"), 0x103c).op(4).may_exit().op(4).ends();
    const Block& one_line_ = program_.code(program_.function("f"), 0x1050).op(4).ends();
    ContextTable contexts_;
    const Context& context_ = contexts_.of(program_.function("f"));
    UncreditedFetches fetches_{8};
};

TEST_F(UncreditedFetchesTest, EachExitCreditsWhatLiesBeforeIt) {
    fetches_.list(two_lines_, two_lines_.fetches()[0], 3);
    fetches_.list(two_lines_, two_lines_.fetches()[1], 5);
    two_lines_.exits()[0].uncredited = 10;
    two_lines_.exits()[1].uncredited = 1;
    EXPECT_EQ(settle(5), (Credits{{3, 11}, {5, 1}}));
    EXPECT_EQ(settle(3), Credits{});  // no credit is given twice
}

TEST_F(UncreditedFetchesTest, ALineSettlesTheBlocksOnItOnly) {
    fetches_.list(two_lines_, two_lines_.fetches()[0], 3);
    fetches_.list(two_lines_, two_lines_.fetches()[1], 5);
    fetches_.list(one_line_, one_line_.fetches()[0], 5);
    two_lines_.exits()[1].uncredited = 2;
    one_line_.exits()[0].uncredited = 4;
    EXPECT_EQ(settle(3), (Credits{{3, 2}, {5, 2}}));
    EXPECT_EQ(settle(5), (Credits{{5, 4}}));
}

// Most of the times are counted for BlockCosts already, which may take them at any moment.
TEST_F(UncreditedFetchesTest, WhatIsCountedElsewhereIsCreditedOnce) {
    const Exit& exit = one_line_.exits()[0];
    fetches_.list(one_line_, one_line_.fetches()[0], 5);
    exit.taken = 10;
    EXPECT_EQ(settle(5), (Credits{{5, 10}}));
    EXPECT_EQ(settle(5), Credits{});
    exit.taken += 3;
    EXPECT_EQ(exit.take_taken(), 13u);
    EXPECT_EQ(exit.taken, 0u);
    exit.taken = 1;
    exit.uncredited += 2;  // times that nobody is to pay for
    EXPECT_EQ(settle(5), (Credits{{5, 6}}));
    // One of those that are counted is under way, and gets its credit in another way.
    --exit.uncredited;
    ++exit.taken;
    EXPECT_EQ(forget(5), Credits{});
}

TEST_F(UncreditedFetchesTest, WhoHasLeftHasNoPlace) {
    fetches_.list(two_lines_, two_lines_.fetches()[0], 3);
    fetches_.list(two_lines_, two_lines_.fetches()[1], 5);
    two_lines_.exits()[1].ready_in = &context_;
    two_lines_.exits()[1].uncredited = 2;
    EXPECT_EQ(forget(3), (Credits{{3, 2}, {5, 2}}));
    EXPECT_EQ(two_lines_.fetches()[0].place, Fetch::kNowhere);
    EXPECT_EQ(two_lines_.fetches()[1].place, 5u);
    EXPECT_EQ(two_lines_.exits()[1].ready_in, nullptr);
}

TEST_F(UncreditedFetchesTest, TheNextEngineFindsNoTraces) {
    {
        UncreditedFetches others(8);
        others.list(one_line_, one_line_.fetches()[0], 1);
        one_line_.exits()[0].ready_in = &context_;
        one_line_.exits()[0].uncredited = 7;
        one_line_.exits()[0].taken = 5;
    }
    EXPECT_EQ(one_line_.fetches()[0].place, Fetch::kNowhere);
    EXPECT_EQ(one_line_.exits()[0].ready_in, nullptr);
    fetches_.list(one_line_, one_line_.fetches()[0], 2);
    EXPECT_EQ(settle(2), Credits{});
}

}  // namespace
}  // namespace bd
