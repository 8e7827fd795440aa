// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/base/text_output.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "text.h"

namespace bd {
namespace {

using test::Text;

TEST(TextOutput, WritesTextAndNumbers) {
    Text text;
    text << "a" << 'b' << std::string("cd") << ' ' << 0 << ' ' << -5 << ' ' << 1234567890123456789u << '\n';
    text << std::numeric_limits<std::uint64_t>::max() << ' ' << std::numeric_limits<std::int64_t>::min();
    EXPECT_EQ(text.finished(), "abcd 0 -5 1234567890123456789\n18446744073709551615 -9223372036854775808");
}

TEST(TextOutput, WritesHexadecimal) {
    Text text;
    text.hex(0) << ' ';
    text.hex(0xdeadbeef) << ' ';
    text.hex(std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(text.finished(), "0x0 0xdeadbeef 0xffffffffffffffff");
}

TEST(TextOutput, WritesDecimals) {
    Text text;
    text.fixed(1234, 2) << ' ';
    text.fixed(5, 2) << ' ';
    text.fixed(100, 2) << ' ';
    text.fixed(0, 3) << ' ';
    text.fixed(42, 0);
    EXPECT_EQ(text.finished(), "12.34 0.05 1.00 0.000 42");
}

TEST(TextOutput, HandsOnLargePieces) {
    Text text;
    std::string expected;
    for (int i = 0; i < 20'000; ++i) {
        text << i << '\n';
        expected += std::to_string(i) + '\n';
    }
    EXPECT_EQ(text.finished(), expected);
    EXPECT_LE(text.pieces.size(), expected.size() / 16'000 + 1);
}

TEST(TextOutput, TakesATextThatIsLargerThanItsBuffer) {
    Text text;
    const std::string large(100'000, 'x');
    text << "<" << large << ">";
    EXPECT_EQ(text.finished(), "<" + large + ">");
}

TEST(TextOutput, NothingIsWrittenForNothing) {
    Text text;
    text << "";
    EXPECT_EQ(text.finished(), "");
    EXPECT_TRUE(text.pieces.empty());
}

// A full disk: everything after the first failure is dropped, and finish() tells.
TEST(TextOutput, AFailureIsRememberedToTheEnd) {
    Text text;
    text.room = 20'000;
    for (int i = 0; i < 10'000; ++i) text << "12345678\n";
    text.room = 1'000'000;
    text << "more";
    EXPECT_FALSE(text.finish());
    EXPECT_FALSE(text.finish());
    std::size_t written = 0;
    for (const std::string& piece : text.pieces) written += piece.size();
    EXPECT_LE(written, 20'000u);
}

TEST(TextOutput, AFailureOfTheLastPieceIsSeenToo) {
    Text text;
    text.room = 3;
    text << "four";
    EXPECT_FALSE(text.finish());
}

}  // namespace
}  // namespace bd
