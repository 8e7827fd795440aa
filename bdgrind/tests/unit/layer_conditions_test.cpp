// SPDX-License-Identifier: GPL-2.0-or-later
//
// Three levels and loops whose traffic is known by hand: how many lines each level loads follows from whether what a
// loop comes back to fits the level (the layer conditions of stencils). Sizes lie on both sides of each level.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "program.h"

namespace bd {
namespace {

using LinesByLevel = std::array<double, 3>;  // D1, L2, LL

constexpr CacheGeometries kThreeLevels{
    .i1 = {4096, 8, 64}, .d1 = {4096, 8, 64}, .ll = {262144, 16, 64}, .l2 = {32768, 8, 64}};
constexpr std::array<double, 3> kBytes{4096, 32768, 262144};
constexpr Address kFirstArray = Address{1} << 30;
constexpr Address kBetweenArrays = (Address{1} << 26) + 64 * 37;

// A loop of so many reads and a write of 8 bytes each.
class Loop {
public:
    explicit Loop(unsigned reads) : engine_({.caches = kThreeLevels}) {
        const Function& function = program_.function("kernel");
        test::Code code = program_.code(function, 0x1000);
        for (unsigned i = 0; i < reads; ++i) code.op().reads(8);
        block_ = &code.op().writes(8).ends();
        trace_.thread(1);
    }

    void iterate(const std::vector<Word>& addresses) {
        trace_.run(*block_, 0x7fff0000, addresses);
        if (trace_.records() == 4096) replay();
    }

    LinesByLevel lines() {
        replay();
        engine_.finish();
        const std::vector<std::uint64_t> totals = engine_.totals(0);
        const auto sum = [&](Event reads, Event writes) {
            return static_cast<double>(totals[column(reads)] + totals[column(writes)]);
        };
        return {sum(Event::kD1mr, Event::kD1mw), sum(Event::kD2mr, Event::kD2mw), sum(Event::kDLmr, Event::kDLmw)};
    }

private:
    void replay() {
        if (trace_.records() != 0) engine_.replay_whole(trace_.all());
        trace_ = {};
    }

    test::Program program_;
    Block* block_;
    Engine engine_;
    test::Trace trace_;
};

Address array(unsigned number) {
    return kFirstArray + number * kBetweenArrays;
}

void expect_near(const LinesByLevel& found, const LinesByLevel& expected, const std::string& what) {
    for (std::size_t level = 0; level < found.size(); ++level) {
        EXPECT_NEAR(found[level], expected[level], 0.05 * expected[level]) << what << ", level " << level;
    }
}

// Whether so many bytes fit a level: the sizes here are far from both sides of it.
bool fits(double bytes, std::size_t level) {
    EXPECT_TRUE(bytes <= 0.6 * kBytes[level] || bytes >= 1.9 * kBytes[level]) << "a test's own mistake";
    return bytes <= kBytes[level];
}

// Copy has one array that is read, triad two; what fits is loaded once, all else in each of the passes.
TEST(LayerConditions, CopyAndTriad) {
    constexpr unsigned kPasses = 6;
    for (const unsigned reads : {1u, 2u}) {
        for (const unsigned elements : {96u, 768u, 6144u, 40000u}) {
            Loop loop(reads);
            for (unsigned pass = 0; pass < kPasses; ++pass) {
                for (Address i = 0; i < elements; ++i) {
                    std::vector<Word> addresses;
                    for (unsigned a = 0; a <= reads; ++a) addresses.push_back(array(a) + 8 * i);
                    loop.iterate(addresses);
                }
            }
            const double lines = (reads + 1) * elements / 8.0;
            LinesByLevel expected;
            for (std::size_t level = 0; level < 3; ++level) {
                expected[level] = fits(64 * lines, level) ? lines : kPasses * lines;
            }
            expect_near(loop.lines(), expected, std::to_string(reads) + " arrays, " + std::to_string(elements));
        }
    }
}

// b[j][i] = a[j - 1][i] + a[j][i - 1] + a[j][i] + a[j][i + 1] + a[j + 1][i]: where three rows of a and one of b fit, a
// line of a is loaded once, else in each of the three rows of which it is a neighbour.
TEST(LayerConditions, FivePointStencil) {
    struct Grid {
        unsigned width;
        unsigned rows;
    };
    for (const Grid grid : {Grid{56, 900}, Grid{480, 120}, Grid{3600, 24}, Grid{16400, 8}}) {
        Loop loop(5);
        for (Address j = 1; j <= grid.rows; ++j) {
            for (Address i = 0; i < grid.width; ++i) {
                const Address centre = array(0) + 8 * (j * grid.width + i);
                const Address row = 8 * Address{grid.width};
                loop.iterate({centre - row, centre - 8, centre, centre + 8, centre + row,
                              array(1) + 8 * (j * grid.width + i)});
            }
        }
        const double row_lines = grid.width / 8.0;
        LinesByLevel expected;
        for (std::size_t level = 0; level < 3; ++level) {
            const bool holds = fits(4.0 * 8 * grid.width, level);
            expected[level] = row_lines * (grid.rows + (holds ? grid.rows + 2.0 : 3.0 * grid.rows));
        }
        expect_near(loop.lines(), expected, "width " + std::to_string(grid.width));
    }
}

// b[i][j] = a[j][i], row by row of b: where the lines of a column of a fit, they serve eight columns.
TEST(LayerConditions, Transposition) {
    constexpr Address kColumns = 64;
    constexpr Address kPitch = 8 * (kColumns + 8);
    for (const Address rows : {24u, 200u, 1600u, 9000u}) {
        Loop loop(1);
        // Small ones several times, elsewhere.
        const Address times = rows < 1000 ? 20 : 1;
        for (Address time = 0; time < times; ++time) {
            for (Address i = 0; i < kColumns; ++i) {
                for (Address j = 0; j < rows; ++j) {
                    loop.iterate({array(0) + time * rows * kPitch + j * kPitch + 8 * i,
                                  array(1) + 8 * ((time * kColumns + i) * rows + j)});
                }
            }
        }
        const auto elements = static_cast<double>(times * rows * kColumns);
        LinesByLevel expected;
        for (std::size_t level = 0; level < 3; ++level) {
            const bool holds = fits(64.0 * static_cast<double>(rows), level);
            expected[level] = elements / 8 + (holds ? elements / 8 : elements);
        }
        expect_near(loop.lines(), expected, "rows " + std::to_string(rows));
    }
}

}  // namespace
}  // namespace bd
