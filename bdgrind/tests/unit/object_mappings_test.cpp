// SPDX-License-Identifier: GPL-2.0-or-later
//
// Variables, files and mappings as data objects, from a trace.

#include "engine/objects/objects.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "objects_fixture.h"

namespace bd {
namespace {

using test::ObjectsTest;
using test::Trace;
using enum JumpKind;

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

TEST_F(ObjectsTest, WhatWasNotAskedForIsNoThreads) {
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

// Below the stack pointer a mapping that the stack is in is a stack; a variable with room for one is what it is.
TEST_F(ObjectsTest, AStackMayBeInAMappingOrAVariable) {
    const std::vector<MappedObject> arena{{kStack - 0x10000, kStack + 0x1000, ObjectKind::kStatic, "arena", nullptr}};
    trace_.mark(Marker::kMapped, kStack - 0x10000, kStack + 0x1000, 0);
    read(kStack - 0x2000);
    trace_.mark(Marker::kMapped, kStack - 0x10000, kStack + 0x1000, reinterpret_cast<std::uintptr_t>(&arena));
    read(kStack - 0x3000);
    EXPECT_EQ(loads(), (Loads{{"arena", 1}, {"stack of main", 1}}));
}

// As those of an arena that is given back as a whole.
TEST_F(ObjectsTest, BlocksAreGoneOnceSomethingElseIsMappedThere) {
    const std::vector<MappedObject> variable{{0x40000, 0x42000, ObjectKind::kStatic, "table", nullptr}};
    trace_.mark(Marker::kMapped, 0x40000, 0x42000, 0);
    allocate(call_first_, 0x40000, 64);
    allocate(call_first_, 0x41000, 64);
    trace_.mark(Marker::kUnmapped, 0x40000, 0x42000);
    read(0x41000);
    trace_.mark(Marker::kMapped, 0x40000, 0x42000, reinterpret_cast<std::uintptr_t>(&variable));
    read(0x40000);
    EXPECT_EQ(loads(), (Loads{{"table", 1}, {"unknown", 1}}));
    for (const ObjectGroup& group : engine_.objects()->groups().all()) {
        if (group.kind == ObjectKind::kHeap) {
            EXPECT_EQ(group.blocks_freed, 2u);
        }
    }
    // When the line at 0x41000 leaves, the variable is there.
    EXPECT_EQ(patterns_of(engine_), (Loads{{"table 0+64 1", 1}}));
}

// A block that has been unmapped is still known by what it leaves in the cache.
TEST_F(ObjectsTest, LinesOfABlockMayLeaveWhenItIsUnmapped) {
    trace_.mark(Marker::kMapped, 0x40000, 0x41000, 0);
    allocate(call_first_, 0x40000, 64);
    read(0x40020);
    trace_.mark(Marker::kUnmapped, 0x40000, 0x41000);
    finished();
    EXPECT_EQ(patterns_of(engine_), (Loads{{"heap 10 16+48 65536", 1}}));
}

// Thread-local variables on a stack that malloc gave, whose place is known later.
TEST_F(ObjectsTest, BlocksStayWhereAMappingIsDescribedAgain) {
    const std::vector<MappedObject> variable{{0x40040, 0x40080, ObjectKind::kThreadLocal, "local", nullptr}};
    trace_.mark(Marker::kMapped, 0x40000, 0x41000, 0);
    allocate(call_first_, 0x40000, 256);
    trace_.mark(Marker::kMapped, 0x40040, 0x40080, reinterpret_cast<std::uintptr_t>(&variable));
    read(0x40040);
    EXPECT_EQ(loads(), (Loads{{"heap 10", 1}}));
}

}  // namespace
}  // namespace bd
