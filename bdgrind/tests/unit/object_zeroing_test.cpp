// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is left of data objects when counts are zeroed, and what threads have of them, each on its own.

#include "engine/objects/objects.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "objects_fixture.h"
#include "profile/object_writer.h"
#include "text.h"

namespace bd {
namespace {

using test::ObjectsTest;
using test::Trace;

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
    EXPECT_NE(file(1).find("groups: 2\ncode 1\nheap 1 64 0 64 64 64 64 64 0 1 "), std::string::npos) << file(1);
    EXPECT_NE(file(2).find("groups: 3\ncode 1\nheap 0 0 0 0 0 64 64 64 0 1 "), std::string::npos) << file(2);
    EXPECT_NE(file(2).find("\nheap 1 32 0 32 32 32 32 32 0 1 "), std::string::npos) << file(2);
    const auto patterns = [&](std::uint32_t thread) {
        const std::string whole = file(thread);
        return static_cast<unsigned>(static_cast<unsigned char>(whole[whole.size() - 8]));
    };
    EXPECT_EQ(patterns(1), 1u);
    EXPECT_EQ(patterns(2), 2u);
}

}  // namespace
}  // namespace bd
