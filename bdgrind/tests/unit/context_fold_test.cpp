// SPDX-License-Identifier: GPL-2.0-or-later
//
// What stays of a context tree when it is full, counted by hand.

#include <cstdint>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "context_fold_fixture.h"

namespace bd::test {
namespace {

using CountsByPath = std::map<std::string, std::uint64_t>;

// Of 16 nodes, 14 stay. 11 of them are costlier than the others.
class ContextFold : public testing::Test {
protected:
    ContextFold() {
        stack_ = run_.begin(1, 0);
        run_.call(stack_, 11);
        for (std::uint32_t function = 1; function <= 10; ++function) run_.call_for(stack_, function, 0, 1000);
        run_.leave(stack_);
    }
    // An event of the other paths.
    CountsByPath event(std::size_t event) const {
        CountsByPath found;
        for (const auto& [path, row] : run_.rows()) {
            const std::string thread = "thread 1/";
            if (path.starts_with(thread) && !path.starts_with(thread + "f0/f11")) {
                found[path.substr(thread.size())] = row[1 + event];
            }
        }
        return found;
    }
    std::uint64_t calls(const std::string& path) const { return run_.rows().at("thread 1/" + path)[0]; }

    Folding run_{{.most_nodes = 16}};
    std::size_t stack_ = 0;
};

TEST_F(ContextFold, ThoseStayThatHaveMostWithAllBelowThem) {
    run_.cost(stack_, 0, 100);
    run_.call_for(stack_, 1, 0, 20);
    run_.call(stack_, 2);
    run_.cost(stack_, 0, 1);
    run_.call_for(stack_, 3, 0, 30);
    run_.leave(stack_);
    run_.call_for(stack_, 4, 0, 26);
    run_.call_for(stack_, 1, 0, 5);
    EXPECT_EQ(run_.tree().stats().nodes, 16u);
    EXPECT_EQ(run_.tree().folds(), 0u);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 100}, {"f0/f1", 25}, {"f0/f2", 1}, {"f0/f2/f3", 30}, {"f0/f4", 26}}));
    run_.call_for(stack_, 5, 0, 3);
    EXPECT_EQ(run_.tree().folds(), 1u);
    EXPECT_EQ(run_.tree().stats().nodes, 15u);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 100}, {"f0/f2", 1}, {"f0/f2/f3", 30}, {"f0/other", 51}, {"f0/f5", 3}}));
    EXPECT_EQ(calls("f0/other"), 3u);
    EXPECT_EQ(calls("f0/f2/f3"), 1u);
}

TEST_F(ContextFold, OfEqualNodesTheFirstStay) {
    for (const std::uint32_t function : {3u, 1u, 2u, 5u, 4u}) run_.call_for(stack_, function, 0, 7);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/f3", 7}, {"f0/f1", 7}, {"f0/other", 14}, {"f0/f4", 7}}));
}

// Instructions count eight times: 0.41 for f3, 0.55 for f5, 0.07 for f1. A half of the misses is 0.5, a quarter 0.25.
TEST_F(ContextFold, SharesOfInstructionsAndMissesAreAddedUp) {
    run_.cost(stack_, kD1Misses, 1);
    run_.call_for(stack_, 1, 0, 100);
    run_.call_for(stack_, 2, kD1Misses, 1);
    run_.call_for(stack_, 3, 0, 600);
    run_.call_for(stack_, 5, 0, 800);
    run_.call_for(stack_, 4, 0, 0);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/f2", 0}, {"f0/other", 700}, {"f0/f5", 800}, {"f0/f4", 0}}));
}

