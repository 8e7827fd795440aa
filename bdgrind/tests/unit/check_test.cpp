// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/base/check.h"

#include <gtest/gtest.h>

namespace bd {
namespace {

TEST(Check, WhatHoldsIsSilentAndEvaluatedOnce) {
    int evaluated = 0;
    BD_CHECK(++evaluated == 1);
    BD_CHECK_OP(++evaluated, ==, 2);
    BD_CHECK_OP(3, >, ++evaluated - 1);
    EXPECT_EQ(evaluated, 3);
}

TEST(Check, AFailureNamesTheExpressionAndBothOperands) {
    const unsigned references = 0;
    EXPECT_DEATH(BD_CHECK(references != 0), "check_test.cpp:[0-9]+: check failed: references != 0");
    EXPECT_DEATH(BD_CHECK_OP(references, >, 41u), "references > 41u .left 0, right 41.");
}

}  // namespace
}  // namespace bd
