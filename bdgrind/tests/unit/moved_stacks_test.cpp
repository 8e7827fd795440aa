// SPDX-License-Identifier: GPL-2.0-or-later
//
// D1s of stacks that begin elsewhere: each must miss what a list of lines in the order of their use misses, of a trace
// in which these addresses are others.

#include "engine/cache/moved_stacks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "program.h"
#include "runs.h"

namespace bd {
namespace {

constexpr Address kStackBegin = 0x1f'feff'f000;

struct LinesInOrder {
    CacheGeometry geometry;
    std::vector<std::list<Address>> sets{geometry.size_bytes / geometry.ways / geometry.line_bytes};
    std::array<std::uint64_t, 2> misses{};

    void touch(Address address, unsigned size, bool writes) {
        for (Address line = address / geometry.line_bytes; line <= (address + size - 1) / geometry.line_bytes; ++line) {
            std::list<Address>& set = sets[line % sets.size()];
            const auto found = std::ranges::find(set, line);
            if (found == set.end()) {
                ++misses[writes];
                if (set.size() == geometry.ways) set.pop_back();
            } else if (geometry.replacement.policy == ReplacementPolicy::kFifo) {
                continue;
            } else {
                set.erase(found);
            }
            set.push_front(line);
        }
    }
};

// A block of six accesses in four groups, one of which may not happen.
struct MovedProgram {
    test::Program program;
    const Function& function = program.function("f");
    struct Made {
        unsigned size;
        bool writes;
        bool guarded;
        std::vector<int> joined{};  // reads of four bytes, so far from that
    };
    std::vector<Made> made{{8, false, false, {12, -8}}, {4, true, false}, {16, false, true}, {64, true, false}};
    Block& block = program.code(function, 0x1000)
                       .op().access(8, AccessKind::kRead, false)
                       .joins(4, AccessKind::kRead, 12)
                       .joins(4, AccessKind::kRead, -8)
                       .op().access(4, AccessKind::kWrite, false)
                       .op().access(16, AccessKind::kRead, true)
                       .op().access(64, AccessKind::kWrite, false)
                       .ends();

