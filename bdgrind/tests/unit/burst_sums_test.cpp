// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/burst_sums.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "callgrind_fixture.h"
#include "program.h"

namespace bd {
namespace {

using test::Program;
using test::Trace;
using enum JumpKind;
using Kind = BurstSums::Row::Kind;

// Where instructions are as many as blocks, so that all events go by the same.
constexpr RunLength both(std::uint64_t length) {
    return {length, length};
}

// A program of main and f, of which f is called another number of times in each burst. Ir, Dr and Dw only.
class BurstSumsTest : public testing::Test {
protected:
    // main's block has two instructions, f's three in two lines, the last of which reads.
    void run(unsigned calls) {
        Trace trace;
        trace.collect(true).thread(1);
        for (unsigned i = 0; i < calls; ++i) trace.run(calls_, 1000).run(in_f_, 992, {0x100});
        trace.run(calls_, 1000);
        trace.collect(false).run(in_f_, 992, {0x100}).run(in_f_, 992, {0x100});
        engine_.replay_whole(trace.all());
        Trace end;
        end.mark(Marker::kStop);
        engine_.replay_whole(end.all());
        engine_.settle();
    }

    void run_burst(unsigned calls, std::uint64_t blocks) {
        run(calls);
        sums_.add(engine_, both(blocks));
    }

    std::size_t row(Kind kind, const Function* function, std::uint32_t line = 0) const {
        for (std::size_t i = 0; i < sums_.rows().size(); ++i) {
            const BurstSums::Row& row = sums_.rows()[i];
            const Function* const of = row.context == nullptr ? nullptr : &row.context->function();
            if (row.kind == kind && of == function && row.line == line) return i;
        }
        ADD_FAILURE() << "there is no such row";
        return 0;
    }

    // The textbook's standard error of a ratio estimator, in two passes: half the mean square of the differences
    // between neighbours takes the place of the variance.
    static double error(const std::vector<double>& counts, const std::vector<double>& blocks, double all) {
        double sum = 0;
        double n = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            sum += counts[i];
            n += blocks[i];
        }
        double squares = 0;
        for (std::size_t i = 1; i < counts.size(); ++i) {
            const double deviation = counts[i] - sum / n * blocks[i];
            const double before = counts[i - 1] - sum / n * blocks[i - 1];
            squares += (deviation - before) * (deviation - before) / 2;
        }
        const double bursts = static_cast<double>(counts.size());
        const double variance_of_mean = squares / (bursts - 1) / bursts * (1 - n / all);
        return all * std::sqrt(variance_of_mean) / (n / bursts);
    }

