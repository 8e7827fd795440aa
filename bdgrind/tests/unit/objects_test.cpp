// SPDX-License-Identifier: GPL-2.0-or-later
//
// Data objects from a trace, with totals that can be worked out by hand. (Random runs are in oracle_test.cpp.)

#include "engine/objects/objects.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "profile/object_writer.h"
#include "program.h"
#include "text.h"

namespace bd {
namespace {

using test::Program;
using test::Trace;
using enum JumpKind;

constexpr Address kStack = 0x7000'0000;

// main allocates at two places and reads one byte at a time. Caches: D1 and LL of one line each, so that every read of
// another line loads it into both.
class ObjectsTest : public testing::Test {
protected:
    using Loads = std::map<std::string, std::uint64_t>;

    ObjectsTest() {
        malloc_.allocator = {.kind = AllocatorKind::kAllocates, .size = 1};
        free_.allocator = {.kind = AllocatorKind::kFrees, .block = 1};
        pool_.allocator = {.kind = AllocatorKind::kAllocates, .size = 1, .may_be_within = true};
        trace_.thread(1).run(start_, kStack);
    }

    void allocate(Block& call, Address result, std::uint64_t size) {
        trace_.run(call, kStack).run(malloc_body_, kStack - 8);
        trace_.mark(Marker::kAllocatorEntered, size, 7, 7).mark(Marker::kAllocatorLeft, result, kStack - 8);
        trace_.run(start_, kStack);
    }
    void free(Address block) {
        trace_.run(call_free_, kStack).run(free_body_, kStack - 8).mark(Marker::kAllocatorEntered, block, 7, 7);
        trace_.run(start_, kStack);
    }
    void read(Address address) { trace_.run(read_, kStack, {address}); }

    Engine& finished() {
        engine_.replay_whole(trace_.all());
        engine_.finish();
        return engine_;
    }
    // Lines loaded into D1 for data, by group.
    Loads loads() { return loads_of(finished()); }
    static Loads loads_of(const Engine& engine) {
        Loads loads;
        for (const ObjectCell& cell : engine.objects()->costs().cells()) {
            const std::uint64_t lines = engine.costs()[cell.costs][column(Event::kEvLineD1)];
            if (lines != 0) loads[name(engine.objects()->groups()[cell.group])] += lines;
        }
        return loads;
    }
    // How often, by group, offset, bytes, and which of these were used.
    static Loads patterns_of(const Engine& engine) {
        Loads patterns;
        for (const auto& [pattern, count] : engine.objects()->patterns().all()) {
            patterns[name(engine.objects()->groups()[pattern.group]) + " " + std::to_string(pattern.offset) + "+" +
                     std::to_string(pattern.bytes) + " " + std::to_string(pattern.used)] += count;
        }
        return patterns;
    }
    static std::string name(const ObjectGroup& group) {
        if (group.name != nullptr) return group.name;
        if (group.kind == ObjectKind::kUnknown) return "unknown";
        if (group.kind == ObjectKind::kUnused) return "unused";
        if (group.kind == ObjectKind::kStack) return std::string("stack of ") + group.function->name;
        std::string text = group.kind == ObjectKind::kHeap ? "heap" : "mapping";
        for (const ObjectPlace& place : group.places) {
            text += " " + std::to_string(place.from->block->instructions()[place.instruction].line);
        }
        return text;
    }