TEST_F(ContextFold, InstructionsCountForAsMuchAsAllMissesAndLosses) {
    run_.cost(stack_, kD1Misses, 3);
    run_.call_for(stack_, 1, 0, 100);
    run_.call_for(stack_, 2, kD1Misses, 1);
    run_.call_for(stack_, 3, 0, 600);
    run_.call_for(stack_, 5, 0, 800);
    run_.call_for(stack_, 4, 0, 0);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/other", 100}, {"f0/f3", 600}, {"f0/f5", 800}, {"f0/f4", 0}}));
    EXPECT_EQ(event(kD1Misses).at("f0/other"), 1u);
}

TEST_F(ContextFold, WhatTheClockSaysDoesNotMatter) {
    run_.call_for(stack_, 1, column(Event::ksysTime), 1'000'000);
    run_.call_for(stack_, 2, 0, 1);
    run_.call_for(stack_, 3, column(Event::ksysCpuTime), 1'000'000);
    run_.call_for(stack_, 5, 0, 1);
    run_.call_for(stack_, 4, 0, 1);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/f2", 1}, {"f0/f5", 1}, {"f0/other", 0}, {"f0/f4", 1}}));
}

TEST_F(ContextFold, OpenCallsStayWhateverTheyHaveCost) {
    run_.call(stack_, 1);
    const std::size_t elsewhere = run_.begin(2, 2);
    run_.call(elsewhere, 3);
    run_.call_for(stack_, 4, 0, 5);
    run_.call(stack_, 5);
    EXPECT_EQ(run_.tree().folds(), 1u);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/f1", 0}, {"f0/f1/other", 5}, {"f0/f1/f5", 0}}));
    const RowsByPath rows = run_.rows();
    EXPECT_TRUE(rows.contains("thread 2/f2/f3"));
    EXPECT_FALSE(rows.contains("thread 1/f0/f11/f10")) << "had 1000, as had others that were there before";
}

TEST(ContextFoldOfOpenCalls, IfThereAreTooManyTheLastAreFolded) {
    Folding run({.most_nodes = 8});
    const std::size_t stack = run.begin(1, 0);
    for (std::uint32_t function = 1; function < 4; ++function) run.call(stack, function);
    const std::size_t elsewhere = run.begin(2, 0);
    for (std::uint32_t function = 1; function < 4; ++function) run.call(elsewhere, function);
    run.call(stack, 4);
    EXPECT_EQ(run.tree().folds(), 1u);
    EXPECT_TRUE(run.rows().contains("thread 1/f0/f1/f2/f3/f4"));
    EXPECT_FALSE(run.rows().contains("thread 2/f0/f1/f2/f3"));
    run.call(elsewhere, 5);
    EXPECT_EQ(run.rows().at("thread 2/f0/f1/f2/other")[0], 2u) << "calls of f3 and from there";
    run.leave(elsewhere);
    run.leave(elsewhere);
    run.leave(stack);
    run.call(elsewhere, 5);
    EXPECT_TRUE(run.rows().contains("thread 2/f0/f1/f2/f5")) << "is known again";
}

TEST_F(ContextFold, APathThatComesAgainHasANodeAgain) {
    run_.call_for(stack_, 1, 0, 50);
    run_.call_for(stack_, 2, 0, 1);
    run_.call_for(stack_, 3, 0, 2);
    run_.call_for(stack_, 5, 0, 20);
    run_.call_for(stack_, 4, 0, 3);
    run_.call_for(stack_, 2, 0, 10);
    EXPECT_EQ(event(0),
              (CountsByPath{{"f0", 0}, {"f0/f1", 50}, {"f0/f5", 20}, {"f0/other", 3}, {"f0/f4", 3}, {"f0/f2", 10}}));
    EXPECT_EQ(calls("f0/f2"), 1u);
}

