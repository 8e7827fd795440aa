// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/base/side_table.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace bd::test {
namespace {

TEST(SideTable, EachNumberHasANoteOfItsOwnWhichStaysAsTheTableGrows) {
    SideTable<std::uint64_t> table;
    for (std::uint32_t number = 0; number < 1000; ++number) table[number] = number + 1;
    table[100000] = 7;
    for (std::uint32_t number = 0; number < 1000; ++number) EXPECT_EQ(table[number], number + 1);
    EXPECT_EQ(table[100000], 7u);
}

TEST(SideTable, NotesAreEmptyAtFirst) {
    SideTable<const int*> table;
    EXPECT_EQ(table[5], nullptr);
    EXPECT_EQ(table[0], nullptr);
    EXPECT_EQ(table[4096], nullptr);
}

}  // namespace
}  // namespace bd::test