    Program program_;
    Function& main_ = program_.function("main");
    Function& malloc_ = program_.function("malloc");
    Function& free_ = program_.function("free");
    Function& pool_ = program_.function("pool");
    Block& start_ = program_.code(main_, 0x1000).op(4, 1).ends();
    Block& call_first_ = program_.code(main_, 0x1010).op(4, 10).ends(kCall);
    Block& call_second_ = program_.code(main_, 0x1020).op(4, 20).ends(kCall);
    Block& call_free_ = program_.code(main_, 0x1030).op(4, 30).ends(kCall);
    Block& read_ = program_.code(main_, 0x1040).op(4, 40).reads(1).ends();
    Block& malloc_body_ = program_.entry(malloc_, 0x2000).op(4, 100).ends(kReturn);
    Block& free_body_ = program_.entry(free_, 0x3000).op(4, 110).ends(kReturn);
    Block& pool_body_ = program_.entry(pool_, 0x4000).op(4, 120).ends(kReturn);
    Trace trace_;
    Engine engine_{{.caches = {.i1 = {1024, 1, 64}, .d1 = {64, 1, 64}, .ll = {64, 1, 64}}, .objects = true}};
};

TEST_F(ObjectsTest, BlocksBelongToThePlaceThatAllocatedThem) {
    allocate(call_first_, 0x10000, 64);
    allocate(call_second_, 0x10040, 64);
    allocate(call_first_, 0x10080, 64);
    for (const Address address : {0x10000, 0x10040, 0x10080, 0x10041, 0x20000}) read(address);
    EXPECT_EQ(loads(), (Loads{{"heap 10", 2}, {"heap 20", 2}, {"unknown", 1}}));
}

TEST_F(ObjectsTest, AnAddressThatIsUsedAgainBelongsToTheNewBlock) {
    allocate(call_first_, 0x10000, 64);
    read(0x10000);
    free(0x10000);
    read(0x20000);
    read(0x10000);  // nobody's now
    allocate(call_second_, 0x10000, 64);
    read(0x20000);
    read(0x10000);
    EXPECT_EQ(loads(), (Loads{{"heap 10", 1}, {"heap 20", 1}, {"unknown", 3}}));
}

// What it costs is known when it leaves, who pays when it comes.
TEST_F(ObjectsTest, ALineBelongsToTheBlockItWasLoadedFor) {
    allocate(call_first_, 0x10000, 32);
    allocate(call_second_, 0x10020, 32);
    read(0x10020);
    read(0x10000);  // is in the cache
    EXPECT_EQ(loads(), (Loads{{"heap 20", 1}}));
}

TEST_F(ObjectsTest, BlocksAreCounted) {
    allocate(call_first_, 0x10000, 48);
    allocate(call_first_, 0x10040, 72);
    free(0x10000);
    allocate(call_first_, 0x10000, 24);
    for (const ObjectGroup& group : finished().objects()->groups().all()) {
        if (group.kind != ObjectKind::kHeap) continue;
        EXPECT_EQ(group.blocks, 3u);
        EXPECT_EQ(group.bytes, 144u);
        EXPECT_EQ(group.blocks_freed, 1u);
        EXPECT_EQ(group.live_bytes, 96u);
        EXPECT_EQ(group.most_live_bytes, 120u);
        EXPECT_EQ(group.smallest, 24u);
        EXPECT_EQ(group.largest, 72u);
        EXPECT_EQ(group.divisor, 24u);
    }
}

// operator new calls malloc: one block, which belongs to whoever called new.
TEST_F(ObjectsTest, TheOutermostAllocatorsCallerIsThePlace) {
    Function& outer = program_.function("new");
    outer.allocator = malloc_.allocator;
    Block& outer_calls = program_.entry(outer, 0x5000).op(4, 130).ends(kCall);
    Block& outer_returns = program_.code(outer, 0x5004).op(4, 131).ends(kReturn);
    trace_.run(call_first_, kStack).run(outer_calls, kStack - 8).mark(Marker::kAllocatorEntered, 64);
    trace_.run(malloc_body_, kStack - 16).mark(Marker::kAllocatorEntered, 64);
    trace_.mark(Marker::kAllocatorLeft, 0x10000, kStack - 16);
    trace_.run(outer_returns, kStack - 8).mark(Marker::kAllocatorLeft, 0x10000, kStack - 8).run(start_, kStack);
    read(0x10000);
    EXPECT_EQ(loads(), (Loads{{"heap 10", 1}}));
    std::uint64_t blocks = 0;
    for (const ObjectGroup& group : engine_.objects()->groups().all()) blocks += group.blocks;
    EXPECT_EQ(blocks, 1u);
}

// A jump out of an allocator leaves it; what returns later to the same stack pointer is another call.
TEST_F(ObjectsTest, AnAllocatorThatWasLeftByAJumpAllocatesNothing) {
    trace_.run(call_first_, kStack).run(malloc_body_, kStack - 8).mark(Marker::kAllocatorEntered, 64);
    trace_.run(start_, kStack);
    trace_.mark(Marker::kAllocatorLeft, 0x10000, kStack - 8);
    read(0x10000);
    EXPECT_EQ(loads(), (Loads{{"unknown", 1}}));
}

TEST_F(ObjectsTest, FramesBelongToTheirFunctions) {
    Function& f = program_.function("f");
    Block& f_body = program_.entry(f, 0x6000).op(4, 50).reads(1).ends();
    trace_.run(call_first_, kStack - 0x100);
    for (const Address address : {kStack - 0x80, kStack - 0x180, kStack - 0x300}) {
        trace_.run(f_body, kStack - 0x108, {address});
    }
    EXPECT_EQ(loads(), (Loads{{"stack of f", 2}, {"stack of main", 1}}));
}

// A frame ends below the stack pointer that the call began with: there is the address it returns to.
TEST_F(ObjectsTest, FramesHaveTheirBytesAndNoOthers) {
    Function& f = program_.function("f");
    Block& f_body = program_.entry(f, 0x6000).op(4, 50).reads(1).ends();
    trace_.run(call_first_, kStack - 0x100);
    for (const Address address : {kStack - 1, kStack, kStack - 0x140, kStack - 0x141}) {
        trace_.run(f_body, kStack - 0x140, {address});
    }
    EXPECT_EQ(loads(), (Loads{{"stack of f", 1}, {"stack of main", 2}, {"unknown", 1}}));
}

// 128 bytes below the stack pointer are the frame's whatever is mapped there, and a mapping's beyond that.
TEST_F(ObjectsTest, TheRedZoneIsTheFrames) {
    trace_.mark(Marker::kMapped, kStack - 0x1000, kStack - 0x20, 0);
    read(kStack - 128);
    read(kStack - 129);
    EXPECT_EQ(loads(), (Loads{{"stack of main", 1}, {"mapping", 1}}));
}

// Where nothing is known to be mapped, a frame that has been left reaches so far.
TEST_F(ObjectsTest, AMegabyteBelowTheStackPointerIsTheFrames) {
    read(kStack - (1 << 20));
    read(0x20000);  // takes the line away
    read(kStack - (1 << 20) + 1);
    EXPECT_EQ(loads(), (Loads{{"stack of main", 1}, {"unknown", 2}}));
}

class UsePatternsTest : public testing::Test {
protected:
    static constexpr CostId kCell{1};
    static constexpr GroupId kGroup{3};
    static constexpr UsePattern kUnknown{0, kCell, kGroup, 0, 0};

