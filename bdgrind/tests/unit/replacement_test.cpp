// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/base/replacement.h"

#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cache_fixture.h"
#include "engine/cache/cache_lines.h"
#include "engine/cache/l1_cache.h"
#include "text.h"

namespace bd {
namespace {

using test::line;

struct NoUse {};
using PolicyLines = CacheLines<NoUse>;

Replacement policy_named(const char* name) {
    Replacement replacement;
    EXPECT_EQ(parse_replacement(name, &replacement), nullptr) << name;
    return replacement;
}

// One set with that policy.
PolicyLines one_set(const char* policy, std::uint32_t ways) {
    const CacheGeometry geometry{
        .size_bytes = ways * 64, .ways = ways, .line_bytes = 64, .replacement = policy_named(policy)};
    EXPECT_EQ(geometry_error(geometry), nullptr);
    return PolicyLines(geometry);
}

// Accesses lines, named by letters. Returns, for each access, '.' if it hits, '-' if a line is loaded into an empty
// way, or the line that had to go.
std::string outcomes_of(PolicyLines& lines, const std::string& letters) {
    std::string outcomes;
    for (const char letter : letters) {
        const LineNumber number = line(static_cast<std::uint64_t>(letter));
        if (lines.use(number) != PolicyLines::kAbsent) {
            outcomes += '.';
            continue;
        }
        const LineNumber evicted = lines.insert(number).evicted;
        outcomes += evicted == kNoLine ? '-' : static_cast<char>(static_cast<std::uint64_t>(evicted));
    }
    return outcomes;
}

TEST(Replacement, APolicyHasAName) {
    for (const char* name : {"lru", "tree-plru", "lru3plru4", "bit-plru", "fifo", "random,0", "random,17",
                             "random,18446744073709551615", "QLRU_H11_M1_R0_U0", "QLRU_H00_M1_R2_U1",
                             "QLRU_H21_M3_R1_U3_UMO"}) {
        test::Text text;
        write_replacement(text, policy_named(name));
        EXPECT_EQ(text.finished(), name);
    }
    EXPECT_EQ(policy_named("random"), policy_named("random,0"));
    EXPECT_EQ(policy_named("lru"), Replacement{});
    EXPECT_EQ(policy_named("QLRU_H21_M2_R1_U3").ages,
              (QuadAges{.hit_at_3 = 2, .hit_at_2 = 1, .loaded = 2, .replace = 1, .update = 3}));
}

TEST(Replacement, NothingElseIsAName) {
    for (const char* name : {"", "LRU", "plru", "mru", "random,", "random,x", "random,1,", "random,-1",
                             "random,18446744073709551616", "random1", "QLRU", "QLRU_", "QLRU_H11_M1_R0",
                             "QLRU_H30_M1_R0_U0", "QLRU_H01_M1_R0_U0", "QLRU_H22_M1_R0_U0", "QLRU_H11_M4_R0_U0",
                             "QLRU_H11_M1_R3_U0", "QLRU_H11_M1_R0_U4", "QLRU_H11_M1_R0_U2", "QLRU_H11_M1_R2_U3",
                             "QLRU_H11_M1_R0_U0_", "QLRU_H11_M1_R0_U0_UMOS", "qlru_h11_m1_r0_u0"}) {
        Replacement replacement = policy_named("fifo");
        EXPECT_NE(parse_replacement(name, &replacement), nullptr) << name;
        EXPECT_EQ(replacement, policy_named("fifo")) << name;
    }
}

TEST(Replacement, ATreeNeedsAPowerOfTwo) {
    CacheGeometry geometry{
        .size_bytes = 12 * 64, .ways = 12, .line_bytes = 64, .replacement = policy_named("tree-plru")};
    EXPECT_STREQ(geometry_error(geometry), "tree-plru needs a number of ways that is a power of two");
    geometry.replacement = policy_named("bit-plru");
    EXPECT_EQ(geometry_error(geometry), nullptr);
}

TEST(Replacement, ThreeTreesNeedTwelveWays) {
    CacheGeometry geometry{
        .size_bytes = 24 * 64, .ways = 24, .line_bytes = 64, .replacement = policy_named("lru3plru4")};
    EXPECT_STREQ(geometry_error(geometry), "lru3plru4 needs 12 ways");
    geometry.ways = 12;
    EXPECT_EQ(geometry_error(geometry), nullptr);
}

// By hand: after a hit, each node above the line leads to its other half.
TEST(Replacement, TreePlru) {
    PolicyLines lines = one_set("tree-plru", 4);
    EXPECT_EQ(outcomes_of(lines, "abcd"), "----");  // to a, of either half the first
    EXPECT_EQ(outcomes_of(lines, "a"), ".");        // to c, then b in the other half
    EXPECT_EQ(outcomes_of(lines, "e"), "c");        // a b e d: to b, then d
    EXPECT_EQ(outcomes_of(lines, "f"), "b");        // a f e d: to d, then a
    EXPECT_EQ(outcomes_of(lines, "d"), ".");        // to a, then e
    EXPECT_EQ(outcomes_of(lines, "g"), "a");        // g f e d
    EXPECT_EQ(outcomes_of(lines, "h"), "e");        // LRU would replace e as well, but then d, not f
    EXPECT_EQ(outcomes_of(lines, "i"), "f");
}

// By hand: the tree that was used least recently is asked, and leads to another line than the one used last.
TEST(Replacement, Lru3Plru4) {
    PolicyLines lines = one_set("lru3plru4", 12);
    EXPECT_EQ(outcomes_of(lines, "abcdefghijkl"), "------------");  // abcd efgh ijkl, each to its first line
    EXPECT_EQ(outcomes_of(lines, "mn"), "ae");                      // mbcd nfgh ijkl
    EXPECT_EQ(outcomes_of(lines, "i"), ".");                        // the first tree is the oldest one now, to c
    EXPECT_EQ(outcomes_of(lines, "opq"), "cgk");                    // mbod nfph ijql
    EXPECT_EQ(outcomes_of(lines, "mr"), ".f");                      // mbod nrph ijql
    EXPECT_EQ(outcomes_of(lines, "st"), "jd");                      // mbot nrph isql
}

// D1 and I1 follow no state of a set, but derive who leaves from when lines were used.
TEST(Replacement, TheFirstLevelChoosesAsTheOthersDo) {
    using FirstLevel = L1Cache<CacheTraits{.common_lines = true, .line_use = false, .write_back = false},
                               LineUse<CacheTraits{.common_lines = true, .line_use = false, .write_back = false}>>;
    for (const auto& [policy, ways] : {std::pair{"tree-plru", 1u}, {"tree-plru", 2u}, {"tree-plru", 8u},
                                       {"tree-plru", 16u}, {"lru3plru4", 12u}, {"fifo", 6u}, {"random,5", 7u}}) {
        PolicyLines others = one_set(policy, ways);
        FirstLevel first(
            {.size_bytes = ways * 64, .ways = ways, .line_bytes = 64, .replacement = policy_named(policy)});
        std::mt19937 random(ways);
        std::uint64_t now = 0;
        for (int i = 0; i < 20000; ++i) {
            const LineNumber number = line(1 + random() % (2 * ways + 1));
            std::uint32_t slot = first.find(number);
            const bool is_here = slot != FirstLevel::kAbsent;
            ASSERT_EQ(is_here, others.use(number) != PolicyLines::kAbsent) << policy;
            if (random() % 200 == 0 && is_here) {
                first.remove(slot);
                others.remove(others.find(number));
                continue;
            }
            if (is_here) {
                first.time_of(slot) = ++now;
                continue;
            }
            slot = first.slot_for(number);
            ASSERT_EQ(first.replace(slot, number, ++now), others.insert(number).evicted) << policy << ", " << i;
        }
    }
}

// By hand: a line has a bit once it is used; the one that would be the last without one clears those of all others.
TEST(Replacement, BitPlru) {
    PolicyLines lines = one_set("bit-plru", 4);
    EXPECT_EQ(outcomes_of(lines, "abcd"), "----");  // 0001
    EXPECT_EQ(outcomes_of(lines, "b"), ".");        // 0101
    EXPECT_EQ(outcomes_of(lines, "e"), "a");        // e b c d, 1101
    EXPECT_EQ(outcomes_of(lines, "f"), "c");        // e b f d, 0010
    EXPECT_EQ(outcomes_of(lines, "g"), "e");        // g b f d, 1010
    EXPECT_EQ(outcomes_of(lines, "ghi"), ".bd");    // g h f i, 0001
    EXPECT_EQ(outcomes_of(lines, "j"), "g");
}

TEST(Replacement, AFifoIgnoresHits) {
    for (const std::uint32_t ways : {4, 17, 40}) {
        PolicyLines lines = one_set("fifo", ways);
        std::string letters;
        for (std::uint32_t i = 0; i < ways; ++i) letters += static_cast<char>('0' + i);
        EXPECT_EQ(outcomes_of(lines, letters), std::string(ways, '-'));
        EXPECT_EQ(outcomes_of(lines, "0120"), "....");
        EXPECT_EQ(outcomes_of(lines, "xyz0"), "0123") << ways;
    }
}

TEST(Replacement, AtRandomEachWayIsReplacedAsOftenAndEachTimeTheSame) {
    const auto replaced = [](const char* policy) {
        constexpr std::uint32_t kWays = 6;
        PolicyLines lines = one_set(policy, kWays);
        std::array<unsigned, kWays> times{};
        std::vector<std::uint32_t> ways;
        for (std::uint64_t number = 0; number < 60'000 + kWays; ++number) {
            const PolicyLines::Insertion made = lines.insert(line(number));
            if (made.evicted == kNoLine) continue;
            ++times[made.index];
            ways.push_back(made.index);
        }
        for (const unsigned each : times) EXPECT_NEAR(each, 10'000, 400);
        return ways;
    };
    EXPECT_EQ(replaced("random,5"), replaced("random,5"));
    EXPECT_NE(replaced("random,5"), replaced("random,6"));
}

// By hand, with the ages behind each access.
TEST(Replacement, QuadAgesOfCoffeeLakesLastLevel) {
    PolicyLines lines = one_set("QLRU_H11_M1_R0_U0", 4);
    EXPECT_EQ(outcomes_of(lines, "abc"), "---");  // 1113, as the empty way counts as the oldest
    EXPECT_EQ(outcomes_of(lines, "d"), "-");      // 1111, then all grow older by 2: 3333
    EXPECT_EQ(outcomes_of(lines, "a"), ".");      // 1333
    EXPECT_EQ(outcomes_of(lines, "a"), ".");      // 0333
    EXPECT_EQ(outcomes_of(lines, "e"), "b");      // 0133
    EXPECT_EQ(outcomes_of(lines, "fg"), "cd");    // 0113, 0111 and so 2333
    EXPECT_EQ(outcomes_of(lines, "h"), "e");      // 2133
    EXPECT_EQ(outcomes_of(lines, "ij"), "fg");    // 2113, 2111 and so 3222
    EXPECT_EQ(outcomes_of(lines, "k"), "a");
}

TEST(Replacement, QuadAgesOfCoffeeLakesSecondLevel) {
    PolicyLines lines = one_set("QLRU_H00_M1_R2_U1", 4);
    // From the last way on. Those that are not accessed grow older until one of them is of age 3.
    EXPECT_EQ(outcomes_of(lines, "abc"), "---");  // -cba: 3111
    EXPECT_EQ(outcomes_of(lines, "d"), "-");      // dcba: 1333
    EXPECT_EQ(outcomes_of(lines, "c"), ".");      // 1033
    EXPECT_EQ(outcomes_of(lines, "e"), "b");      // dcea: 1013
    EXPECT_EQ(outcomes_of(lines, "f"), "a");      // dcef: 1011, and the others by 2: 3231
    EXPECT_EQ(outcomes_of(lines, "g"), "d");      // gcef: 1231
    EXPECT_EQ(outcomes_of(lines, "e"), ".");      // 1201, and by 1: 2302
    EXPECT_EQ(outcomes_of(lines, "h"), "c");
}

TEST(Replacement, QuadAgesOfIvyBridge) {
    PolicyLines lines = one_set("QLRU_H11_M1_R1_U2", 2);
    EXPECT_EQ(outcomes_of(lines, "ab"), "--");  // 13, 11 and so 22
    EXPECT_EQ(outcomes_of(lines, "a"), ".");    // 12 and so 23
    EXPECT_EQ(outcomes_of(lines, "a"), ".");    // 13
    EXPECT_EQ(outcomes_of(lines, "c"), "b");    // 11 and so 22
    EXPECT_EQ(outcomes_of(lines, "d"), "a");    // none is of age 3: the first one
}

// By hand: 12 sets are three times four, so that two bits are mixed. 0b1101'10 is in set 54 % 12 = 6 without.
TEST(Replacement, AHashedIndexMixesAllBits) {
    CacheGeometry geometry{.size_bytes = 12 * 64, .ways = 1, .line_bytes = 64};
    EXPECT_EQ(PolicyLines(geometry).set_of(line(0b110110)), 6u);
    geometry.index = SetIndex::kHash;
    EXPECT_EQ(PolicyLines(geometry).set_of(line(0b110110)), (0b110100u | (0b10u ^ 0b01u ^ 0b11u)) % 12);
    geometry = {.size_bytes = 13 * 64, .ways = 1, .line_bytes = 64, .index = SetIndex::kHash};
    EXPECT_EQ(PolicyLines(geometry).set_of(line(100)), 100u % 13);
}

// Of as many consecutive lines as there are, each set has as many, and lines at any power of two from each other are in
// different sets.
TEST(Replacement, AHashedIndexUsesAllSetsAlike) {
    for (const std::uint64_t sets : {64, 96, 40960}) {
        const PolicyLines lines({.size_bytes = sets * 64, .ways = 1, .line_bytes = 64, .index = SetIndex::kHash});
        std::vector<unsigned> used(sets);
        for (std::uint64_t number = 0; number < 2 * sets; ++number) ++used[lines.set_of(line(7 * sets + number))];
        EXPECT_EQ(used, std::vector<unsigned>(sets, 2)) << sets;
        for (unsigned bits = 0; bits < 40; ++bits) {
            EXPECT_NE(lines.set_of(line(0)), lines.set_of(line(std::uint64_t{1} << bits))) << sets << ' ' << bits;
        }
    }
}

// By hand: sets of one way, as many as there are lines in two pages.
TEST(Replacement, ContiguousPagesFollowEachOtherInTheOrderOfTheirFirstUse) {
    PagePlacement pages({.frames = PageFrames::kContiguous});
    PolicyLines lines({.size_bytes = 8192, .ways = 1, .line_bytes = 64}, &pages);
    const auto first = [](std::uint64_t page) { return line(page * 64); };
    const auto use = [&](LineNumber number) {
        if (lines.use(number) == PolicyLines::kAbsent) lines.insert(number);
    };
    use(line(40 * 64 + 3));
    use(line(12 * 64 + 3));
    use(line(40 * 64 + 5));
    use(line(7 * 64 + 3));
    // Frames 1, 2 and 3.
    EXPECT_EQ(lines.set_of(first(40)), 64u);
    EXPECT_EQ(lines.set_of(first(12)), 0u);
    EXPECT_EQ(lines.set_of(first(7)), 64u);
    EXPECT_EQ(lines.find(line(40 * 64 + 3)), PolicyLines::kAbsent);
    EXPECT_NE(lines.find(line(40 * 64 + 5)), PolicyLines::kAbsent);
    EXPECT_NE(lines.find(line(7 * 64 + 3)), PolicyLines::kAbsent);
}

TEST(Replacement, RandomPagesAreSpreadEvenlyAndDifferBySeed) {
    constexpr std::uint64_t kPages = 64'000;
    std::vector<std::size_t> sets[2];
    for (const std::uint64_t seed : {0, 1}) {
        PagePlacement pages({.frames = PageFrames::kRandom, .seed = seed});
        const PolicyLines lines({.size_bytes = 64 * 4096, .ways = 1, .line_bytes = 64}, &pages);
        std::array<unsigned, 64> used{};
        for (std::uint64_t page = 0; page < kPages; ++page) {
            const std::size_t set = lines.set_of(line(page * 64 + 17));
            EXPECT_EQ(set % 64, 17u);
            ++used[set / 64];
            sets[seed].push_back(set);
        }
        for (const unsigned each : used) EXPECT_NEAR(each, kPages / 64, 150);
    }
    EXPECT_NE(sets[0], sets[1]);
}

TEST(Replacement, PlacesOfPagesAreNamed) {
    PageRules rules;
    EXPECT_EQ(parse_page_rules("random,12", &rules), nullptr);
    EXPECT_EQ(rules, (PageRules{.frames = PageFrames::kRandom, .seed = 12}));
    EXPECT_EQ(parse_page_rules("random", &rules), nullptr);
    EXPECT_EQ(rules, (PageRules{.frames = PageFrames::kRandom, .seed = 0}));
    EXPECT_EQ(parse_page_rules("contiguous", &rules), nullptr);
    EXPECT_EQ(rules, (PageRules{.frames = PageFrames::kContiguous}));
    EXPECT_EQ(parse_page_rules("virtual", &rules), nullptr);
    EXPECT_EQ(rules, PageRules{});
    for (const char* text : {"", "Virtual", "random,", "random:1", "random,1,2", "contiguous,1", "physical"}) {
        EXPECT_NE(parse_page_rules(text, &rules), nullptr) << text;
    }
}

}  // namespace
}  // namespace bd
