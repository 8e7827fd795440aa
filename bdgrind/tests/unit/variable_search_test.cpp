// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/variable_search.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bd {
namespace {

constexpr Address kBegin = 0x40'0000;
constexpr Address kMiB = 1 << 20;

class VariableSearchTest : public testing::Test {
protected:
    void add(Address begin, std::uint64_t size, const char* name) { variables_.push_back({begin, size, name}); }

    // Who has the address. Any question spoils the name that was told before, as the core does.
    FoundVariable at(Address address) {
        ++questions_;
        for (const FoundVariable& each : variables_) {
            if (address - each.begin >= each.size) continue;
            name_ = each.name;
            return {each.begin, 0, name_.c_str()};
        }
        name_.clear();
        return {};
    }

    // All that it finds in a range, one behind the other.
    std::string all(Address begin, Address end) {
        const VariableSearch search([this](Address address) { return at(address); });
        std::string text;
        for (;;) {
            const FoundVariable found = search.first(begin, end);
            if (found.name == nullptr) return text;
            text += std::string(found.name) + "+" + std::to_string(found.size) + " ";
            begin = found.begin + found.size;
        }
    }

    std::vector<FoundVariable> variables_;
    std::string name_;
    std::uint64_t questions_ = 0;
};

TEST_F(VariableSearchTest, VariablesOfAnySizeAreFound) {
    add(kBegin, 1, "a");
    add(kBegin + 1, 3, "b");
    add(kBegin + 12, 4, "c");
    add(kBegin + 17, 8 * kMiB, "d");
    add(kBegin + 20 + 8 * kMiB, 4, "e");
    EXPECT_EQ(all(kBegin, kBegin + 9 * kMiB), "a+1 b+3 c+4 d+8388608 e+4 ");
}

TEST_F(VariableSearchTest, ARangeMayBeginAndEndWithinOne) {
    add(kBegin, 100, "a");
    add(kBegin + 200, 100, "b");
    EXPECT_EQ(all(kBegin + 50, kBegin + 201), "a+100 b+100 ");
    EXPECT_EQ(all(kBegin + 99, kBegin + 200), "a+100 ");
    EXPECT_EQ(all(kBegin + 100, kBegin + 200), "");
    EXPECT_EQ(all(kBegin, kBegin), "");
}

TEST_F(VariableSearchTest, AllThatIsAlignedToFourBytesIsFoundBehind16KiB) {
    for (Address gap = 4; gap < 16 * 1024; gap += 60) {
        variables_.clear();
        add(kBegin + gap, 4, "a");
        EXPECT_EQ(all(kBegin, kBegin + kMiB), "a+4 ") << gap;
    }
}

// Steps are of 16 KiB there. Once it has found one, it looks at what it has left out.
TEST_F(VariableSearchTest, TheFirstOfManyIsFoundBehindALargeGap) {
    std::string expected;
    for (Address i = 0; i < 1000; ++i) {
        add(kBegin + 64 * kMiB + 8 + 24 * i, 20, "a");
        expected += "a+20 ";
    }
    add(kBegin + 80 * kMiB + 1, 4000, "b");
    EXPECT_EQ(all(kBegin, kBegin + 100 * kMiB), expected + "b+4000 ");
}

TEST_F(VariableSearchTest, MuchThatHasNoSymbolsTakesFewQuestions) {
    EXPECT_EQ(all(kBegin, kBegin + 256 * kMiB), "");
    EXPECT_LT(questions_, 50'000u);  // 33,554,432 for one in 8 bytes
    questions_ = 0;
    EXPECT_EQ(all(kBegin, kBegin + (Address{1} << 40)), "");
    EXPECT_LT(questions_, 100'000u);
    questions_ = 0;
    add(kBegin + 1, 1024 * kMiB, "large");
    EXPECT_EQ(all(kBegin, kBegin + 2048 * kMiB), "large+1073741824 ");
    EXPECT_LT(questions_, 100'000u);
}

}  // namespace
}  // namespace bd