    Program program_;
    Function& main_ = program_.function("main", "main.c");
    Function& f_ = program_.function("f", "f.c");
    Block& calls_ = program_.entry(main_, 0x1000).op(4, 10).op(4, 11).ends(kCall);
    Block& in_f_ = program_.entry(f_, 0x2000).op(4, 5).op(4, 6).op(4, 6).reads(8).ends(kReturn);
    Engine engine_{{.caches = {{1024, 1, 64}, {1024, 1, 64}, {1024, 1, 64}}, .cache_sim = false}};
    BurstSums sums_{engine_.events().width()};
};

TEST_F(BurstSumsTest, ErrorsAreThoseOfARatio) {
    const std::vector<double> calls{3, 9, 4, 0, 30};
    const std::vector<double> blocks{10, 20, 8, 3, 64};
    for (std::size_t i = 0; i < calls.size(); ++i) {
        run_burst(static_cast<unsigned>(calls[i]), static_cast<std::uint64_t>(blocks[i]));
    }
    std::vector<double> of_f;
    std::vector<double> of_main;
    std::vector<double> of_both;
    for (const double count : calls) {
        of_f.push_back(3 * count);
        of_main.push_back(2 * (count + 1));
        of_both.push_back(of_f.back() + of_main.back());
    }
    constexpr std::uint64_t kAll = 1000;
    const std::size_t ir = column(Event::kIr);
    const auto expect = [&](std::size_t row, std::size_t event, const std::vector<double>& counts, double factor) {
        const double expected = factor * error(counts, blocks, kAll);
        EXPECT_NEAR(sums_.spread(row, event, both(kAll)).error, expected, expected * 1e-9);
    };
    expect(row(Kind::kSelf, &f_), ir, of_f, 1);
    expect(row(Kind::kInclusive, &f_), ir, of_f, 1);
    expect(row(Kind::kSelf, &main_), ir, of_main, 1);
    expect(row(Kind::kInclusive, &main_), ir, of_both, 1);
    expect(row(Kind::kTotal, nullptr), ir, of_both, 1);
    expect(row(Kind::kLine, &f_, 6), ir, of_f, 2.0 / 3);
    expect(row(Kind::kLine, &f_, 5), column(Event::kDr), of_f, 0);
    expect(row(Kind::kLine, &f_, 6), column(Event::kDr), of_f, 1.0 / 3);
    EXPECT_EQ(sums_.rows()[row(Kind::kSelf, &f_)].bursts, 4u);
    EXPECT_EQ(sums_.rows()[row(Kind::kSelf, &main_)].bursts, 5u);
    EXPECT_EQ(sums_.bursts(), 5u);
    EXPECT_EQ(sums_.blocks(), 105u);
}

TEST_F(BurstSumsTest, EqualBurstsHaveNoError) {
    for (int i = 0; i < 4; ++i) run_burst(5, 11);
    EXPECT_EQ(sums_.spread(row(Kind::kTotal, nullptr), column(Event::kIr), both(1000)).error, 0);
    // The program may have run one more, unseen, that cost twice as much.
    EXPECT_EQ(sums_.half_width(row(Kind::kTotal, nullptr), column(Event::kIr), both(1000)), 2 * (3 * 5 + 2 * 6));
}

// Four differences of bursts are as good as 2 * 16 / 11 = 2.9 free ones: two, to be on the safe side. That one of them
// is much larger than the others leaves more than two.
TEST_F(BurstSumsTest, IntervalsAreThoseOfStudent) {
    for (const unsigned calls : {3, 9, 4, 0, 30}) run_burst(calls, 10);
    const std::size_t index = row(Kind::kSelf, &f_);
    const std::size_t ir = column(Event::kIr);
    const double width = 4.303 * sums_.spread(index, ir, both(1000)).error;
    const double part = width / (138 * 1000 / 50.0);
    // Twice the costliest burst, with main.
    const double expected = width * (1 + part / 2 + part * part / 6) + 2 * (90 + 62);
    EXPECT_NEAR(sums_.half_width(index, ir, both(1000)), expected, 1e-6);
}

// What a phase of the program costs more than another does not count, but where they meet.
TEST_F(BurstSumsTest, PhasesDoNotMakeErrorsLarge) {
    for (int i = 0; i < 10; ++i) run_burst(5, 10);
    for (int i = 0; i < 10; ++i) run_burst(15, 10);
    // One difference of 30 in 19: the variance of a sum of 20 is 20 * 30^2 / 38.
    const double expected = 5 * std::sqrt(20 * 900 / 38.0 * 0.8);
    EXPECT_NEAR(sums_.spread(row(Kind::kSelf, &f_), column(Event::kIr), both(1000)).error, expected, 1e-6);
}

TEST_F(BurstSumsTest, TheStartIsNoBurstAndCountsOnce) {
    run(40);
    sums_.add_start(engine_, both(30));
    const StartCounts start(engine_, test::kLines);
    for (const unsigned calls : {3, 9, 4}) run_burst(calls, 10);
    EXPECT_EQ(sums_.bursts(), 3u);
    EXPECT_EQ(sums_.blocks(), 60u);
    EXPECT_EQ(sums_.start_blocks(), 30u);
    const std::size_t index = row(Kind::kSelf, &f_);
    const std::size_t ir = column(Event::kIr);
    EXPECT_EQ(sums_.scale(ir, both(630)), 20);
    const double expected = error({9, 27, 12}, {10, 10, 10}, 600);
    EXPECT_NEAR(sums_.spread(index, ir, both(630)).error, expected, expected * 1e-9);
    // Two differences are as good as 1.6. No burst has cost as much as the start: 120 in f, and 82 in main.
    const double width = 12.706 * expected;
    const double part = width / (48 * 20);
    EXPECT_NEAR(sums_.half_width(index, ir, both(630)), width * (1 + part / 2 + part * part / 6) + 2 * 202, 1e-6);

    // f: 40 calls and 20 times 16; main: 41 and 20 times 19 rounds of one instruction in each of its lines.
    const std::string text = test::write(engine_,
                                         {.compress_strings = false,
                                          .compress_positions = false,
                                          .hot_code = true,
                                          .sample = {&sums_, &start, both(630)}},
                                         test::kLines);
    EXPECT_NE(text.find("\nfn=f\n5 360\n6 720 360\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nfn=main\n10 421\n11 421\ncfi=f.c\ncfn=f\ncalls=360 5\n11 1080 360\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find("\n# at=0x2004 6 360"), std::string::npos) << text;
    EXPECT_NE(text.find("\ntotals: 1922 360\n"), std::string::npos) << text;
}

TEST_F(BurstSumsTest, ARunThatIsAllStartIsExact) {
    run(40);
    sums_.add_start(engine_, both(30));
    const StartCounts start(engine_, test::kLines);
    const std::string text = test::write(engine_, {.sample = {&sums_, &start, both(30)}}, test::kLines);
    EXPECT_NE(text.find("\ntotals: 202 40\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("intervals"), std::string::npos) << text;
}

TEST_F(BurstSumsTest, WhatHasAllBeenCountedHasNoError) {
    run_burst(5, 11);
    run_burst(9, 19);
    EXPECT_EQ(sums_.spread(row(Kind::kTotal, nullptr), column(Event::kIr), both(30)).error, 0);
    EXPECT_GT(sums_.spread(row(Kind::kTotal, nullptr), column(Event::kIr), both(31)).error, 0);
}

TEST_F(BurstSumsTest, OneBurstSaysNothing) {
    run_burst(5, 11);
    EXPECT_EQ(sums_.spread(row(Kind::kTotal, nullptr), column(Event::kIr), both(1000)).error, 0);
    sums_.clear();
    EXPECT_EQ(sums_.bursts(), 0u);
    EXPECT_EQ(sums_.scale(column(Event::kIr), both(1000)), 0);
}

// Bursts of as many blocks have more and fewer instructions. Instructions and reads go by these.
TEST_F(BurstSumsTest, InstructionsGoByInstructions) {
    const std::vector<double> calls{3, 9, 4, 0, 30};
    std::vector<double> instructions;
    std::vector<double> reads;
    for (const double count : calls) {
        run(static_cast<unsigned>(count));
        instructions.push_back(5 * count + 2);
        reads.push_back(count);
        sums_.add(engine_, {10, static_cast<std::uint64_t>(instructions.back())});
    }
    const RunLength all{1000, 7000};
    const std::size_t total = row(Kind::kTotal, nullptr);
    const BurstSums::Spread ir = sums_.spread(total, column(Event::kIr), all);
    EXPECT_NEAR(ir.value, 7000, 1e-9);
    EXPECT_NEAR(ir.error, 0, 1e-3);
    const BurstSums::Spread dr = sums_.spread(total, column(Event::kDr), all);
    EXPECT_NEAR(dr.value, 7000.0 * 46 / 240, 1e-9);
    const double expected = error(reads, instructions, 7000);
    EXPECT_NEAR(dr.error, expected, expected * 1e-6);
    EXPECT_DOUBLE_EQ(sums_.scale(column(Event::kDw), all), 7000.0 / 240);
    EXPECT_EQ(sums_.scale(column(Event::kD1mr), all), 20);
    EXPECT_EQ(sums_.scale_of_blocks(all), 20);
}

// What misses goes by blocks, whatever instructions there are.
TEST_F(BurstSumsTest, MissesGoByBlocks) {
    Engine engine{{.caches = {{4096, 1, 64}, {4096, 1, 64}, {4096, 1, 64}}}};
    BurstSums sums(engine.events().width());
    const std::vector<double> misses{3, 9, 4, 1, 30};
    const std::vector<double> blocks{10, 20, 8, 3, 64};
    for (std::size_t i = 0; i < misses.size(); ++i) {
        Trace trace;
        trace.collect(true).thread(1);
        for (unsigned line = 0; line < misses[i]; ++line) {
            trace.run(calls_, 1000).run(in_f_, 992, {0x10000 + line * 64});
        }
        trace.run(calls_, 1000).collect(false);
        trace.mark(Marker::kStop);
        engine.replay_whole(trace.all());
        engine.settle();
        sums.add(engine, {static_cast<std::uint64_t>(blocks[i]), 100 - i});
    }
    const double expected = error(misses, blocks, 1000);
    EXPECT_NEAR(sums.spread(0, column(Event::kD1mr), {1000, 5}).error, expected, expected * 1e-9);
    EXPECT_NEAR(sums.spread(0, column(Event::kD1mr), {1000, 5}).value, 47 * 1000 / 105.0, 1e-9);
}

// Of 11 2/3 and 23 1/3, which are 12 and 23 if they are rounded alone, and 14 twice. All together are 63.
TEST_F(BurstSumsTest, WrittenSelfCostsAddUpToTheWrittenTotal) {
    run_burst(5, 30);
    run_burst(5, 30);
    const std::string text = test::write(
        engine_, {.compress_strings = false, .compress_positions = false, .sample = {&sums_, nullptr, both(70)}},
        test::kLines);
    // main: 24 instructions, f: 30; in all 54 * 70 / 60 = 63.
    EXPECT_NE(text.find("\nfn=f\n5 12\n6 23 12\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nfn=main\n10 14\n11 14\ncfi=f.c\ncfn=f\ncalls=12 5\n11 35 12\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\ntotals: 63 12\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\n# intervals: 2 bursts\n\ntotals"), std::string::npos) << text;
}

// Bursts of five calls have 27 instructions and 5 reads each.
TEST_F(BurstSumsTest, IntervalsAreWrittenFromTwentyBurstsOn) {
    const auto written = [&] {
        return test::write(
            engine_, {.compress_strings = false, .compress_positions = false, .sample = {&sums_, nullptr, both(700)}},
            test::kLines);
    };
    for (int i = 0; i < 19; ++i) run_burst(5, 30);
    EXPECT_NE(written().find("\n# intervals: 19 bursts\n\ntotals"), std::string::npos) << written();
    run_burst(5, 30);
    EXPECT_NE(written().find("\n# intervals: 20 bursts\n# all=20 54 10 0\n"), std::string::npos) << written();
}

}  // namespace
}  // namespace bd
