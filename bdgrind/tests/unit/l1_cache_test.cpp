// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/l1_cache.h"

#include <cstdint>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "cache_fixture.h"

namespace bd {
namespace {

using test::cache;
using test::line;

// What holds for both ways of compiling it. All lines have 64 bytes.
template <class Lines>
class L1CacheTest : public testing::Test {
protected:
    // Uses or loads a line. Returns the one that was in its slot; kNoLine: none, or it was here.
    static LineNumber use(Lines& lines, LineNumber number, typename Lines::Time now) {
        const std::uint32_t slot = lines.find(number);
        if (slot == Lines::kAbsent) return lines.replace(lines.slot_for(number), number, now);
        lines.time_of(slot) = now;
        return kNoLine;
    }
};
using L1CacheVariants = testing::Types<L1Cache<test::kCommonUse, LineUse<test::kCommonUse>>,
                                L1Cache<test::kAnyUse, LineUse<test::kAnyUse>>>;
TYPED_TEST_SUITE(L1CacheTest, L1CacheVariants);

TYPED_TEST(L1CacheTest, AGuessIsRightOrNone) {
    TypeParam lines(cache(2, 1, 64));
    const AccessGroup alone = AccessGroup::of(8);
    EXPECT_EQ(lines.guess(0x1000, alone), lines.kAbsent);
    lines.replace(lines.slot_for(line(0x40)), line(0x40), 1);
    const std::uint32_t slot = lines.find(line(0x40));
    ASSERT_NE(slot, lines.kAbsent);
    EXPECT_EQ(lines.guess(0x1000, alone), slot);
    EXPECT_EQ(lines.guess(0x1038, alone), slot);
    EXPECT_EQ(lines.guess(0x1039, alone), lines.kAbsent);  // straddles
    EXPECT_EQ(lines.guess(0x1000, AccessGroup::of(64)), slot);
    EXPECT_EQ(lines.guess(0x1000, AccessGroup::of(65)), lines.kAbsent);
    EXPECT_EQ(lines.guess(0x1000, AccessGroup::of(0xffff'ffff)), lines.kAbsent);
    EXPECT_EQ(lines.guess(0x1080, alone), lines.kAbsent);    // another line
    EXPECT_EQ(lines.guess(0x81000, alone), lines.kAbsent);   // one that shares its hint, 8192 lines further
}

// It knows one line of those that share a hint, but finding the other puts that right.
TYPED_TEST(L1CacheTest, AGuessKnowsTheLineFoundLast) {
    TypeParam lines(cache(1, 2, 64));
    this->use(lines, line(1), 1);
    this->use(lines, line(1 + 8192), 2);
    const AccessGroup alone = AccessGroup::of(8);
    EXPECT_EQ(lines.guess(0x40, alone), lines.kAbsent);
    const std::uint32_t slot = lines.find(line(1));
    EXPECT_EQ(lines.guess(0x40, alone), slot);
    EXPECT_EQ(lines.guess(0x80040, alone), lines.kAbsent);
    lines.clear(slot);
    EXPECT_EQ(lines.guess(0x40, alone), lines.kAbsent);
}

// An address of 0 may stand for an access that did not happen.
TYPED_TEST(L1CacheTest, LineZeroIsNotGuessed) {
    TypeParam lines(cache(1, 2, 64));
    const AccessGroup alone = AccessGroup::of(8);
    this->use(lines, line(0), 1);  // in the slot that hints are for first
    EXPECT_EQ(lines.guess(0, alone), lines.kAbsent);
    this->use(lines, line(8192), 2);
    this->use(lines, line(3), 3);
    EXPECT_NE(lines.guess(0x80000, alone), lines.kAbsent);
    this->use(lines, line(0), 4);  // in the slot of 8192, for which there was a hint
    EXPECT_NE(lines.find(line(0)), lines.kAbsent);
    EXPECT_EQ(lines.guess(0, alone), lines.kAbsent);
}

// Bytes 0, 6 and 7, of which the first access is 6 and 7.
TYPED_TEST(L1CacheTest, AGroupCountsAsAWholeOrNotAtAll) {
    constexpr AccessGroup kGroup{.bytes = 0b1100'0001, .span = 8, .first = 0, .accesses = 2, .before = 6};
    TypeParam lines(cache(2, 1, 64));
    this->use(lines, line(0x40), 1);
    const std::uint32_t slot = lines.find(line(0x40));
    struct Case {
        Address address;
        bool is_within;
    };
    for (const Case& each : {Case{0x1005, false}, {0x1006, true}, {0x1016, true}, {0x103e, true}, {0x103f, false}}) {
        EXPECT_EQ(lines.is_within(each.address, kGroup), each.is_within) << std::hex << each.address;
        EXPECT_EQ(lines.guess(each.address, kGroup), each.is_within ? slot : lines.kAbsent)
            << std::hex << each.address;
    }
    const auto bytes = lines.bytes_of(0x1016, kGroup);
    EXPECT_EQ(bytes.count(), 3u);
    for (const unsigned byte : {0x10u, 0x16u, 0x17u}) EXPECT_TRUE(bytes.test(byte)) << byte;
}

TYPED_TEST(L1CacheTest, TheLeastRecentlyUsedLineGoes) {
    TypeParam lines(cache(1, 3, 64));
    //                                                   the set after it, most recently used line first
    EXPECT_EQ(this->use(lines, line(1), 1), kNoLine);  // 1
    EXPECT_EQ(this->use(lines, line(2), 2), kNoLine);  // 2 1
    EXPECT_EQ(this->use(lines, line(1), 3), kNoLine);  // 1 2
    EXPECT_EQ(this->use(lines, line(3), 4), kNoLine);  // 3 1 2
    EXPECT_EQ(lines.slot_for(line(9)), lines.find(line(2)));
    EXPECT_EQ(this->use(lines, line(2), 5), kNoLine);  // 2 3 1
    EXPECT_EQ(this->use(lines, line(4), 6), line(1));  // 4 2 3
    EXPECT_EQ(this->use(lines, line(5), 7), line(3));  // 5 4 2
    EXPECT_EQ(this->use(lines, line(2), 8), kNoLine);  // 2 5 4
    EXPECT_EQ(this->use(lines, line(4), 9), kNoLine);  // 4 2 5
    EXPECT_EQ(this->use(lines, line(1), 10), line(5));
}

TYPED_TEST(L1CacheTest, LookingIsNoUse) {
    TypeParam lines(cache(1, 2, 64));
    this->use(lines, line(1), 1);
    this->use(lines, line(2), 2);
    EXPECT_NE(lines.find(line(1)), lines.kAbsent);
    EXPECT_NE(lines.guess(0x40, AccessGroup::of(1)), lines.kAbsent);
    EXPECT_EQ(this->use(lines, line(3), 3), line(1));
}

TYPED_TEST(L1CacheTest, SetsDoNotMeet) {
    TypeParam lines(cache(3, 1, 64));
    for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(this->use(lines, line(i), i + 1), kNoLine);
    EXPECT_EQ(this->use(lines, line(4), 4), line(1));
    EXPECT_EQ(this->use(lines, line(6), 5), line(0));
    EXPECT_NE(lines.find(line(2)), lines.kAbsent);
}

using Part = std::tuple<std::uint64_t, unsigned, unsigned>;  // line, offset, bytes
template <class Lines>
std::vector<Part> parts(const Lines& lines, Address address, std::uint32_t size) {
    std::vector<Part> parts;
    lines.for_each_part(address, size, [&](LineNumber number, unsigned offset, unsigned bytes) {
        parts.emplace_back(static_cast<std::uint64_t>(number), offset, bytes);
    });
    return parts;
}

TYPED_TEST(L1CacheTest, AccessesAreCutAtTheBordersOfLines) {
    const TypeParam lines(cache(2, 1, 64));
    EXPECT_EQ(parts(lines, 0x1038, 8), (std::vector<Part>{{0x40, 0x38, 8}}));
    EXPECT_EQ(parts(lines, 0x103c, 8), (std::vector<Part>{{0x40, 0x3c, 4}, {0x41, 0, 4}}));
    EXPECT_EQ(parts(lines, 0x103f, 66), (std::vector<Part>{{0x40, 0x3f, 1}, {0x41, 0, 64}, {0x42, 0, 1}}));
}

TEST(L1Cache, LinesMayHaveOtherSizes) {
    const L1Cache<test::kAnyUse, LineUse<test::kAnyUse>> short_lines(cache(2, 1, 16));
    EXPECT_EQ(parts(short_lines, 0x100c, 24), (std::vector<Part>{{0x100, 12, 4}, {0x101, 0, 16}, {0x102, 0, 4}}));
    EXPECT_FALSE(short_lines.is_within(0x100c, AccessGroup::of(8)));
    // A group that has no mask is not taken as a whole, even where it stays within a line.
    const L1Cache<test::kAnyUse, LineUse<test::kAnyUse>> long_lines(cache(2, 1, 256));
    EXPECT_TRUE(long_lines.is_within(0x1020, AccessGroup::of(64)));
    EXPECT_FALSE(long_lines.is_within(0x1020, AccessGroup::of(65)));
    const auto bytes = long_lines.bytes_of(0x1038, AccessGroup::of(16));
    EXPECT_EQ(bytes.count(), 16u);
    EXPECT_TRUE(bytes.test(0x38) && bytes.test(0x47));
}

}  // namespace
}  // namespace bd
