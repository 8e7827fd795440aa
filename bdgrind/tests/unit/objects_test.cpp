// SPDX-License-Identifier: GPL-2.0-or-later
//
// Data objects from a trace, with totals that can be worked out by hand. (Random runs are in oracle_test.cpp.)

#include "engine/objects/objects.h"

#include <string>

#include <gtest/gtest.h>

#include "objects_fixture.h"
#include "profile/object_writer.h"
#include "text.h"

namespace bd {
namespace {

using test::ObjectsTest;
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
    read(0x10000);  // no object's now
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

TEST_F(ObjectsTest, NineTenthsOfABlocksSizesAreUsual) {
    const auto usual = [](std::initializer_list<std::pair<int, std::uint64_t>> sizes) {
        ObjectGroups groups;
        const GroupId id = groups.at(ObjectKind::kHeap, nullptr, {}, 0);
        for (const auto& [times, size] : sizes) {
            for (int i = 0; i < times; ++i) groups.add_block(id, size, size);
        }
        return groups[id].usual_size();
    };
    EXPECT_EQ(usual({{20, 48}}), 48u);
    // A pool that is refilled at first, in between and in the end.
    EXPECT_EQ(usual({{1, 16384}, {40, 48}, {1, 16384}, {58, 48}, {1, 16384}}), 48u);
    // Each other block takes back one vote, so a tenth of them is one in twenty at least.
    EXPECT_EQ(usual({{95, 48}, {5, 64}}), 48u);
    EXPECT_EQ(usual({{94, 48}, {6, 64}}), 0u);
    EXPECT_EQ(usual({{10, 48}, {10, 64}}), 0u);
    EXPECT_EQ(usual({{9, 48}}), 0u);
    EXPECT_EQ(usual({{10, 48}}), 48u);
    EXPECT_EQ(usual({}), 0u);
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

// operator new calls malloc: one block, which belongs to the caller of new.
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

// A return leads to the allocator's start, so what it allocates is that of a call which began behind that. It is left
// by a jump; the next such call does not come to the start, and is no allocator's.
TEST_F(ObjectsTest, ACallLikeThatOfAnAllocatorIsNone) {
    Block& behind = program_.code(malloc_, 0x2010).op(4, 101).ends(kCall);
    trace_.run(call_first_, kStack).run(behind, kStack - 8).run(free_body_, kStack - 16).run(malloc_body_, kStack - 8);
    trace_.mark(Marker::kAllocatorEntered, 64).run(start_, kStack);
    trace_.run(call_first_, kStack).run(behind, kStack - 8);
    trace_.mark(Marker::kMapped, 0x20000, 0x21000, 0).mark(Marker::kAllocatorLeft, 0x10000, kStack - 8);
    trace_.run(start_, kStack);
    read(0x20000);
    read(0x10000);
    EXPECT_EQ(loads(), (Loads{{"mapping 10", 1}, {"unknown", 1}}));
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
    allocate(call_second_, 0x10000, 64);  // it was not seen that the one before was freed
    trace_.mark(Marker::kMapped, 0x20000, 0x21000, 0);
    allocate_from_pool(0x20000);
    for (const Address address : {0x20000, 0x10080}) read(address);
    EXPECT_EQ(loads(), (Loads{{"heap 10", 2}, {"heap 20", 2}, {"unknown", 1}}));
}

// What is that large is no element of a pool; so it would be ignored if it were taken for one.
TEST_F(ObjectsTest, ALargeBlockIsNoElementOfWhatWasThere) {
    allocate(call_first_, 0x100000, 64);  // it was not seen that it was freed
    allocate(call_second_, 0x100000, 1 << 20);
    for (const Address address : {0x100000, 0x180000}) read(address);
    EXPECT_EQ(loads(), (Loads{{"heap 20", 2}}));
}

// A thread's first function has no caller.
TEST_F(ObjectsTest, WhatWasNotCalledAllocatesNothing) {
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

// The latest are remembered: of each depth, and with others in between.
// Each of two functions that call malloc for others is called by f and by g, and these by main.
TEST_F(ObjectsTest, CallersThatWrapAllocatorsDoNotCount) {
    Function& inner = program_.function("xmalloc");
    Function& outer = program_.function("xstrdup");
    inner.wraps_allocators = outer.wraps_allocators = true;
    Block& inner_calls = program_.entry(inner, 0x6000).op(4, 60).ends(kCall);
    Block& outer_calls = program_.entry(outer, 0x6100).op(4, 61).ends(kCall);
    const Block* const callers[]{&program_.entry(program_.function("f"), 0x6200).op(4, 62).ends(kCall),
                                 &program_.entry(program_.function("g"), 0x6300).op(4, 63).ends(kCall)};
    Engine engine({.caches = {.i1 = {1024, 1, 64}, .d1 = {64, 1, 64}, .ll = {64, 1, 64}},
                   .objects = true,
                   .object_rules = {.depth = 1}});
    for (Address result = 0x10000; result < 0x10200; result += 0x80) {
        const Block& caller = *callers[result / 0x80 % 2];
        trace_.run(call_first_, kStack).run(const_cast<Block&>(caller), kStack - 8).run(outer_calls, kStack - 16);
        trace_.run(inner_calls, kStack - 24).run(malloc_body_, kStack - 32);
        trace_.mark(Marker::kAllocatorEntered, 64).mark(Marker::kAllocatorLeft, result, kStack - 32);
        trace_.run(start_, kStack);
        read(result);
    }
    engine.replay_whole(trace_.all());
    engine.finish();
    EXPECT_EQ(loads_of(engine), (Loads{{"heap 60 61 62", 2}, {"heap 60 61 63", 2}}));
}

TEST_F(ObjectsTest, PlacesThatTakeTurnsAreKnownAgain) {
    Function& f = program_.function("f");
    Block& f_calls = program_.entry(f, 0x6000).op(4, 60).ends(kCall);
    Address result = 0x10000;
    for (int turn = 0; turn < 3; ++turn) {
        for (const Block* const from : {&call_first_, &call_second_}) {
            trace_.run(*from, kStack).run(f_calls, kStack - 8).run(malloc_body_, kStack - 16);
            trace_.mark_with(Marker::kAllocatorEntered, {64});
            trace_.mark_with(Marker::kAllocatorLeft, {result, kStack - 16}).run(start_, kStack);
            read(result);
            allocate(call_first_, result + 64, 64);
            read(result + 64);
            result += 128;
        }
    }
    EXPECT_EQ(loads(), (Loads{{"heap 10", 6}, {"heap 60 10", 3}, {"heap 60 20", 3}}));
}

// A function that only forwards calls of what allocates is as if its callers did so; it leaves no marker.
TEST_F(ObjectsTest, WhatForwardsIsNoPlace) {
    Function& inner = program_.function("new");
    Function& outer = program_.function("allocate");
    inner.allocator = outer.allocator = {.kind = AllocatorKind::kForwards};
    Block& inner_calls = program_.entry(inner, 0x6000).op(4, 60).ends(kCall);
    Block& outer_calls = program_.entry(outer, 0x7000).op(4, 70).ends(kCall);
    trace_.run(call_first_, kStack).run(outer_calls, kStack - 8).run(inner_calls, kStack - 16);
    trace_.run(malloc_body_, kStack - 24).mark_with(Marker::kAllocatorEntered, {64});
    trace_.mark_with(Marker::kAllocatorLeft, {0x10000, kStack - 24}).run(start_, kStack);
    read(0x10000);
    EXPECT_EQ(loads(), (Loads{{"heap 10", 1}}));
    for (const ObjectGroup& group : engine_.objects()->groups().all()) {
        if (group.kind != ObjectKind::kHeap) continue;
        EXPECT_EQ(group.function, &outer);
    }
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

// Whether objects are separated or not, and however often they are read in between.
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
    EXPECT_TRUE(file.starts_with("data-objects: 3\ncreator: test\npid: 1\ncmd: prog\npart: 1\n"));
    EXPECT_NE(file.find("\nheap 1 64 0 64 64 64 64 64 0 1 1 1 10 4112 1 1 malloc\n"), std::string::npos) << file;
}

}  // namespace
}  // namespace bd
