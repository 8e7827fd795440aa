// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which bytes of data objects were used, in patterns. (Random runs are in oracle_test.cpp.)

#include "engine/objects/use_patterns.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "objects_fixture.h"

namespace bd {
namespace {

using test::ObjectsTest;
using enum JumpKind;

class ObjectPatternsTest : public ObjectsTest {};

class UsePatternsTest : public testing::Test {
protected:
    static constexpr CostId kCell{1};
    static constexpr GroupId kGroup{3};
    static constexpr UsePattern kUnknown{0, kCell, kGroup, 0, 0};

    std::span<const PatternCount> all() {
        patterns_.settle();
        return patterns_.all();
    }
    std::uint64_t times(const UsePattern& pattern) {
        const auto found = std::ranges::find(all(), pattern, &PatternCount::pattern);
        return found == all().end() ? 0 : found->times;
    }

    UsePatterns patterns_;
};

TEST_F(UsePatternsTest, ObjectsOf64KiBAreLookedAtFromEndToEnd) {
    for (std::uint32_t offset = 0; offset < 1u << 16; offset += 64) {
        patterns_.add(kCell, kGroup, 1u << 16, offset, 64, 1);
        EXPECT_EQ(times({1, kCell, kGroup, offset, 64}), 1u);
    }
    EXPECT_EQ(times(kUnknown), 0u);
}

// Of 64 MiB, it is 16 of 16,384 pages, more or less, by no rule that an array's rows could have, too.
TEST_F(UsePatternsTest, OfLargerOnesSomePages) {
    constexpr std::uint64_t kSize = 1u << 26;
    for (std::uint64_t offset = 0; offset < kSize; offset += 2048) patterns_.add(kCell, kGroup, kSize, offset, 8, 3);
    const std::size_t pages = (all().size() - 1) / 2;
    EXPECT_GE(pages, 12u);
    EXPECT_LE(pages, 20u);
    EXPECT_EQ(times(kUnknown), kSize / 2048 - 2 * pages);
    std::uint64_t last = 0;
    std::set<std::uint64_t> distances;
    std::set<std::uint64_t> offsets;
    for (const auto& [pattern, count] : all()) {
        EXPECT_TRUE(count == 1 || pattern.bytes() == 0);
        if (pattern.bytes() != 0 && pattern.offset() % 4096 == 0) offsets.insert(pattern.offset());
    }
    EXPECT_TRUE(offsets.contains(0));
    EXPECT_GE(*offsets.rbegin(), kSize / 2);
    for (const std::uint64_t offset : offsets) distances.insert(offset - std::exchange(last, offset));
    EXPECT_GE(distances.size(), 4u);
    EXPECT_FALSE(distances.contains(4096));  // pages have so many bytes, and no two lie beside each other
}

TEST_F(UsePatternsTest, HowLargeItIsDecidesHowMany) {
    for (const std::uint64_t size : {(1u << 16) + 1, 1u << 17, 1u << 20}) {
        patterns_.clear();
        for (std::uint64_t offset = 0; offset < size; offset += 4096) patterns_.add(kCell, kGroup, size, offset, 8, 3);
        const std::size_t pages = all().size() - 1;
        EXPECT_GE(pages, 7u) << size;
        EXPECT_LE(pages, 20u) << size;
        EXPECT_NE(times(kUnknown), 0u) << size;
    }
}

TEST_F(UsePatternsTest, BeyondFourGiBNothingIs) {
    constexpr std::uint64_t kSize = std::uint64_t{1} << 34;
    for (std::uint64_t offset = 0; offset < kSize; offset += 4096) {
        patterns_.add(kCell, kGroup, kSize, offset, 8, offset >> 32 == 0 ? 1 : 2);
    }
    for (const auto& [pattern, count] : all()) EXPECT_NE(pattern.used(), 2u);
}

TEST_F(UsePatternsTest, WhatIsTooMuchIsCountedWithoutItsBytes) {
    for (std::uint64_t used = 2; used < UsePatterns::kMostPatterns + 2; ++used) {
        patterns_.add(kCell, kGroup, 64, 0, 64, used);
    }
    EXPECT_EQ(all().size(), UsePatterns::kMostPatterns);
    EXPECT_EQ(times(kUnknown), 0u);
    patterns_.add(kCell, kGroup, 64, 0, 64, 1);  // one more
    EXPECT_EQ(times(kUnknown), 1u);
    patterns_.add(kCell, kGroup, 64, 0, 64, 2);  // known
    EXPECT_EQ(times(kUnknown), 1u);
    EXPECT_EQ(times({2, kCell, kGroup, 0, 64}), 2u);
    EXPECT_EQ(all().size(), UsePatterns::kMostPatterns + 1);
}

// The table grows several times meanwhile, and what was added last is not counted yet.
TEST_F(UsePatternsTest, HowOftenEachWas) {
    constexpr std::uint64_t kPatterns = 20'000;
    for (std::uint64_t round = 0; round < 3; ++round) {
        for (std::uint64_t i = 0; i < kPatterns; ++i) {
            if (i % 3 < round) continue;
            patterns_.add(CostId{static_cast<std::uint32_t>(1 + i % 5)}, kGroup, 64, i % 7, 32, i << 12);
        }
    }
    ASSERT_EQ(all().size(), kPatterns);
    for (std::uint64_t i = 0; i < kPatterns; ++i) {
        const PatternCount& each = all()[i];
        EXPECT_EQ(each.pattern, UsePattern(i << 12, CostId{static_cast<std::uint32_t>(1 + i % 5)}, kGroup,
                                           static_cast<std::uint32_t>(i % 7), 32));
        EXPECT_EQ(each.times, 1 + i % 3) << i;
    }
    patterns_.drop_if([](CostId loaded_by) { return loaded_by == CostId{2}; });
    EXPECT_EQ(all().size(), kPatterns * 4 / 5);
    patterns_.add(CostId{1}, kGroup, 64, 0, 32, 0);
    patterns_.add(CostId{2}, kGroup, 64, 1, 32, 1 << 12);
    EXPECT_EQ(times({0, CostId{1}, kGroup, 0, 32}), 2u);
    EXPECT_EQ(times({1 << 12, CostId{2}, kGroup, 1, 32}), 1u);
    EXPECT_EQ(all().size(), kPatterns * 4 / 5 + 1);
}

TEST_F(UsePatternsTest, WhatWaitsIsForgottenWithTheRest) {
    for (std::uint64_t i = 0; i < 100; ++i) patterns_.add(kCell, kGroup, 64, 0, 64, i);
    patterns_.clear();
    EXPECT_TRUE(all().empty());
    patterns_.add(kCell, kGroup, 64, 0, 64, 7);
    EXPECT_EQ(times({7, kCell, kGroup, 0, 64}), 1u);
    EXPECT_EQ(all().size(), 1u);
}

// Each of the first lines, then one in eight, which stands for eight.
TEST_F(UsePatternsTest, OfManyLinesASampleIsLookedAt) {
    constexpr std::uint32_t kLineCount = LineSample::kLookedAtFirst + 80000;
    for (std::uint32_t i = 0; i < LineSample::kLookedAtFirst; ++i) {
        ASSERT_TRUE(patterns_.take_line());
        patterns_.add(kCell, kGroup, 64, 0, 64, 1);
    }
    EXPECT_EQ(patterns_.one_in(), 1u);
    EXPECT_EQ(times({1, kCell, kGroup, 0, 64}), LineSample::kLookedAtFirst);
    std::uint64_t taken = 0;
    for (std::uint32_t i = LineSample::kLookedAtFirst; i < kLineCount; ++i) {
        if (!patterns_.take_line()) continue;
        ++taken;
        patterns_.add(kCell, kGroup, 64, 0, 64, i % 2 + 1);
    }
    EXPECT_EQ(patterns_.one_in(), 8u);
    const std::uint64_t odd = times({2, kCell, kGroup, 0, 64});
    EXPECT_EQ(times({1, kCell, kGroup, 0, 64}) + odd, LineSample::kLookedAtFirst + 8 * taken);
    EXPECT_NEAR(static_cast<double>(odd), 40000, 2000);
    patterns_.clear();
    EXPECT_EQ(patterns_.one_in(), 1u);
    EXPECT_TRUE(patterns_.take_line());
    EXPECT_TRUE(patterns_.take_line());
}

// --- Of a program

// Allocators keep their lists in the first bytes of free blocks: it is not known what has used these.
TEST_F(ObjectPatternsTest, OfAFreedBlockTheFirstBytesAreLeftOut) {
    allocate(call_first_, 0x10000, 48);
    allocate(call_second_, 0x10030, 16);
    read(0x10000);
    read(0x10014);
    read(0x10031);
    free(0x10000);
    free(0x10030);
    EXPECT_EQ(patterns_of(finished()), (Loads{{"heap 10 16+32 16", 1}}));
}

TEST_F(ObjectPatternsTest, SoAreThoseOfABlockThatIsAllocatedInALineThatIsThere) {
    read(0x10000);
    allocate(call_first_, 0x10000, 64);
    read(0x10008);
    read(0x10018);
    EXPECT_EQ(patterns_of(finished()), (Loads{{"heap 10 16+48 256", 1}}));
}

TEST_F(ObjectPatternsTest, PatternsTellWhichBytesOfWhichBlocksWereUsed) {
    allocate(call_first_, 0x10010, 64);   // 48 bytes in one line, 16 in the next
    allocate(call_second_, 0x10050, 16);  // in that line, too
    read(0x10010);
    read(0x10012);
    read(0x10040);
    read(0x10057);
    read(0x10010);
    EXPECT_EQ(patterns_of(finished()),
              (Loads{{"heap 10 0+48 5", 1}, {"heap 10 0+48 1", 1}, {"heap 10 48+16 1", 1}, {"heap 20 0+16 128", 1}}));
}

TEST_F(ObjectPatternsTest, PatternsHaveTheBytesOfABlockAndNoOthers) {
    allocate(call_first_, 0x10000, 64);
    allocate(call_second_, 0x10050, 16);
    for (const Address address : {0x10000, 0x10005, 0x1003f, 0x10050, 0x1004f, 0x1005f, 0x10060}) read(address);
    EXPECT_EQ(patterns_of(finished()),
              (Loads{{"heap 10 0+64 " + std::to_string(1 | 1 << 5 | std::uint64_t{1} << 63), 1},
                     {"heap 20 0+16 " + std::to_string(1 | 1 << 15), 1}}));
}

TEST_F(ObjectPatternsTest, PatternsOfShortLinesHaveTheirBytes) {
    EngineConfig config = engine_.config();
    config.caches = {.i1 = {1024, 1, 64}, .d1 = {16, 1, 16}, .ll = {64, 1, 64}};
    Engine engine(config);
    allocate(call_first_, 0x10000, 64);
    for (const Address address : {0x10003, 0x10014, 0x10025, 0x10036}) read(address);
    engine.replay_whole(trace_.all());
    engine.finish();
    const Loads expected{
        {"heap 10 0+16 8", 1}, {"heap 10 16+16 16", 1}, {"heap 10 32+16 32", 1}, {"heap 10 48+16 64", 1}};
    EXPECT_EQ(patterns_of(engine), expected);
}

TEST_F(ObjectPatternsTest, PatternsOfLongLinesArePartsOf64Bytes) {
    EngineConfig config = engine_.config();
    config.caches = {.i1 = {1024, 1, 64}, .d1 = {128, 1, 128}, .ll = {128, 1, 128}};
    Engine engine(config);
    allocate(call_first_, 0x10000, 128);
    read(0x10003);
    read(0x10046);
    engine.replay_whole(trace_.all());
    engine.finish();
    EXPECT_EQ(patterns_of(engine), (Loads{{"heap 10 0+64 8", 1}, {"heap 10 64+64 64", 1}}));
}

TEST_F(ObjectPatternsTest, PatternsOfVariablesInLongLinesArePartsOf64Bytes) {
    EngineConfig config = engine_.config();
    config.caches = {.i1 = {1024, 1, 64}, .d1 = {128, 1, 128}, .ll = {128, 1, 128}};
    Engine engine(config);
    const std::vector<MappedObject> variables{{0x30000, 0x30080, ObjectKind::kStatic, "table", nullptr}};
    trace_.mark(Marker::kMapped, 0x30000, 0x30080, reinterpret_cast<std::uintptr_t>(&variables));
    read(0x30003);
    read(0x30046);
    engine.replay_whole(trace_.all());
    engine.finish();
    EXPECT_EQ(patterns_of(engine), (Loads{{"table 0+64 8", 1}, {"table 64+64 64", 1}}));
}

// What else is in it is not asked for, as a line of a stack is for the most part a stack's.
TEST_F(ObjectPatternsTest, LinesThatWereLoadedForAStackHaveNoPatterns) {
    allocate(call_first_, kStack - 192, 128);
    read(kStack - 128);  // the red zone, where the block's second half is
    read(kStack - 129);
    const Engine& engine = finished();
    EXPECT_EQ(loads_of(engine), (Loads{{"heap 10", 1}, {"stack of main", 1}}));
    EXPECT_EQ(patterns_of(engine), (Loads{{"heap 10 0+64 " + std::to_string(std::uint64_t{1} << 63), 1}}));
}

TEST_F(ObjectPatternsTest, PatternsAreApartByWhoLoadedTheLine) {
    Block& other_read = program_.code(main_, 0x1050).op(4, 50).reads(1).ends();
    allocate(call_first_, 0x10000, 64);
    const auto lines = [&] {
        std::map<std::uint64_t, std::uint64_t> found;  // by the line's number, which bytes were used
        const Engine& engine = finished();
        for (const auto& [pattern, count] : engine.objects()->patterns().all()) {
            for (const BlockCost* cost : engine.blocks().all()) {
                for (std::size_t i = 0; i < cost->block->instruction_count; ++i) {
                    if (cost->instructions[i] != pattern.loaded_by()) continue;
                    found[cost->block->instructions()[i].line] += pattern.used() * count;
                }
            }
        }
        return found;
    };
    read(0x10000);
    trace_.run(other_read, kStack, {0x10003});
    read(0x20000);
    trace_.run(other_read, kStack, {0x10004});
    EXPECT_EQ(lines(), (std::map<std::uint64_t, std::uint64_t>{{40, 1 | 1 << 3}, {50, 1 << 4}}));
}

// A line that was loaded for a variable has the bytes of all variables in it; the hole between them is no variable's.
TEST_F(ObjectPatternsTest, PatternsOfVariables) {
    const std::vector<MappedObject> variables{{0x30000, 0x30010, ObjectKind::kStatic, "table", nullptr},
                                              {0x30010, 0x30018, ObjectKind::kFile, nullptr, nullptr},
                                              {0x30018, 0x30020, ObjectKind::kStatic, "counter", nullptr},
                                              {0x30030, 0x30080, ObjectKind::kStatic, "last", nullptr}};
    trace_.mark(Marker::kMapped, 0x30000, 0x30080, reinterpret_cast<std::uintptr_t>(&variables));
    for (const Address address : {0x30001, 0x3001f, 0x30012, 0x30028, 0x30030, 0x30041}) read(address);
    EXPECT_EQ(patterns_of(finished()),
              (Loads{{"table 0+16 2", 1}, {"counter 0+8 128", 1}, {"last 0+16 1", 1}, {"last 16+64 2", 1}}));
}

// What is mapped again in part keeps its place in the variable.
TEST_F(ObjectPatternsTest, PatternsOfAVariableThatIsCut) {
    const std::vector<MappedObject> variables{{0x30000, 0x30080, ObjectKind::kStatic, "table", nullptr}};
    trace_.mark(Marker::kMapped, 0x30000, 0x30080, reinterpret_cast<std::uintptr_t>(&variables));
    trace_.mark(Marker::kUnmapped, 0x30000, 0x30050);
    read(0x30052);
    EXPECT_EQ(patterns_of(finished()), (Loads{{"table 80+48 4", 1}}));
}

TEST_F(ObjectPatternsTest, PatternsOfAThreadLocalVariableAreThoseOfAllThreads) {
    const auto in = [](Address block) {
        return std::vector<MappedObject>{
            {block, block + 0x40, ObjectKind::kThreadLocal, "table", nullptr, block, 0x40, 0x100}};
    };
    const std::vector<MappedObject> first = in(0x30000);
    const std::vector<MappedObject> second = in(0x50020);
    trace_.mark(Marker::kMapped, 0x30000, 0x30040, reinterpret_cast<std::uintptr_t>(&first));
    trace_.mark(Marker::kMapped, 0x50020, 0x50060, reinterpret_cast<std::uintptr_t>(&second));
    for (const Address address : {0x30001, 0x50041, 0x30001}) read(address);
    EXPECT_EQ(patterns_of(finished()), (Loads{{"table 0+64 2", 2}, {"table 32+32 2", 1}}));
}

// As where a file's data ends within a variable, and zeros begin.
TEST_F(ObjectPatternsTest, AVariableInTwoMappingsIsOne) {
    const std::vector<MappedObject> first{{0x30000, 0x30040, ObjectKind::kStatic, "table", nullptr, 0x2ffc0, 0x140}};
    const std::vector<MappedObject> second{{0x30040, 0x30100, ObjectKind::kStatic, "table", nullptr, 0x2ffc0, 0x140}};
    trace_.mark(Marker::kMapped, 0x30000, 0x30040, reinterpret_cast<std::uintptr_t>(&first));
    trace_.mark(Marker::kMapped, 0x30040, 0x30100, reinterpret_cast<std::uintptr_t>(&second));
    read(0x30000);
    read(0x30041);
    const Engine& engine = finished();
    EXPECT_EQ(loads_of(engine), (Loads{{"table", 2}}));
    EXPECT_EQ(patterns_of(engine), (Loads{{"table 64+64 1", 1}, {"table 128+64 2", 1}}));
    for (const ObjectGroup& group : engine.objects()->groups().all()) {
        EXPECT_EQ(group.size, group.kind == ObjectKind::kStatic ? 0x140u : 0u);
    }
}

}  // namespace
}  // namespace bd
