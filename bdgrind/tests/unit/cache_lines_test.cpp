// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/cache_lines.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cache_fixture.h"

namespace bd {
namespace {

using test::line;

struct Nothing {};
using Lines = CacheLines<Nothing>;

// Uses or inserts a line; says "hit", "fill" or the number of the evicted line.
std::string touch(Lines& tags, LineNumber number) {
    if (const std::uint32_t index = tags.use(number); index != Lines::kAbsent) {
        EXPECT_EQ(tags[index], number);
        return "hit";
    }
    const Lines::Insertion made = tags.insert(number);
    EXPECT_EQ(tags[made.index], number);
    EXPECT_EQ(tags.find(number), made.index);
    return made.evicted == kNoLine ? "fill" : std::to_string(static_cast<std::uint64_t>(made.evicted));
}

TEST(CacheLines, ReplacesTheLeastRecentlyUsedLine) {
    Lines tags({.size_bytes = 4 * 64, .ways = 4, .line_bytes = 64});
    ASSERT_EQ(tags.set_of(line(0)), tags.set_of(line(6)));
    //                                            the set after it, most recently used line first
    EXPECT_EQ(touch(tags, line(0)), "fill");  //  0
    EXPECT_EQ(touch(tags, line(1)), "fill");  //  1 0
    EXPECT_EQ(touch(tags, line(2)), "fill");  //  2 1 0
    EXPECT_EQ(touch(tags, line(0)), "hit");   //  0 2 1
    EXPECT_EQ(touch(tags, line(3)), "fill");  //  3 0 2 1
    EXPECT_EQ(touch(tags, line(4)), "1");     //  4 3 0 2
    EXPECT_EQ(touch(tags, line(2)), "hit");   //  2 4 3 0
    EXPECT_EQ(touch(tags, line(2)), "hit");   //  2 4 3 0
    EXPECT_EQ(touch(tags, line(1)), "0");     //  1 2 4 3
    EXPECT_EQ(touch(tags, line(3)), "hit");   //  3 1 2 4
    EXPECT_EQ(touch(tags, line(5)), "4");     //  5 3 1 2
    EXPECT_EQ(touch(tags, line(6)), "2");     //  6 5 3 1
    EXPECT_EQ(touch(tags, line(0)), "1");     //  0 6 5 3
}

TEST(CacheLines, FindingIsNoUse) {
    Lines tags({.size_bytes = 2 * 64, .ways = 2, .line_bytes = 64});
    EXPECT_EQ(touch(tags, line(0)), "fill");  //  0
    EXPECT_EQ(touch(tags, line(1)), "fill");  //  1 0
    EXPECT_NE(tags.find(line(0)), Lines::kAbsent);
    EXPECT_EQ(tags.find(line(2)), Lines::kAbsent);
    EXPECT_EQ(touch(tags, line(2)), "0");     //  2 1
}

TEST(CacheLines, ALineKeepsItsIndexAsLongAsItStays) {
    Lines tags({.size_bytes = 4 * 64, .ways = 4, .line_bytes = 64});
    const std::uint32_t index = tags.insert(line(7)).index;
    for (const std::uint64_t other : {1, 2, 3, 4, 5, 6, 1, 8}) {
        touch(tags, line(other));
        EXPECT_EQ(tags.use(line(7)), index);
    }
}

TEST(CacheLines, WithOneWayEveryLineOfASetEvictsTheOther) {
    Lines tags({.size_bytes = 2 * 64, .ways = 1, .line_bytes = 64});
    ASSERT_EQ(tags.set_of(line(0)), tags.set_of(line(2)));
    ASSERT_NE(tags.set_of(line(0)), tags.set_of(line(1)));
    EXPECT_EQ(touch(tags, line(0)), "fill");  //  0 | -
    EXPECT_EQ(touch(tags, line(1)), "fill");  //  0 | 1
    EXPECT_EQ(touch(tags, line(2)), "0");     //  2 | 1
    EXPECT_EQ(touch(tags, line(0)), "2");     //  0 | 1
    EXPECT_EQ(touch(tags, line(1)), "hit");   //  0 | 1
}

TEST(CacheLines, TheNumberOfSetsNeedNotBeAPowerOfTwo) {
    Lines tags({.size_bytes = 3 * 2 * 64, .ways = 2, .line_bytes = 64});
    EXPECT_EQ(tags.size(), 6u);
    EXPECT_EQ(tags.set_of(line(5)), 2u);
    EXPECT_EQ(tags.set_of(line(6)), 0u);
    //                                            set 0 | set 1 | set 2
    EXPECT_EQ(touch(tags, line(0)), "fill");  //  0     | -     | -
    EXPECT_EQ(touch(tags, line(4)), "fill");  //  0     | 4     | -
    EXPECT_EQ(touch(tags, line(3)), "fill");  //  3 0   | 4     | -
    EXPECT_EQ(touch(tags, line(5)), "fill");  //  3 0   | 4     | 5
    EXPECT_EQ(touch(tags, line(6)), "0");     //  6 3   | 4     | 5
    EXPECT_EQ(touch(tags, line(8)), "fill");  //  6 3   | 4     | 8 5
    EXPECT_EQ(touch(tags, line(2)), "5");     //  6 3   | 4     | 2 8
    EXPECT_EQ(touch(tags, line(3)), "hit");   //  3 6   | 4     | 2 8
}

TEST(CacheLines, ASingleSetTakesEveryLine) {
    Lines tags({.size_bytes = 3 * 64, .ways = 3, .line_bytes = 64});
    EXPECT_EQ(tags.set_of(line(12345)), 0u);
}

// callgrind --cacheuse drops the upper half of a line's number.
TEST(CacheLines, TheWholeNumberIsTheTag) {
    Lines tags({.size_bytes = 4 * 64, .ways = 4, .line_bytes = 64});
    const auto far = [](unsigned bits) { return line(1 + (std::uint64_t{1} << bits)); };
    EXPECT_EQ(touch(tags, line(1)), "fill");
    EXPECT_EQ(touch(tags, far(26)), "fill");  // 4 GiB apart
    EXPECT_EQ(touch(tags, far(32)), "fill");
    EXPECT_EQ(touch(tags, far(57)), "fill");
    EXPECT_EQ(touch(tags, line(1)), "hit");
}

TEST(CacheLines, LineZeroIsALineLikeAnyOther) {
    Lines tags({.size_bytes = 2 * 64, .ways = 2, .line_bytes = 64});
    EXPECT_EQ(tags.find(line(0)), Lines::kAbsent);
    EXPECT_EQ(tags.use(line(0)), Lines::kAbsent);
    EXPECT_EQ(touch(tags, line(0)), "fill");
    EXPECT_EQ(touch(tags, line(0)), "hit");
}

TEST(CacheLines, AClearedSlotIsEmpty) {
    for (const std::uint32_t ways : {2, 16, 20, 32}) {
        Lines tags({.size_bytes = ways * 64, .ways = ways, .line_bytes = 64});
        const std::uint32_t index = tags.insert(line(3)).index;
        tags.clear(index);
        EXPECT_EQ(tags[index], kNoLine);
        for (const std::uint64_t number : {3, 0}) EXPECT_EQ(tags.find(line(number)), Lines::kAbsent) << ways << " ways";
    }
}

// With 14 ways the order of use stands where the tags of two more would be. It is no tag, whatever its value.
TEST(CacheLines, NoLineIsFoundInTheOrderOfUse) {
    Lines tags({.size_bytes = 14 * 64, .ways = 14, .line_bytes = 64});
    LruOrder same_order{};
    for (std::uint64_t number = 1; number <= 20; ++number) {
        tags.insert(line(number));
        same_order.use_oldest(14);
        const auto bits = std::bit_cast<std::uint64_t>(same_order);
        for (const std::uint64_t half : {bits & 0xffffffff, bits >> 32}) {
            EXPECT_EQ(tags.find(line(half - 1)), Lines::kAbsent) << number;
        }
    }
}

// Tags may not tell a line whose number is long, whether it is alone in its set or not.
TEST(CacheLines, EachLineIsVisitedOnce) {
    for (const std::uint32_t ways : {1, 14, 16, 20, 32, 33}) {
        Lines tags({.size_bytes = 8 * ways * 64, .ways = ways, .line_bytes = 64});
        std::vector<std::uint64_t> expected;
        for (const std::uint64_t number : {1ull, 9ull, 6ull, 0xffff'ffffull, 0x1'ffff'ffffull}) {
            std::erase(expected, static_cast<std::uint64_t>(tags.insert(line(number)).evicted));
            expected.push_back(number);
            std::vector<std::uint64_t> visited;
            tags.for_each([&](std::uint32_t index) { visited.push_back(static_cast<std::uint64_t>(tags[index])); });
            std::sort(visited.begin(), visited.end());
            std::sort(expected.begin(), expected.end());
            EXPECT_EQ(visited, expected) << ways << " ways";
        }
        std::size_t left = expected.size();
        tags.for_each([&](std::uint32_t index) {
            tags.clear(index);
            --left;
        });
        EXPECT_EQ(left, 0u) << ways << " ways";
        tags.for_each([&](std::uint32_t index) { ADD_FAILURE() << index; });
    }
}

// Caches of up to 16 and of up to 32 ways are searched in other ways than those with more.
TEST(CacheLines, FillsAndReplacesAnyNumberOfWaysInOrder) {
    for (const std::uint32_t ways : {1, 2, 3, 7, 8, 11, 12, 15, 16, 17, 20, 31, 32, 33, 64, 1000}) {
        Lines tags({.size_bytes = ways * 64, .ways = ways, .line_bytes = 64});
        for (std::uint64_t i = 0; i < ways; ++i) ASSERT_EQ(touch(tags, line(i)), "fill") << ways << " ways";
        for (std::uint64_t i = 0; i < ways; ++i) ASSERT_EQ(touch(tags, line(i)), "hit") << ways << " ways";
        for (std::uint64_t i = 0; i < 3 * ways; ++i) {
            ASSERT_EQ(touch(tags, line(ways + i)), std::to_string(i)) << ways << " ways";
        }
    }
}

// A look-up may compare a part of each tag first. These lines agree in their low 16 bits, in the exclusive or
// of their 16-bit parts, or in their low 32 bits, with each other or with an empty made.
TEST(CacheLines, LinesThatAgreeInPartOfTheirTagsAreTold) {
    for (const std::uint32_t ways : {4, 16, 20, 32, 33}) {
        Lines tags({.size_bytes = ways * 64, .ways = ways, .line_bytes = 64});
        const std::uint64_t similar[] = {0x1'0001, 0x1'0000'0001, 0, 0x1'0001'0000};
        for (const std::uint64_t number : similar) {
            EXPECT_EQ(tags.find(line(number)), Lines::kAbsent);
            EXPECT_EQ(touch(tags, line(number)), "fill");
        }
        for (const std::uint64_t number : similar) EXPECT_EQ(touch(tags, line(number)), "hit");
    }
}

TEST(CacheLines, BehavesLikeListsOfLines) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const auto ways = static_cast<std::uint32_t>(1 + random() % 36);
        const std::uint64_t sets = 1 + random() % 9;
        Lines tags({.size_bytes = ways * sets * 32, .ways = ways, .line_bytes = 32});
        std::vector<std::vector<std::uint64_t>> expected(sets);  // most recently used line first
        // So far apart that some agree in part of their tags.
        const unsigned far = static_cast<unsigned>(random() % 40);
        const bool removes = seed % 2 != 0;
        for (int step = 0; step < 400; ++step) {
            const std::uint64_t near = random() % (ways * sets * 2);
            const std::uint64_t number = random() % 2 == 0 ? near : near ^ near << far;
            auto& set = expected[number % sets];
            if (removes && random() % 5 == 0) {
                const std::uint32_t index = tags.find(line(number));
                ASSERT_EQ(index != Lines::kAbsent, std::erase(set, number) == 1);
                if (index != Lines::kAbsent) tags.remove(index);
                continue;
            }
            std::string outcome = "fill";
            if (const auto found = std::find(set.begin(), set.end(), number); found != set.end()) {
                outcome = "hit";
                set.erase(found);
            } else if (set.size() == ways) {
                outcome = std::to_string(set.back());
                set.pop_back();
            }
            set.insert(set.begin(), number);
            ASSERT_EQ(touch(tags, line(number)), outcome)
                << "seed " << seed << " step " << step << ": " << sets << " sets of " << ways;
        }
    }
}

// A last-level cache of half a gigabyte has up to 100 MiB of tags; a small program must not take them all.
TEST(CacheLines, OnlyTheSetsThatAreUsedTakeMemory) {
    const auto resident_pages = [] {
        std::size_t all = 0;
        std::size_t resident = 0;
        std::ifstream("/proc/self/statm") >> all >> resident;
        return resident;
    };
    const std::size_t before = resident_pages();
    ASSERT_NE(before, 0u);
    Lines tags({.size_bytes = std::uint64_t{512} << 20, .ways = 16, .line_bytes = 64});
    for (std::uint64_t number = 0; number < 100; ++number) touch(tags, line(number * 1000003));
    // The sanitizer keeps a byte for every eight, hence the margin.
    EXPECT_LT((resident_pages() - before) * 4096, std::size_t{20} << 20);
}

// Nor must a small program wait until the kernel has supplied a page for every few sets without lines. (With huge pages
// for everything, there is nothing to be seen.)
TEST(CacheLines, SetsWithoutLinesAreNotReadWhenLinesAreVisited) {
    const auto page_faults = [] {
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        return used.ru_minflt;
    };
    using LinesWithUse = CacheLines<std::array<char, 24>>;
    LinesWithUse tags({.size_bytes = std::uint64_t{32} << 20, .ways = 16, .line_bytes = 64});
    for (std::uint64_t number = 0; number < 100; ++number) tags.insert(line(number));
    const long before = page_faults();
    int visited = 0;
    tags.for_each([&](std::uint32_t) { ++visited; });
    EXPECT_EQ(visited, 100);
    // The slots, of 32 bytes each, take 4,096 pages.
    EXPECT_LT(page_faults() - before, 1000);
}

}  // namespace
}  // namespace bd
