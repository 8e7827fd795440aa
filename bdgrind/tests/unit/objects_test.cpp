// SPDX-License-Identifier: GPL-2.0-or-later
//
// Data objects from a trace, with totals that can be worked out by hand. (Random runs are in oracle_test.cpp.)

#include "engine/objects/objects.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "objects_fixture.h"
#include "profile/object_writer.h"
#include "text.h"

namespace bd {
namespace {

using test::kStack;
using test::ObjectsTest;
using test::Program;
using test::Trace;
using enum JumpKind;

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

TEST_F(ObjectsTest, ABlockOfNoBytesIsCountedAsOne) {
    allocate(call_first_, 0x10000, 0);
    for (const ObjectGroup& group : finished().objects()->groups().all()) {
        if (group.kind != ObjectKind::kHeap) continue;
        EXPECT_EQ(group.blocks, 1u);
        EXPECT_EQ(group.most_live_bytes, 0u);
        EXPECT_EQ(group.smallest, 0u);
        EXPECT_EQ(group.largest, 0u);
        EXPECT_EQ(group.divisor, 0u);
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

// Each thread has its own, in another place.
TEST_F(ObjectsTest, AThreadLocalVariableIsOneForAllThreads) {
    const auto kind = ObjectKind::kThreadLocal;
    const std::vector<MappedObject> first{{0x30000, 0x30040, kind, "table", nullptr, 0x30000, 0x40, 0x80},
                                          {0x30040, 0x30080, kind, "counter", nullptr, 0x30040, 0x40, 0xc0}};
    const std::vector<MappedObject> second{{0x50000, 0x50040, kind, "table", nullptr, 0x50000, 0x40, 0x80},
                                           {0x50040, 0x50080, ObjectKind::kStatic, "table", nullptr, 0x80}};
    trace_.mark(Marker::kMapped, 0x30000, 0x30080, reinterpret_cast<std::uintptr_t>(&first));
    trace_.mark(Marker::kMapped, 0x50000, 0x50080, reinterpret_cast<std::uintptr_t>(&second));
    for (const Address address : {0x30000, 0x50000, 0x30040, 0x50040}) read(address);
    EXPECT_EQ(loads(), (Loads{{"table", 3}, {"counter", 1}}));
    std::map<ObjectKind, int> kinds;
    for (const ObjectGroup& group : engine_.objects()->groups().all()) ++kinds[group.kind];
    EXPECT_EQ(kinds[kind], 2);
    EXPECT_EQ(kinds[ObjectKind::kStatic], 1);
}

// A variable's size is that of its mapping, if nothing else is said.
TEST_F(ObjectsTest, GroupsOfFilesAndVariablesSayWhatTheyAre) {
    const ObjectFile& file = program_.symbols.object("library");
    const std::vector<MappedObject> mapped{{0x30000, 0x30040, ObjectKind::kFile, nullptr, &file},
                                           {0x30040, 0x300c0, ObjectKind::kStatic, "table", &file}};
    trace_.mark(Marker::kMapped, 0x30000, 0x300c0, reinterpret_cast<std::uintptr_t>(&mapped));
    read(0x30000);
    read(0x30040);
    bool has_file = false;
    bool has_table = false;
    for (const ObjectGroup& group : finished().objects()->groups().all()) {
        if (group.kind != ObjectKind::kFile && group.kind != ObjectKind::kStatic) continue;
        (group.kind == ObjectKind::kFile ? has_file : has_table) = true;
        EXPECT_EQ(group.object, &file);
        EXPECT_EQ(group.size, group.kind == ObjectKind::kFile ? 0u : 0x80u);
    }
    EXPECT_TRUE(has_file);
    EXPECT_TRUE(has_table);
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

// A library that is loaded twice, the second time elsewhere, has the same places.
TEST_F(ObjectsTest, PlacesAreKnownAgainInALibraryThatHasMoved) {
    Function& f = program_.function("f");
    for (const Address bias : {0x100000, 0x200000}) {
        allocate(program_.code(f, bias + 0x10, 0, bias).op(4, 70).ends(kCall), bias, 64);
    }
    std::uint64_t groups = 0;
    for (const ObjectGroup& group : finished().objects()->groups().all()) {
        if (group.kind != ObjectKind::kHeap) continue;
        ++groups;
        EXPECT_EQ(group.blocks, 2u);
    }
    EXPECT_EQ(groups, 1u);
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

TEST_F(ObjectsTest, WhatNobodyAskedForIsNoThreads) {
    EngineConfig config = engine_.config();
    config.separate_threads = true;
    Engine engine(config);
    trace_ = Trace();
    trace_.mark(Marker::kMapped, 0x40000, 0x41000, 0).thread(1).run(start_, kStack);
    read(0x40000);
    engine.replay_whole(trace_.all());
    engine.finish();
    EXPECT_EQ(loads_of(engine), (Loads{{"mapping", 1}}));
    for (const ObjectGroup& group : engine.objects()->groups().all()) EXPECT_EQ(group.thread, 0u);
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
    engine.settle();
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

TEST_F(ObjectsTest, WhatOneThreadAllocatesIsZeroedAlone) {
    constexpr Address kOther = 0x6000'0000;
    allocate(call_first_, 0x10000, 64);
    trace_.thread(2).run(start_, kOther).run(call_first_, kOther).run(malloc_body_, kOther - 8);
    trace_.mark(Marker::kAllocatorEntered, 32, 7, 7).mark(Marker::kAllocatorLeft, 0x10040, kOther - 8);
    trace_.run(start_, kOther);
    EngineConfig config = engine_.config();
    config.separate_threads = true;
    Engine engine(config);
    engine.replay_whole(trace_.all());
    const auto bytes = [&engine] {
        std::map<std::uint32_t, std::uint64_t> by_thread;
        for (const ObjectGroup& group : engine.objects()->groups().all()) by_thread[group.thread] += group.bytes;
        return by_thread;
    };
    EXPECT_EQ(bytes(), (std::map<std::uint32_t, std::uint64_t>{{0, 0}, {1, 64}, {2, 32}}));
    engine.zero(1);
    EXPECT_EQ(bytes(), (std::map<std::uint32_t, std::uint64_t>{{0, 0}, {1, 0}, {2, 32}}));
    engine.zero(0);
    EXPECT_EQ(bytes(), (std::map<std::uint32_t, std::uint64_t>{{0, 0}, {1, 0}, {2, 0}}));
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

// Those of lately are kept by a hash, which some of these have in common.
TEST(ObjectCostsTest, EachInstructionHasACellForEachGroup) {
    CostPool pool(2);
    ObjectCosts costs(pool);
    std::map<CostId, std::pair<CostId, GroupId>> owners;
    for (int round = 0; round < 2; ++round) {
        for (const std::uint32_t instruction : {1u, 2u, 62u, 4097u}) {
            for (const std::uint32_t group : {1u, 2u, 4097u, 8194u}) {
                const std::pair<CostId, GroupId> owner{CostId{instruction}, GroupId{group}};
                const CostId cell = costs.get(owner.first, owner.second);
                EXPECT_EQ(owners.try_emplace(cell, owner).first->second, owner);
                EXPECT_EQ(costs.get(owner.first, owner.second), cell);
                EXPECT_EQ(costs.owner_of(cell).instruction, owner.first);
                EXPECT_EQ(costs.owner_of(cell).group, owner.second);
            }
        }
    }
    EXPECT_EQ(owners.size(), 16u);
}

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