    std::vector<Word> addresses(std::mt19937& random) const {
        std::vector<Word> chosen;
        for (const Made& each : made) {
            if (each.guarded && random() % 2 == 0) {
                chosen.push_back(0);
                continue;
            }
            switch (random() % 5) {
                case 0: chosen.push_back(0x4000'0000 + random() % 4096); break;
                case 1: chosen.push_back(kStackBegin + random() % 512); break;
                case 2: chosen.push_back(kStackBegin - (8 << 20) + random() % 256 - 128); break;
                case 3: chosen.push_back(kStackBegin + (1 << 20) + random() % 256 - 128); break;
                default: chosen.push_back(kStackBegin - random() % 3000);
            }
        }
        return chosen;
    }
};

TEST(MovedStacks, EachMissesWhatOneThatLiesThereDoes) {
    const MovedProgram program;
    for (unsigned seed = 0; seed < test::runs(100) && !testing::Test::HasFailure(); ++seed) {
        std::mt19937 random(seed);
        const std::uint32_t line_bytes = 16u << random() % 5;
        const auto ways = static_cast<std::uint32_t>(1 + random() % 4);
        CacheGeometry geometry{std::uint64_t{1 + random() % 16} * ways * line_bytes, ways, line_bytes};
        if (random() % 3 == 0) geometry.replacement.policy = ReplacementPolicy::kFifo;
        MovedStacks stacks(geometry, 4, seed);
        ASSERT_EQ(stacks.number(), 4u);
        EXPECT_EQ(stacks.distance(0), 0u);
        std::vector<LinesInOrder> expected(4, LinesInOrder{geometry});
        test::Trace trace;
        trace.mark(Marker::kCollect, 1);
        std::vector<MovedStacks::Misses> sums(4);
        for (unsigned record = 0; record < 200; ++record) {
            const std::vector<Word> addresses = program.addresses(random);
            trace.run(program.block, record == 0 ? kStackBegin : 0x5000, addresses);
            for (std::size_t i = 0; i < 4; ++i) {
                for (std::size_t access = 0; access < addresses.size(); ++access) {
                    const auto& made = program.made[access];
                    const Word address = addresses[access];
                    if (address == 0) continue;
                    const bool on_stack = address >= 0x1f'fe7f'f000 && address < 0x1f'ff0f'f000;
                    const Address moved = address - (on_stack ? stacks.distance(i) : 0);
                    expected[i].touch(moved, made.size, made.writes);
                    for (const int distance : made.joined) {
                        expected[i].touch(moved + static_cast<Address>(std::int64_t{distance}), 4, false);
                    }
                }
            }
        }
        for (std::size_t begin = 0; begin < 201; begin += 67) {
            std::vector<MovedStacks::Misses> misses{{1, 1}};
            stacks.run(trace.batch(begin, begin + 67), &misses);
            ASSERT_EQ(misses.size(), 4u);
            for (std::size_t i = 0; i < 4; ++i) {
                for (const std::size_t writes : {0, 1}) sums[i][writes] += misses[i][writes];
            }
        }
        for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(sums[i], expected[i].misses) << "seed " << seed << ", stack " << i;
        }
    }
}

TEST(MovedStacks, LieAtOtherPlacesInAPage) {
    const MovedStacks stacks({32768, 8, 64}, 32, 5);
    std::set<Address> distances;
    for (std::size_t i = 0; i < stacks.number(); ++i) {
        EXPECT_EQ(stacks.distance(i) % 16, 0u);
        EXPECT_LT(stacks.distance(i), 4096u);
        distances.insert(stacks.distance(i));
    }
    EXPECT_GT(distances.size(), 25u);
    EXPECT_GT(*distances.rbegin(), 3500u);
    // The next seed has the next ones.
    const MovedStacks next({32768, 8, 64}, 3, 6);
    EXPECT_EQ(next.distance(1), stacks.distance(2));
    // Where sets are more than a page, so are places.
    const MovedStacks large({131072, 4, 64}, 32, 5);
    Address most = 0;
    for (std::size_t i = 0; i < large.number(); ++i) most = std::max(most, large.distance(i));
    EXPECT_GT(most, 16384u);
    EXPECT_LT(most, 32768u);
}

// The first 8 Mi words count, and of each 2 Mi behind these the second to fourth 64 Ki.
TEST(MovedStacks, CountAPartOfALongRun) {
    const MovedProgram program;
    MovedStacks stacks({1024, 2, 64}, 2, 1);
    test::Trace trace;
    std::mt19937 random(1);
    constexpr std::uint64_t kWords = 6 * 2048;  // a record has six
    for (unsigned i = 0; i < kWords / 6; ++i) trace.run(program.block, kStackBegin, program.addresses(random));
    ASSERT_EQ(trace.all().size(), kWords);
    std::vector<MovedStacks::Misses> misses;
    std::uint64_t counted = 0;
    std::uint64_t behind = 0;
    for (std::uint64_t at = 0; at < 16u << 20; at += kWords) {
        stacks.run(trace.all(), &misses);
        const std::uint64_t in_period = at % (2u << 20);
        const bool counts = at < 8u << 20 || (in_period >= 65536 && in_period < 4 * 65536);
        EXPECT_EQ(misses.size(), counts ? 2u : 0u) << at;
        counted += counts;
        behind += counts && at >= 8u << 20;
        for (const auto& each : misses) EXPECT_GT(each[0] + each[1], 0u);
    }
    EXPECT_GT(behind, 4 * 14u);
    EXPECT_LT(counted, 800u);
    stacks.flush();
}

TEST(MovedStacks, AreEmptyBehindAFlush) {
    const MovedProgram program;
    MovedStacks stacks({1024, 2, 64}, 2, 1);
    test::Trace trace;
    trace.run(program.block, kStackBegin, {kStackBegin, kStackBegin + 8, 0, kStackBegin + 64});
    std::vector<MovedStacks::Misses> first;
    std::vector<MovedStacks::Misses> again;
    stacks.run(trace.all(), &first);
    EXPECT_EQ(first[0], (MovedStacks::Misses{2, 1}));  // two lines around its begin are read, the next is written
    stacks.run(trace.all(), &again);
    EXPECT_EQ(again, (std::vector<MovedStacks::Misses>(2)));
    stacks.flush();
    stacks.run(trace.all(), &again);
    EXPECT_EQ(again, first);
}

}  // namespace
}  // namespace bd