    std::uint64_t times(const UsePattern& pattern) const {
        const auto found = patterns_.all().find(pattern);
        return found == patterns_.all().end() ? 0 : found->second;
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
    const std::size_t pages = (patterns_.all().size() - 1) / 2;
    EXPECT_GE(pages, 12u);
    EXPECT_LE(pages, 20u);
    EXPECT_EQ(times(kUnknown), kSize / 2048 - 2 * pages);
    std::uint64_t last = 0;
    std::set<std::uint64_t> distances;
    std::set<std::uint64_t> offsets;
    for (const auto& [pattern, count] : patterns_.all()) {
        EXPECT_TRUE(count == 1 || pattern.bytes == 0);
        if (pattern.bytes != 0 && pattern.offset % 4096 == 0) offsets.insert(pattern.offset);
    }
    EXPECT_TRUE(offsets.contains(0));
    EXPECT_GE(*offsets.rbegin(), kSize / 2);
    for (const std::uint64_t offset : offsets) distances.insert(offset - std::exchange(last, offset));
    EXPECT_GE(distances.size(), 4u);
}

TEST_F(UsePatternsTest, HowLargeItIsDecidesHowMany) {
    for (const std::uint64_t size : {(1u << 16) + 1, 1u << 17, 1u << 20}) {
        patterns_.clear();
        for (std::uint64_t offset = 0; offset < size; offset += 4096) patterns_.add(kCell, kGroup, size, offset, 8, 3);
        const std::size_t pages = patterns_.all().size() - 1;
        EXPECT_GE(pages, 7u) << size;
        EXPECT_LE(pages, 20u) << size;
    }
}

TEST_F(UsePatternsTest, BeyondFourGiBNothingIs) {
    constexpr std::uint64_t kSize = std::uint64_t{1} << 34;
    for (std::uint64_t offset = 0; offset < kSize; offset += 4096) {
        patterns_.add(kCell, kGroup, kSize, offset, 8, offset >> 32 == 0 ? 1 : 2);
    }
    for (const auto& [pattern, count] : patterns_.all()) EXPECT_NE(pattern.used, 2u);
}

TEST_F(UsePatternsTest, WhatIsTooMuchIsCountedWithoutItsBytes) {
    for (std::uint64_t used = 2; patterns_.all().size() < (1u << 19); ++used) {
        patterns_.add(kCell, kGroup, 64, 0, 64, used);
    }
    EXPECT_EQ(times(kUnknown), 0u);
    patterns_.add(kCell, kGroup, 64, 0, 64, 1);  // one more
    EXPECT_EQ(times(kUnknown), 1u);
    patterns_.add(kCell, kGroup, 64, 0, 64, 2);  // known
    EXPECT_EQ(times(kUnknown), 1u);
    EXPECT_EQ(times({2, kCell, kGroup, 0, 64}), 2u);
    EXPECT_EQ(patterns_.all().size(), (1u << 19) + 1);
}

TEST_F(ObjectsTest, VariablesAndMappings) {
    const std::vector<MappedObject> variables{{0x30000, 0x30040, ObjectKind::kStatic, "table", nullptr},
                                              {0x30040, 0x30080, ObjectKind::kStatic, "counter", nullptr}};
    trace_.mark(Marker::kMapped, 0x30000, 0x30080, reinterpret_cast<std::uintptr_t>(&variables));
    read(0x30000);
    read(0x30040);
    read(0x30001);
    trace_.mark(Marker::kUnmapped, 0x30000, 0x30040);
    read(0x30040);
    read(0x30000);
    EXPECT_EQ(loads(), (Loads{{"counter", 2}, {"table", 2}, {"unknown", 1}}));
}

TEST_F(ObjectsTest, PatternsTellWhichBytesOfWhichBlocksWereUsed) {
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

// --- What allocators do

// realloc, with a size of 0 or not, that returns null or a block.
TEST_F(ObjectsTest, WhatReallocatesFreesTheOldBlockIfItHasDone) {
    malloc_.allocator = {.kind = AllocatorKind::kReallocates, .block = 1, .size = 2};
    const auto reallocate = [this](Block& call, Address block, std::uint64_t size, Address result) {
        trace_.run(call, kStack).run(malloc_body_, kStack - 8).mark(Marker::kAllocatorEntered, block, size, 7);
        trace_.mark(Marker::kAllocatorLeft, result, kStack - 8).run(start_, kStack);
    };
    reallocate(call_first_, 0, 64, 0x10000);
    reallocate(call_first_, 0, 64, 0x10080);
    reallocate(call_first_, 0, 64, 0x10100);
    reallocate(call_second_, 0x10000, 1000, 0);      // there is no room
    reallocate(call_second_, 0x10080, 0, 0);         // as free does
    reallocate(call_second_, 0x10100, 64, 0x10140);  // has moved
    for (const Address address : {0x10000, 0x10080, 0x10000, 0x10100, 0x10140}) read(address);
    EXPECT_EQ(loads(), (Loads{{"heap 10", 2}, {"heap 20", 1}, {"unknown", 2}}));
}

// The sizes are the second argument's and the third's.
TEST_F(ObjectsTest, WhatAllocatesElementsHasSoMany) {
    malloc_.allocator = {.kind = AllocatorKind::kAllocates, .size = 3, .count = 2};
    trace_.run(call_first_, kStack).run(malloc_body_, kStack - 8).mark(Marker::kAllocatorEntered, 1000, 3, 24);
    trace_.mark(Marker::kAllocatorLeft, 0x10000, kStack - 8).run(start_, kStack);
    read(0x10040);
    read(0x10080);
    EXPECT_EQ(loads(), (Loads{{"heap 10", 1}, {"unknown", 1}}));
}

// An argument that is numbered 0 is none. (A block at address 1 is what a true value might be taken for.)
TEST_F(ObjectsTest, WhatReallocatesNoArgumentFreesNothing) {
    malloc_.allocator = {.kind = AllocatorKind::kReallocates, .size = 1};
    allocate(call_first_, 1, 16);
    allocate(call_second_, 0x10000, 16);
    read(1);
    EXPECT_EQ(loads(), (Loads{{"heap 10", 1}}));
}

// A pool's element leaves the pool's block as it is, if it lies in one; any other block takes the place of what was
// there.
TEST_F(ObjectsTest, OnlyAPoolAllocatesWithinABlock) {
    const auto allocate_from_pool = [this](Address result) {
        trace_.run(call_second_, kStack).run(pool_body_, kStack - 8).mark(Marker::kAllocatorEntered, 64);
        trace_.mark(Marker::kAllocatorLeft, result, kStack - 8).run(start_, kStack);
    };
    allocate(call_first_, 0x10000, 256);
    allocate_from_pool(0x10040);
    for (const Address address : {0x10000, 0x10040, 0x10080}) read(address);
    allocate(call_second_, 0x10000, 64);  // nobody saw that the one before was freed
    allocate_from_pool(0x20000);
    for (const Address address : {0x20000, 0x10080}) read(address);
    EXPECT_EQ(loads(), (Loads{{"heap 10", 2}, {"heap 20", 2}, {"unknown", 1}}));
}

// What is that large is no element of a pool; so it would be ignored if it were taken for one.
TEST_F(ObjectsTest, ALargeBlockIsNoElementOfWhatWasThere) {
    allocate(call_first_, 0x100000, 64);  // nobody saw that it was freed
    allocate(call_second_, 0x100000, 1 << 20);
    for (const Address address : {0x100000, 0x180000}) read(address);
    EXPECT_EQ(loads(), (Loads{{"heap 20", 2}}));
}

// A thread's first function has nobody who called it.
TEST_F(ObjectsTest, WhatNobodyCalledAllocatesNothing) {
    trace_.thread(2).run(malloc_body_, 0x6000'0000).mark(Marker::kAllocatorEntered, 64);
    trace_.mark(Marker::kAllocatorLeft, 0x10000, 0x6000'0000).thread(1).run(start_, kStack);
    read(0x10000);
    EXPECT_EQ(loads(), (Loads{{"unknown", 1}}));
}

// --- Where from

TEST_F(ObjectsTest, CallersTellPlacesApartUpToADepth) {
    Function& f = program_.function("f");
    Block& f_calls = program_.entry(f, 0x6000).op(4, 60).ends(kCall);
    for (const Address result : {0x10000, 0x10040}) {
        trace_.run(result == 0x10000 ? call_first_ : call_second_, kStack).run(f_calls, kStack - 8);
        trace_.run(malloc_body_, kStack - 16).mark(Marker::kAllocatorEntered, 64);
        trace_.mark(Marker::kAllocatorLeft, result, kStack - 16).run(start_, kStack);
        read(result);
    }
    trace_.run(call_first_, kStack).run(f_calls, kStack - 8).run(f_calls, kStack - 16).run(f_calls, kStack - 24);
    trace_.run(malloc_body_, kStack - 32).mark(Marker::kAllocatorEntered, 64);
    trace_.mark(Marker::kAllocatorLeft, 0x10080, kStack - 32).run(start_, kStack);
    read(0x10080);
    const auto loads_with = [this](const ObjectRules& rules) {
        EngineConfig config = engine_.config();
        config.object_rules = rules;
        Engine engine(config);
        engine.replay_whole(trace_.all());
        engine.finish();
        return loads_of(engine);
    };
    EXPECT_EQ(loads_with({.depth = 1}), (Loads{{"heap 60", 3}}));
    EXPECT_EQ(loads_with({.depth = 2}), (Loads{{"heap 60 10", 1}, {"heap 60 20", 1}, {"heap 60 60", 1}}));
    EXPECT_EQ(loads_with({}), (Loads{{"heap 60 10", 1}, {"heap 60 20", 1}, {"heap 60 60 60", 1}}));
}

// A stub without a name that jumps to malloc is no caller; nameless code that calls it, and a function that jumps are.
TEST_F(ObjectsTest, NamelessJumpsAreNoPlaces) {
    Block& stub = program_.entry(program_.function("0x5000"), 0x5000).op(4, 50).ends(kJump);
    Block& nameless = program_.entry(program_.function("0x6000"), 0x6000).op(4, 60).ends(kCall);
    Block& named = program_.entry(program_.function("f"), 0x7000).op(4, 70).ends(kJump);
    Address result = 0x10000;
    for (const Block* const through : {&stub, &nameless, &named}) {
        const Address below = through == &nameless ? kStack - 16 : kStack - 8;
        trace_.run(call_first_, kStack).run(*through, kStack - 8).run(malloc_body_, below);
        trace_.mark(Marker::kAllocatorEntered, 64).mark(Marker::kAllocatorLeft, result, below).run(start_, kStack);
        read(result);
        result += 64;
    }
    EXPECT_EQ(loads(), (Loads{{"heap 10", 1}, {"heap 60 10", 1}, {"heap 70 10", 1}}));
}

TEST_F(ObjectsTest, ASkippedAllocatorsPlaceIsWhoCalledIt) {
    malloc_.skipped = true;
    Block& two = program_.code(main_, 0x1050).op(4, 54).op(4, 55).ends(kCall);
    allocate(two, 0x10000, 64);
    read(0x10000);
    EXPECT_EQ(loads(), (Loads{{"heap 55", 1}}));
}

TEST_F(ObjectsTest, MappingsBelongToThePlaceThatAskedForThem) {
    trace_ = Trace();
    trace_.mark(Marker::kMapped, 0x40000, 0x41000, 0);  // before any thread
    trace_.thread(1).mark(Marker::kMapped, 0x42000, 0x43000, 0).run(start_, kStack);
    Block& f_body = program_.entry(program_.function("f"), 0x6000).op(4, 60).ends(kReturn);
    trace_.run(call_first_, kStack).run(f_body, kStack - 8).mark(Marker::kMapped, 0x44000, 0x45000, 0);
    trace_.run(start_, kStack);
    // What malloc maps for itself, and what is mapped by it otherwise.
    trace_.run(call_second_, kStack).run(malloc_body_, kStack - 8).mark(Marker::kAllocatorEntered, 64);
    trace_.mark(Marker::kMapped, 0x46000, 0x47000, 0).mark(Marker::kAllocatorLeft, 0x46000, kStack - 8);
    trace_.mark(Marker::kMapped, 0x48000, 0x49000, 0).run(start_, kStack);
    for (Address address = 0x40000; address < 0x4a000; address += 0x1000) read(address + 64);
    read(0x46000);
    EXPECT_EQ(
        loads(),
        (Loads{{"heap 20", 1}, {"mapping", 2}, {"mapping 10", 1}, {"mapping 20", 1}, {"unknown", 5}, {"unused", 1}}));
}

// mmap refuses to map nothing; what had been mapped there stays.
TEST_F(ObjectsTest, NothingIsMappedWhereABeginIsTheEnd) {
    trace_.mark(Marker::kMapped, 0x40000, 0x42000, 0);
    Block& f_body = program_.entry(program_.function("f"), 0x6000).op(4, 60).ends(kReturn);
    trace_.run(call_first_, kStack).run(f_body, kStack - 8).mark(Marker::kMapped, 0x41000, 0x41000, 0);
    trace_.run(start_, kStack);
    for (const Address address : {0x40fff, 0x41000}) read(address);
    EXPECT_EQ(loads(), (Loads{{"mapping", 2}}));
}

// f allocates, and maps something itself.
TEST_F(ObjectsTest, MappingsAndBlocksFromTheSameCallerAreToldApart) {
    Block& f_calls = program_.entry(program_.function("f"), 0x6000).op(4, 60).ends(kCall);
    trace_.run(call_first_, kStack).run(f_calls, kStack - 8).run(malloc_body_, kStack - 16);
    trace_.mark(Marker::kAllocatorEntered, 64).mark(Marker::kAllocatorLeft, 0x10000, kStack - 16).run(start_, kStack);
    trace_.run(call_first_, kStack).run(f_calls, kStack - 8).mark(Marker::kMapped, 0x40000, 0x41000, 0);
    trace_.run(malloc_body_, kStack - 16).run(start_, kStack);
    read(0x10000);
    read(0x40000);
    EXPECT_EQ(loads(), (Loads{{"heap 60 10", 1}, {"mapping 10", 1}}));
}

// --- Stacks

// As far as 128 bytes below where it was when it last ran.
TEST_F(ObjectsTest, AnotherThreadsStackIsKnownToo) {
    Block& f_body = program_.entry(program_.function("f"), 0x6000).op(4, 60).ends(kReturn);
    trace_.thread(2).run(call_first_, 0x6000'0000).run(f_body, 0x6000'0000 - 0x100).thread(1);
    for (const Address below : {0x40, 0x140, 0x180, 0x181}) read(0x6000'0000 - below);
    EXPECT_EQ(loads(), (Loads{{"stack of f", 2}, {"stack of main", 1}, {"unknown", 1}}));
}

TEST_F(ObjectsTest, InTheRedZoneIsNoBlock) {
    allocate(call_first_, kStack - 192, 128);
    read(kStack - 128);
    read(kStack - 129);
    read(kStack);  // above the thread's first frame
    EXPECT_EQ(loads(), (Loads{{"heap 10", 1}, {"stack of main", 1}, {"unknown", 1}}));
}

// Below the stack pointer a mapping that the stack is in is a stack; a variable with room for one is what it is.
TEST_F(ObjectsTest, AStackMayBeInAMappingOrAVariable) {
    const std::vector<MappedObject> arena{{kStack - 0x10000, kStack + 0x1000, ObjectKind::kStatic, "arena", nullptr}};
    trace_.mark(Marker::kMapped, kStack - 0x10000, kStack + 0x1000, 0);
    read(kStack - 0x2000);
    trace_.mark(Marker::kMapped, kStack - 0x10000, kStack + 0x1000, reinterpret_cast<std::uintptr_t>(&arena));
    read(kStack - 0x3000);
    EXPECT_EQ(loads(), (Loads{{"arena", 1}, {"stack of main", 1}}));
}

// --- Patterns

TEST_F(ObjectsTest, PatternsHaveTheBytesOfABlockAndNoOthers) {
    allocate(call_first_, 0x10000, 64);
    allocate(call_second_, 0x10050, 16);
    for (const Address address : {0x10000, 0x10005, 0x1003f, 0x10050, 0x1004f, 0x1005f, 0x10060}) read(address);
    EXPECT_EQ(patterns_of(finished()),
              (Loads{{"heap 10 0+64 " + std::to_string(1 | 1 << 5 | std::uint64_t{1} << 63), 1},
                     {"heap 20 0+16 " + std::to_string(1 | 1 << 15), 1}}));
}

TEST_F(ObjectsTest, PatternsOfShortLinesHaveTheirBytes) {
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

TEST_F(ObjectsTest, PatternsOfLongLinesArePartsOf64Bytes) {
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

TEST_F(ObjectsTest, PatternsAreApartByWhoLoadedTheLine) {
    Block& other_read = program_.code(main_, 0x1050).op(4, 50).reads(1).ends();
    allocate(call_first_, 0x10000, 64);
    const auto lines = [&] {
        std::map<std::uint64_t, std::uint64_t> found;  // by the line's number, which bytes were used
        const Engine& engine = finished();
        for (const auto& [pattern, count] : engine.objects()->patterns().all()) {
            for (const BlockCost* cost : engine.blocks().all()) {
                for (std::size_t i = 0; i < cost->block->instruction_count; ++i) {
                    if (cost->instructions[i] != pattern.loaded_by) continue;
                    found[cost->block->instructions()[i].line] += pattern.used * count;
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

// A line that was loaded for a variable has the bytes of all variables in it; the hole between them is nobody's.
TEST_F(ObjectsTest, PatternsOfVariables) {
    const std::vector<MappedObject> variables{{0x30000, 0x30010, ObjectKind::kStatic, "table", nullptr},
                                              {0x30010, 0x30018, ObjectKind::kFile, nullptr, nullptr},
                                              {0x30018, 0x30020, ObjectKind::kStatic, "counter", nullptr},
                                              {0x30030, 0x30080, ObjectKind::kStatic, "last", nullptr}};
    trace_.mark(Marker::kMapped, 0x30000, 0x30080, reinterpret_cast<std::uintptr_t>(&variables));
    for (const Address address : {0x30001, 0x3001f, 0x30012, 0x30028, 0x30030, 0x30041}) read(address);
    EXPECT_EQ(patterns_of(finished()), (Loads{{"table 0+16 2", 1},
                                              {"counter 0+8 128", 1},
                                              {"last 0+16 1", 1},
                                              {"last 16+64 2", 1}}));
}

// What is mapped again in part keeps its place in the variable.
TEST_F(ObjectsTest, PatternsOfAVariableThatIsCut) {
    const std::vector<MappedObject> variables{{0x30000, 0x30080, ObjectKind::kStatic, "table", nullptr}};
    trace_.mark(Marker::kMapped, 0x30000, 0x30080, reinterpret_cast<std::uintptr_t>(&variables));
    trace_.mark(Marker::kUnmapped, 0x30000, 0x30050);
    read(0x30052);
    EXPECT_EQ(patterns_of(finished()), (Loads{{"table 80+48 4", 1}}));
}

// As where a file's data ends within a variable, and zeros begin.
TEST_F(ObjectsTest, AVariableInTwoMappingsIsOne) {
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

// --- Zeroing

TEST_F(ObjectsTest, WhatIsZeroedIsNotCountedAndStaysKnown) {
    allocate(call_first_, 0x10000, 64);
    allocate(call_first_, 0x10040, 32);
    free(0x10040);
    read(0x10000);
    engine_.replay_whole(trace_.all());
    engine_.evict_all();
    engine_.zero(0);
    EXPECT_EQ(loads_of(engine_), Loads{});
    EXPECT_EQ(patterns_of(engine_), Loads{});
    for (const ObjectGroup& group : engine_.objects()->groups().all()) {
        EXPECT_EQ(group.blocks, 0u);
        EXPECT_EQ(group.bytes, 0u);
        EXPECT_EQ(group.blocks_freed, 0u);
        EXPECT_EQ(group.live_bytes, group.kind == ObjectKind::kHeap ? 64u : 0u);
        EXPECT_EQ(group.most_live_bytes, group.live_bytes);
    }
    trace_ = Trace();
    trace_.thread(1);
    read(0x10000);
    EXPECT_EQ(loads(), (Loads{{"heap 10", 1}}));
}

TEST_F(ObjectsTest, WhatOneThreadReadsIsZeroedAlone) {
    allocate(call_first_, 0x10000, 64);
    allocate(call_second_, 0x10040, 64);
    read(0x10000);
    trace_.thread(2).run(read_, 0x6000'0000, {0x10040});
    EngineConfig config = engine_.config();
    config.separate_threads = true;
    Engine engine(config);
    engine.replay_whole(trace_.all());
    engine.evict_all();
    EXPECT_EQ(patterns_of(engine), (Loads{{"heap 10 0+64 1", 1}, {"heap 20 0+64 1", 1}}));
    engine.zero(2);
    EXPECT_EQ(loads_of(engine), (Loads{{"heap 10", 1}}));
    EXPECT_EQ(patterns_of(engine), (Loads{{"heap 10 0+64 1", 1}}));
    const auto blocks = [&engine] {
        std::uint64_t count = 0;
        for (const ObjectGroup& group : engine.objects()->groups().all()) count += group.blocks;
        return count;
    };
    EXPECT_EQ(blocks(), 2u);  // of the first
    engine.zero(1);
    EXPECT_EQ(loads_of(engine), Loads{});
    EXPECT_EQ(patterns_of(engine), Loads{});
    EXPECT_EQ(blocks(), 0u);
}

// In the file of a thread stands what it has allocated, and what it has loaded.
TEST_F(ObjectsTest, EachThreadHasAFileOfItsOwn) {
    allocate(call_first_, 0x10000, 64);
    read(0x10000);
    constexpr Address kOther = 0x6000'0000;
    trace_.thread(2).run(start_, kOther).run(call_first_, kOther).run(malloc_body_, kOther - 8);
    trace_.mark(Marker::kAllocatorEntered, 32, 7, 7).mark(Marker::kAllocatorLeft, 0x10040, kOther - 8);
    trace_.run(start_, kOther).run(read_, kOther, {0x10042});
    trace_.run(read_, kOther, {0x10001});
    EngineConfig config = engine_.config();
    config.separate_threads = true;
    Engine engine(config);
    engine.replay_whole(trace_.all());
    engine.finish();
    const auto file = [&](std::uint32_t thread) {
        test::Text text;
        RunDescription run;
        run.thread = thread;
        ObjectWriter(text, engine, false).write(run);
        return text.finished();
    };
    EXPECT_NE(file(1).find("groups: 2\ncode 1\nheap 1 64 0 64 64 64 64 64 1 "), std::string::npos) << file(1);
    EXPECT_NE(file(2).find("groups: 3\ncode 1\nheap 0 0 0 0 0 64 64 64 1 "), std::string::npos) << file(2);
    EXPECT_NE(file(2).find("\nheap 1 32 0 32 32 32 32 32 1 "), std::string::npos) << file(2);
    const auto patterns = [&](std::uint32_t thread) {
        const std::string whole = file(thread);
        return static_cast<unsigned>(static_cast<unsigned char>(whole[whole.size() - 8]));
    };
    EXPECT_EQ(patterns(1), 1u);
    EXPECT_EQ(patterns(2), 2u);
}

// --- The rest

// Whether objects are told apart or not, and how often anybody looks in between.
TEST_F(ObjectsTest, NothingElseChanges) {
    allocate(call_first_, 0x10000, 64);
    for (int i = 0; i < 10; ++i) read(0x10000 + 0x40 * (static_cast<unsigned>(i) % 3));
    EngineConfig config = engine_.config();
    const auto totals = [&](bool objects, bool looks) {
        config.objects = objects;
        Engine engine(config);
        if (looks) {
            engine.replay_whole(trace_.batch(0, 9));
            engine.settle();
            engine.settle();
            engine.replay_whole(trace_.batch(9, trace_.records()));
        } else {
            engine.replay_whole(trace_.all());
        }
        engine.finish();
        return engine.totals(0);
    };
    const auto expected = totals(false, false);
    EXPECT_EQ(totals(true, false), expected);
    EXPECT_EQ(totals(true, true), expected);
}

TEST_F(ObjectsTest, TheFileHasItAll) {
    allocate(call_first_, 0x10000, 64);
    read(0x10000);
    finished();
    test::Text text;
    RunDescription run;
    run.creator = "test";
    run.pid = 1;
    run.command = "prog";
    ObjectWriter(text, engine_, false).write(run);
    const std::string file = text.finished();
    EXPECT_TRUE(file.starts_with("data-objects: 2\ncreator: test\npid: 1\ncmd: prog\npart: 1\n"));
    EXPECT_NE(file.find("\nheap 1 64 0 64 64 64 64 64 1 1 1 10 4112 1 1 malloc\n"), std::string::npos) << file;
}

}  // namespace
}  // namespace bd
