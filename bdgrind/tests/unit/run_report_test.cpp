// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/run_report.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "text.h"

namespace bd {
namespace {

std::string report(const EventSet& events, const std::vector<std::uint64_t>& totals) {
    test::Text text;
    write_whole_run_report(text, events, totals);
    return text.finished();
}

std::string short_report(const EventSet& events, const std::vector<std::uint64_t>& totals) {
    test::Text text;
    write_run_report(text, events, totals);
    return text.finished();
}

EventSet with(std::initializer_list<EventGroup> groups) {
    EventSet events;
    for (const EventGroup group : groups) events.enable(group);
    return events;
}

TEST(RunReport, WithoutCachesSaysWhatWasExecuted) {
    EXPECT_EQ(report(with({}), {1234567, 200, 30}),
              "Events    : Ir Dr Dw\n"
              "Collected : 1234567 200 30\n"
              "\n"
              "I   refs:             1,234,567\n"
              "D   refs:                   230  (      200 rd +        30 wr)\n");
}

TEST(RunReport, WithoutStatsOnlyWhatSaysHowTheRunWent) {
    std::vector<std::uint64_t> totals(kEventCount);
    totals[column(Event::kIr)] = 1'000'000;
    totals[column(Event::kDr)] = 100'000;
    totals[column(Event::kDw)] = 20'000;
    totals[column(Event::kI1mr)] = 1'000;
    totals[column(Event::kD1mr)] = 2'500;
    totals[column(Event::kD1mw)] = 500;
    totals[column(Event::kILmr)] = 100;
    totals[column(Event::kDLmr)] = 250;
    totals[column(Event::kDLmw)] = 50;
    totals[column(Event::kSpLossD1)] = 3'000;
    totals[column(Event::kUsByteD1)] = 1'000;
    totals[column(Event::kBc)] = 200;
    totals[column(Event::kBcm)] = 25;
    totals[column(Event::kBi)] = 40;
    totals[column(Event::kBim)] = 5;
    EXPECT_EQ(short_report(with({EventGroup::kMisses, EventGroup::kMissesLast, EventGroup::kUse1, EventGroup::kUse2,
                                 EventGroup::kBranches}),
                           totals),
              "I   refs:             1,000,000\n"
              "D   refs:               120,000  (  100,000 rd +    20,000 wr)\n"
              "I1  misses:               1,000  (0.10%)\n"
              "LLi misses:                 100  (0.01%)\n"
              "D1  misses:               3,000  (2.50%)\n"
              "LLd misses:                 300  (0.25%)\n"
              "D1  bytes never used:     3,000  (75.00% of those loaded)\n"
              "LLd bytes never used:         0  (0.00% of those loaded)\n"
              "Mispredicts:                 30  (12.50%)\n");
    EXPECT_EQ(short_report(with({}), {1234567, 200, 30}),
              "I   refs:             1,234,567\n"
              "D   refs:                   230  (      200 rd +        30 wr)\n");
}

// As of a sampled run.
TEST(RunReport, WithoutEventsOfTheLastLevelSaysNothingOfIt) {
    std::vector<std::uint64_t> totals(kEventCount, 40);
    const EventSet events = with({EventGroup::kMisses, EventGroup::kUse1});
    EXPECT_EQ(short_report(events, totals),
              "I   refs:                 40\n"
              "D   refs:                 80  (    40 rd +     40 wr)\n"
              "I1  misses:               40  (100.00%)\n"
              "D1  misses:               80  (100.00%)\n"
              "D1  bytes never used:     40  (50.00% of those loaded)\n");
    const std::string whole = report(events, totals);
    EXPECT_NE(whole.find("D1  miss rate"), std::string::npos) << whole;
    EXPECT_EQ(whole.find("LL"), std::string::npos) << whole;
}

// 70 walks of 1,400 accesses are 5 %.
TEST(RunReport, WithTlbsSaysHowManyPageWalksThereAre) {
    std::vector<std::uint64_t> totals(kEventCount);
    totals[column(Event::kIr)] = 1'000;
    totals[column(Event::kDr)] = 300;
    totals[column(Event::kDw)] = 100;
    totals[column(Event::kIT2mr)] = 10;
    totals[column(Event::kDT2mr)] = 40;
    totals[column(Event::kDT2mw)] = 20;
    totals[column(Event::kDT1mr)] = 90;
    totals[column(Event::kDH2mr)] = 7;
    const EventSet events = with({EventGroup::kTranslations});
    EXPECT_EQ(short_report(events, totals),
              "I   refs:              1,000\n"
              "D   refs:                400  (   300 rd +    100 wr)\n"
              "Page walks:               70  (5.00%)\n"
              "  with huge pages:         7  (0.50%)\n");
    const std::string whole = report(with({EventGroup::kMisses, EventGroup::kTranslations}), totals);
    EXPECT_NE(whole.find("D1  TLB misses:           90  (    90 rd +      0 wr)\n"
                         "L2d TLB misses:           60  (    40 rd +     20 wr)\n"
                         "With huge pages:\n"),
              std::string::npos)
        << whole;
}

// Rates: 25 + 5 of 200 + 40 are 12.50 %.
TEST(RunReport, WithBranchesSaysHowTheyWerePredicted) {
    std::vector<std::uint64_t> totals(column(Event::kBim) + 1);
    totals[column(Event::kIr)] = 1000;
    totals[column(Event::kBc)] = 200;
    totals[column(Event::kBcm)] = 25;
    totals[column(Event::kBi)] = 40;
    totals[column(Event::kBim)] = 5;
    EXPECT_EQ(report(with({EventGroup::kBranches}), totals),
              "Events    : Ir Dr Dw Bc Bcm Bi Bim\n"
              "Collected : 1000 0 0 200 25 40 5\n"
              "\n"
              "I   refs:              1,000\n"
              "D   refs:                  0  (     0 rd +      0 wr)\n"
              "\n"
              "Branches:                240  (   200 cond +     40 ind)\n"
              "Mispredicts:              30  (    25 cond +      5 ind)\n"
              "Mispredict rate:       12.50%\n");
}

// Rates: 1000 of 1,000,000 instructions are 0.10 %; 3,000 of 120,000 data accesses are 2.50 %.
TEST(RunReport, WithMissesGivesRatesOfEach) {
    EXPECT_EQ(
        report(with({EventGroup::kMisses, EventGroup::kMissesLast}),
               {1'000'000, 100'000, 20'000, 1'000, 2'500, 500, 100, 250, 50}),
        "Events    : Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n"
        "Collected : 1000000 100000 20000 1000 2500 500 100 250 50\n"
        "\n"
        "I   refs:             1,000,000\n"
        "I1  misses:               1,000\n"
        "LLi misses:                 100\n"
        "I1  miss rate:             0.10%\n"
        "LLi miss rate:             0.01%\n"
        "\n"
        "D   refs:               120,000  (  100,000 rd +    20,000 wr)\n"
        "D1  misses:               3,000  (    2,500 rd +       500 wr)\n"
        "LLd misses:                 300  (      250 rd +        50 wr)\n"
        "D1  miss rate:             2.50% (     2.50%   +      2.50%  )\n"
        "LLd miss rate:             0.25% (     0.25%   +      0.25%  )\n"
        "\n"
        "LL refs:                  4,000  (    3,500 rd +       500 wr)\n"
        "LL misses:                  400  (      350 rd +        50 wr)\n"
        "LL miss rate:              0.03%\n");
}

// L1: 64 lines of 100 bytes loaded and 25 used of each, with 160 accesses. Of LL, nothing was evicted.
TEST(RunReport, WithCacheUseSaysHowTheLinesWereUsed) {
    std::vector<std::uint64_t> totals(kEventCount);
    totals[column(Event::kSpLoss1)] = 4'800;
    totals[column(Event::kUsByte1)] = 1'600;
    totals[column(Event::kEvLine1)] = 64;
    totals[column(Event::kAccess1)] = 160;
    totals[column(Event::kSpLossD1)] = 4'500;
    totals[column(Event::kUsByteD1)] = 1'000;
    const std::string text =
        report(with({EventGroup::kMisses, EventGroup::kMissesLast, EventGroup::kUse1, EventGroup::kUse2}), totals);
    EXPECT_EQ(text.substr(text.find("L1 bytes")),
              "L1 bytes loaded:       6,400\n"
              "L1 bytes never used:   4,800  (75.00%)\n"
              "L1 of these, data:     4,500  (81.81% of its bytes)\n"
              "L1 lines evicted:         64\n"
              "L1 accesses per line:   2.50\n"
              "\n"
              "LL bytes loaded:           0\n"
              "LL bytes never used:       0  (0.00%)\n"
              "LL of these, data:         0  (0.00% of its bytes)\n"
              "LL lines evicted:          0\n"
              "LL accesses per line:   0.00\n");
}

// Long LL lines load more than short lines in front of them do.
TEST(RunReport, ColumnsAreWideEnoughForEveryNumber) {
    std::vector<std::uint64_t> totals(kEventCount);
    totals[column(Event::kUsByte2)] = 123'456'789;
    const std::string text = report(
        with({EventGroup::kMisses, EventGroup::kMissesLast, EventGroup::kUse1, EventGroup::kUse2}), totals);
    EXPECT_NE(text.find("LL bytes loaded:      123,456,789\n"
                        "LL bytes never used:            0  (0.00%)\n"),
              std::string::npos)
        << text;
}

TEST(RunReport, OfNothingTheRateIsZero) {
    const std::string text =
        report(with({EventGroup::kMisses, EventGroup::kMissesLast}), std::vector<std::uint64_t>(kRunningEvents + 6));
    EXPECT_NE(text.find("\nLL miss rate:           0.00%\n"), std::string::npos) << text;
}

TEST(RunReport, StatsSayHowLargeTheTablesAre) {
    EngineStats stats{};
    stats.tree = {.made = 12'530, .live = 0, .most_live = 711};
    stats.tree_bytes = 65'536;
    stats.calls = 140'000'000;
    stats.arcs = 1'220;
    test::Text text;
    write_engine_stats(text, stats, 300, 4'000);
    EXPECT_EQ(text.finished(),
              "Back-dating trees:\n"
              "  nodes, at most:     711\n"
              "  nodes made:         12,530\n"
              "  memory, bytes:      65,536\n"
              "Calls:                140,000,000\n"
              "Call arcs:            1,220\n"
              "Functions:            300\n"
              "Translated blocks:    4,000\n");
}

}  // namespace
}  // namespace bd
