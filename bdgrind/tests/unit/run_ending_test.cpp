// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/run_ending.h"

#include <string>

#include <gtest/gtest.h>

#include "text.h"

namespace bd {
namespace {

std::string ending(const CacheGeometries* caches, const ProfileFiles* files) {
    test::Text text;
    write_run_ending(text, caches, files);
    return text.finished();
}

std::string command(const ProfileFiles& files) {
    const std::string text = ending(nullptr, &files);
    const std::string before = "Read it:  bd_annotate ";
    EXPECT_NE(text.find(before), std::string::npos) << text;
    return text.substr(text.find(before) + before.size());
}

TEST(RunEnding, NamesTheCachesAndTheReaderOfTheProfile) {
    const CacheGeometries caches{{32768, 8, 64}, {49152, 12, 64}, {8388608, 16, 64}};
    const ProfileFiles files{.name = "bdgrind.out.7"};
    EXPECT_EQ(ending(&caches, &files),
              "\n"
              "Caches:   I1 32 KiB 8-way, D1 48 KiB 12-way, LL 8 MiB 16-way; lines of 64 B\n"
              "Read it:  bd_annotate bdgrind.out.7\n");
}

TEST(RunEnding, LinesThatDifferStandWithTheirCaches) {
    const CacheGeometries caches{{500, 1, 20}, {1280 << 10, 20, 64}, {1U << 30U, 16, 128}};
    EXPECT_EQ(ending(&caches, nullptr),
              "\nCaches:   I1 500 B 1-way 20 B, D1 1280 KiB 20-way 64 B, LL 1 GiB 16-way 128 B\n");
}

TEST(RunEnding, SaysNothingWhereThereIsNothing) {
    EXPECT_EQ(ending(nullptr, nullptr), "");
}

TEST(RunEnding, PartsAndThreadsAreFilesOfTheirOwn) {
    EXPECT_EQ(command({.name = "out", .in_parts = true}), "out out.[0-9]*\n");
    EXPECT_EQ(command({.name = "out", .by_thread = true}), "out-*\n");
    EXPECT_EQ(command({.name = "out", .in_parts = true, .by_thread = true}), "out-* out.[0-9]*\n");
}

TEST(RunEnding, WhatIsElsewhereIsReadTogetherWithTheRest) {
    const std::string_view elsewhere[]{"/tmp/bdgrind.out.7.1", "/tmp/it's"};
    EXPECT_EQ(command({.name = "out", .elsewhere = elsewhere}), "out /tmp/bdgrind.out.7.1 '/tmp/it'\\''s'\n");
    EXPECT_EQ(command({.name = "out", .is_there = false, .in_parts = true, .elsewhere = elsewhere}),
              "out.[0-9]* /tmp/bdgrind.out.7.1 '/tmp/it'\\''s'\n");
    EXPECT_EQ(command({.name = "out", .is_there = false, .elsewhere = elsewhere, .more_elsewhere = 3}),
              "/tmp/bdgrind.out.7.1 '/tmp/it'\\''s'\n          and 3 more files, which are named above\n");
}

TEST(RunEnding, WhatIsLostIsSaidWhateverElseThereIs) {
    const ProfileFiles nothing{.name = "out", .is_there = false, .is_lost = true};
    EXPECT_EQ(ending(nullptr, &nothing), "\nLost:     the files named above, which could not be written anywhere\n");
    const ProfileFiles some{.name = "out", .is_lost = true};
    EXPECT_EQ(ending(nullptr, &some),
              "\nLost:     the files named above, which could not be written anywhere\n"
              "Read it:  bd_annotate out\n");
    const ProfileFiles stream{.name = "out", .is_there = false};
    EXPECT_EQ(ending(nullptr, &stream), "");
}

TEST(RunEnding, TheCommandCanBePastedIntoAShell) {
    EXPECT_EQ(command({.name = "/tmp/my runs/it's", .in_parts = true}),
              "'/tmp/my runs/it'\\''s' '/tmp/my runs/it'\\''s'.[0-9]*\n");
}

}  // namespace
}  // namespace bd
