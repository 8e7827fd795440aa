// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/callgrind_prefetcher.h"

#include <vector>

#include <gtest/gtest.h>

namespace bd {
namespace {

constexpr std::uint64_t kNothing = ~std::uint64_t{0};
using Numbers = std::vector<std::uint64_t>;

// What is fetched for each of these lines, of 64 bytes.
Numbers fetched(CallgrindPrefetcher& prefetcher, const Numbers& lines) {
    Numbers fetched;
    for (const std::uint64_t line : lines) {
        fetched.push_back(static_cast<std::uint64_t>(prefetcher.on_lookup(LineNumber{line})));
    }
    return fetched;
}
Numbers fetched(const Numbers& lines) {
    CallgrindPrefetcher prefetcher(6);
    return fetched(prefetcher, lines);
}

TEST(CallgrindPrefetcher, TheThirdLineOfAStreamFetchesTheFifthBehindIt) {
    EXPECT_EQ(fetched({100, 101, 102, 103}), (Numbers{kNothing, kNothing, 107, 108}));
    EXPECT_EQ(fetched({110, 109, 108, 107}), (Numbers{kNothing, kNothing, 103, 102}));
}

TEST(CallgrindPrefetcher, TheSameLineAgainChangesNothing) {
    EXPECT_EQ(fetched({100, 100, 101, 101, 102, 102}),
              (Numbers{kNothing, kNothing, kNothing, kNothing, 107, kNothing}));
}

TEST(CallgrindPrefetcher, AStreamThatJumpsOrTurnsStartsAnew) {
    EXPECT_EQ(fetched({100, 101, 102, 110, 111, 112}), (Numbers{kNothing, kNothing, 107, kNothing, kNothing, 117}));
    // 101 ends the way up; 100 and 99 are two steps down.
    EXPECT_EQ(fetched({100, 101, 102, 101, 100, 99}), (Numbers{kNothing, kNothing, 107, kNothing, kNothing, 94}));
}

// A page of 4 KiB has 64 lines. Lines 64 and 128 lie in other pages than 0, line 8 * 64 in a page of the same stream.
TEST(CallgrindPrefetcher, EightStreamsAreKeptApartByPage) {
    EXPECT_EQ(fetched({10, 74, 11, 75, 12, 76}), (Numbers{kNothing, kNothing, kNothing, kNothing, 17, 81}));
    EXPECT_EQ(fetched({10, 522, 11, 523, 12, 524}), Numbers(6, kNothing));
}

// With lines of 256 bytes a page has 16.
TEST(CallgrindPrefetcher, PagesDoNotDependOnTheLineSize) {
    CallgrindPrefetcher prefetcher(8);
    EXPECT_EQ(fetched(prefetcher, {2, 18, 3, 19, 4, 20}), (Numbers{kNothing, kNothing, kNothing, kNothing, 9, 25}));
}

// At the border of two pages a stream goes on in another table entry.
TEST(CallgrindPrefetcher, AStreamIsFollowedWithinItsPage) {
    EXPECT_EQ(fetched({62, 63, 64, 65, 66}), (Numbers{kNothing, kNothing, kNothing, kNothing, 71}));
}

TEST(CallgrindPrefetcher, ThereIsNothingBelowAddressZero) {
    EXPECT_EQ(fetched({7, 6, 5, 4}), (Numbers{kNothing, kNothing, 0, kNothing}));
}

TEST(CallgrindPrefetcher, ANewStreamHasMadeNoStep) {
    EXPECT_EQ(fetched({1, 2}), (Numbers{kNothing, 7})) << "line 0 counts as the one before";
}

TEST(CallgrindPrefetcher, ClearedItKnowsNoStream) {
    CallgrindPrefetcher prefetcher(6);
    fetched(prefetcher, {100, 101});
    prefetcher.clear();
    EXPECT_EQ(fetched(prefetcher, {102, 103, 104}), (Numbers{kNothing, kNothing, 109}));
}

}  // namespace
}  // namespace bd
