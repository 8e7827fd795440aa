// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/replay/branch_predictor.h"

#include <string>

#include <gtest/gtest.h>

namespace bd {
namespace {

// How a conditional branch goes, as letters: T taken, N not taken. Returns for each whether it was predicted: + or -.
std::string conditional(BranchPredictor& predictor, Address branch, const std::string& ways) {
    std::string predicted;
    for (const char way : ways) predicted += predictor.conditional(branch, way == 'T') ? '+' : '-';
    return predicted;
}

TEST(BranchPredictor, ABranchNeverTakenIsAlwaysPredicted) {
    BranchPredictor predictor;
    EXPECT_EQ(conditional(predictor, 0x1000, "NNNNNN"), "++++++");
}

// Its history has a place of its own while it still grows: 0, 1, 11, ..., up to seven ones. There the counter starts
// at 0 and says "taken" after two of them.
TEST(BranchPredictor, ABranchAlwaysTakenIsLearntOnceTheHistoryIsFull) {
    BranchPredictor predictor;
    EXPECT_EQ(conditional(predictor, 0x1000, "TTTTTTTTTTTT"), "-------" "--" "+++");
}

// With a history of NNNNNNN the counter goes 1, 2, 3, 3: two failures are needed to turn it. Seven N between bring the
// history back; they are predicted, as their own histories were never taken from.
TEST(BranchPredictor, ACounterIsSaturatedAndTurnsAfterTwoFailures) {
    BranchPredictor predictor;
    for (const char* predicted : {"-", "-", "+", "+"}) {
        EXPECT_EQ(conditional(predictor, 0x1000, "T"), predicted);
        EXPECT_EQ(conditional(predictor, 0x1000, "NNNNNNN"), "+++++++");
    }
    // Now at 3; down to 2, 1, 0, 0, 0; up again it takes two.
    EXPECT_EQ(conditional(predictor, 0x1000, "NNNNN"), "--+++");
    for (const char* predicted : {"-", "-", "+"}) {
        EXPECT_EQ(conditional(predictor, 0x1000, "T"), predicted);
        EXPECT_EQ(conditional(predictor, 0x1000, "NNNNNNN"), "+++++++");
    }
}

TEST(BranchPredictor, AnAlternatingBranchIsPredictedByItsHistory) {
    BranchPredictor predictor;
    conditional(predictor, 0x1000, "TNTNTNTNTNTNTN");
    EXPECT_EQ(conditional(predictor, 0x1000, "TNTNTN"), "++++++");
}

// Where an instruction begins at the earliest behind another one.
#if defined(__aarch64__)
constexpr unsigned kStep = 4;
#else
constexpr unsigned kStep = 1;
#endif

// The index has seven bits of the address, without those that are the same in all: branches 128 steps apart share
// their counters, closer ones do not.
TEST(BranchPredictor, BranchesShareCountersByTheirLowAddressBits) {
    for (const auto& [distance, predicted] :
         {std::pair{1 * kStep, "-"}, {64 * kStep, "-"}, {127 * kStep, "-"}, {128 * kStep, "+"}}) {
        BranchPredictor predictor;
        for (int i = 0; i < 2; ++i) conditional(predictor, 0x1000, "TNNNNNNN");
        EXPECT_EQ(conditional(predictor, 0x1000 + distance, "T"), predicted) << distance;
    }
}

// Seven and no more: what happened before does not matter.
TEST(BranchPredictor, TheHistoryHasSevenBranches) {
    BranchPredictor predictor;
    for (int i = 0; i < 2; ++i) conditional(predictor, 0x1000, "TNNNNNNN");
    conditional(predictor, 0x1000, "TTTTTTTT");
    conditional(predictor, 0x1000, "NNNNNNN");
    EXPECT_EQ(conditional(predictor, 0x1000, "T"), "+");
    conditional(predictor, 0x1000, "NNNNNN");
    EXPECT_EQ(conditional(predictor, 0x1000, "T"), "-") << "the history is TNNNNNN: seen for the first time";
}

TEST(BranchPredictor, AnIndirectBranchGoesWhereItWentLastTime) {
    BranchPredictor predictor;
    EXPECT_FALSE(predictor.indirect(0x1000, 0x2000));
    EXPECT_TRUE(predictor.indirect(0x1000, 0x2000));
    EXPECT_FALSE(predictor.indirect(0x1000, 0x3000));
    EXPECT_FALSE(predictor.indirect(0x1000, 0x2000));
    EXPECT_TRUE(predictor.indirect(0x1000, 0x2000));
}

TEST(BranchPredictor, TargetsAreSharedByTheLowNineBitsOfTheAddress) {
    BranchPredictor predictor;
    predictor.indirect(0x1000, 0x2000);
    EXPECT_FALSE(predictor.indirect(0x1000 + 256 * kStep, 0x2000));
    EXPECT_TRUE(predictor.indirect(0x1000 + 512 * kStep, 0x2000));
}

}  // namespace
}  // namespace bd
