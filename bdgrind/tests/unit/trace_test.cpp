// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/trace/trace.h"

#include <gtest/gtest.h>

#include "program.h"

namespace bd {
namespace {

TEST(TraceFormat, MarkersAreExitsOfNoBlock) {
    for (unsigned i = 0; i < static_cast<unsigned>(Marker::kCount); ++i) {
        const Exit& exit = exit_of(marker_word(static_cast<Marker>(i)));
        EXPECT_EQ(exit.block, nullptr);
        EXPECT_EQ(exit.index, i);
        EXPECT_EQ(record_words(marker_word(static_cast<Marker>(i))), kMarkerWords);
        EXPECT_EQ(record_words(marker_word(static_cast<Marker>(i), 1)), 2u);
        EXPECT_EQ(&exit_of(marker_word(static_cast<Marker>(i), 1)), &exit);
    }
}

TEST(TraceFormat, ABlockRecordHasOneWordPerAccessUpToItsExit) {
    test::Program program;
    Block& block = program.code(program.function("f"), 0x1000)
                             .op()
                             .reads(8)
                             .may_exit()
                             .op()
                             .writes(4)
                             .may_read(64)
                             .ends();
    const auto words = [&](std::size_t exit) {
        return record_words(first_word(block.exits()[exit]));
    };
    EXPECT_EQ(words(0), kHeaderWords + 1);
    EXPECT_EQ(words(1), kHeaderWords + 3);
}

}  // namespace
}  // namespace bd