// f1 and f2 have been folded into an "other" node below f3, which is folded then.
TEST_F(ContextFold, WhatHasBeenFoldedGoesOnUpwards) {
    run_.call(stack_, 3);
    run_.cost(stack_, 0, 40);
    run_.call_for(stack_, 1, 0, 1);
    run_.call_for(stack_, 2, 0, 1);
    run_.leave(stack_);
    run_.call_for(stack_, 4, 0, 30);
    run_.call_for(stack_, 6, 0, 50);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/f3", 40}, {"f0/f3/other", 2}, {"f0/f4", 30}, {"f0/f6", 50}}));
    run_.call_for(stack_, 7, 0, 60);
    run_.call_for(stack_, 8, 0, 70);
    EXPECT_EQ(event(0), (CountsByPath{{"f0", 0}, {"f0/f6", 50}, {"f0/f7", 60}, {"f0/other", 72}, {"f0/f8", 70}}));
    EXPECT_EQ(calls("f0/other"), 4u);
    EXPECT_EQ(run_.tree().folds(), 2u);
}

TEST_F(ContextFold, LinesAreChargedToWhatTheirPathHasBecome) {
    run_.call(stack_, 1);
    run_.cost(stack_, 0, 50);
    run_.load(stack_);
    run_.leave(stack_);
    run_.call(stack_, 2);
    run_.load(stack_);
    run_.leave(stack_);
    run_.call_for(stack_, 3, 0, 1);
    run_.call_for(stack_, 5, 0, 60);
    run_.call_for(stack_, 4, 0, 1);
    run_.cost(run_.line(0), kD1Loss, 64);
    run_.cost(run_.line(1), kD1Loss, 32);
    EXPECT_EQ(event(kD1Loss), (CountsByPath{{"f0", 0}, {"f0/f1", 64}, {"f0/f5", 0}, {"f0/other", 32}, {"f0/f4", 0}}));
}

// f0 calls f1, which calls f0 back: after a fold, too.
TEST_F(ContextFold, RecursionLeadsBackAfterwards) {
    run_.call(stack_, 1);
    const auto call_back = [&] { run_.call_for(stack_, 0, 0, 10); };
    call_back();
    for (std::uint32_t function = 2; function < 8; ++function) run_.call_for(stack_, function, 0, 1);
    EXPECT_EQ(run_.tree().folds(), 2u);
    call_back();
    EXPECT_EQ(calls("f0"), 2u);
    EXPECT_EQ(event(0).at("f0"), 20u);
}

TEST(ContextFoldOfNothing, ATreeWithoutCostsKeepsWhatCameFirst) {
    Folding run({.most_nodes = 4});
    const std::size_t stack = run.begin(1, 0);
    for (std::uint32_t function = 1; function < 5; ++function) run.call(stack, function), run.leave(stack);
    const RowsByPath rows = run.rows();
    EXPECT_TRUE(rows.contains("thread 1/f0/f2") && rows.contains("thread 1/f0/f4"));
    EXPECT_FALSE(rows.contains("thread 1/f0/f3"));
    EXPECT_EQ(rows.at("thread 1/f0/other")[0], 1u);
}

TEST(ContextFoldMemory, FoldedCostsLeaveTheirMemoryToOthers) {
    Folding run({.recursion = ContextRecursion::kApart, .most_nodes = 1000});
    const std::size_t stack = run.begin(1, 0);
    std::mt19937 random(1);
    const auto go = [&] {
        for (unsigned i = 0; i < 20'000; ++i) {
            for (unsigned depth = 0; depth < 5; ++depth) {
                run.call(stack, static_cast<std::uint32_t>(random() % Folding::kFunctions));
            }
            run.cost(stack, kD1Misses, 1);
            for (unsigned depth = 0; depth < 5; ++depth) run.leave(stack);
        }
    };
    go();
    const std::size_t bytes = run.tree().stats().bytes;
    go();
    EXPECT_GT(run.tree().folds(), 50u);
    EXPECT_EQ(run.tree().stats().bytes, bytes);
    std::uint64_t sum = 0;
    for (const auto& [path, row] : run.rows()) sum += row[1 + kD1Misses];
    EXPECT_EQ(sum, 40'000u);
}

}  // namespace
}  // namespace bd::test
