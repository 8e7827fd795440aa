// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/binary_column.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "text.h"

namespace bd {
namespace {

// In bytes, as numbers.
std::vector<unsigned> written(const std::vector<std::uint64_t>& values) {
    test::Text text;
    write_column(text, values);
    std::vector<unsigned> bytes;
    for (const char c : text.finished()) bytes.push_back(static_cast<unsigned char>(c));
    return bytes;
}

using Column = std::vector<unsigned>;

TEST(BinaryColumn, OfZerosOnlyTheFormIsWritten) {
    EXPECT_EQ(written({0}), Column{0x00});
    EXPECT_EQ(written(std::vector<std::uint64_t>(65535)), Column{0x00});
}

TEST(BinaryColumn, TheLargestValueSaysHowManyBytesEachHas) {
    EXPECT_EQ(written({1, 255}), (Column{0x01, 1, 255}));
    EXPECT_EQ(written({1, 256}), (Column{0x02, 1, 0, 0, 1}));
    EXPECT_EQ(written({0xffff}), (Column{0x02, 255, 255}));
    EXPECT_EQ(written({0x10000}), (Column{0x04, 0, 0, 1, 0}));
    EXPECT_EQ(written({0xffffffff}), (Column{0x04, 255, 255, 255, 255}));
    EXPECT_EQ(written({0x100000000}), (Column{0x08, 0, 0, 0, 0, 1, 0, 0, 0}));
    EXPECT_EQ(written({~std::uint64_t{0}}), (Column{0x08, 255, 255, 255, 255, 255, 255, 255, 255}));
}

// Two bytes for how many there are, and two more for where each is.
TEST(BinaryColumn, FewValuesAreWrittenWithTheirPlacesWhereThatIsShorter) {
    EXPECT_EQ(written({0, 0, 0, 0, 7}), (Column{0x01, 0, 0, 0, 0, 7}));
    EXPECT_EQ(written({0, 0, 0, 0, 0, 7}), (Column{0x11, 1, 0, 5, 0, 7}));
    std::vector<std::uint64_t> last(65535);
    last.back() = 300;
    EXPECT_EQ(written(last), (Column{0x12, 1, 0, 254, 255, 44, 1}));
}

}  // namespace
}  // namespace bd
