// SPDX-License-Identifier: GPL-2.0-or-later
//
// The engine on threads of its own, in every respect as the tool has it: one makes blocks and their records, in slots
// that are used again and again, helps, and serves what is asked for; another replays; a third one helps. Under
// ThreadSanitizer this shows that what they share is ordered, which it cannot see in the tool itself.

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "engine/trace/trace_reader.h"
#include "profile/callgrind_writer.h"
#include "profile/profile.h"
#include "sleeper.h"
#include "tests/sample_run.h"
#include "tool/batch_queue.h"

namespace bd {
namespace {

using test::SampleRun;
using test::Sleeper;

// As in the tool, whose queue calls functions without a context.
BatchQueue<Sleeper> queue;
Engine* shared_engine = nullptr;
unsigned served = 0;

void serve(void* = nullptr) {
    for (const Request& request : shared_engine->requests()) {
        ++served;
        if (request.kind == RequestKind::kZero) {
            shared_engine->zero(request.thread);
        } else {
            shared_engine->settle();
        }
    }
    shared_engine->clear_requests();
}

void replay(Batch batch) {
    while (!batch.empty()) {
        batch = batch.subspan(shared_engine->replay(batch));
        if (!shared_engine->requests().empty()) queue.ask(serve, nullptr);
    }
}

void replay_alone(Batch batch) {
    while (!batch.empty()) {
        batch = batch.subspan(shared_engine->replay(batch));
        serve();
    }
}

EngineConfig config(std::uint64_t dump_every, const CacheGeometry& d1) {
    return {.caches = {.i1 = {1024, 2, 64}, .d1 = d1, .ll = {512 * 1024, 4, 64}}, .dump_every = dump_every};
}

// Of a recorded trace, replayed on so many threads of its own.
std::string profile(const std::string& file, const EngineConfig& config, unsigned threads) {
    constexpr std::size_t kSlots = 24;
    SymbolTable symbols;
    BlockTable blocks(6);
    TraceReader reader(file);
    Engine replaying(config);
    shared_engine = &replaying;
    served = 0;
    queue.reset();
    std::thread replaying_thread;
    std::thread helper;
    if (threads > 0) replaying_thread = std::thread([] { queue.run(replay); });
    if (threads > 1) {
        queue.expect_helper();
        helper = std::thread([] { queue.run_helper([] { return shared_engine->advance(); }); });
    }
    std::vector<std::vector<Word>> slots(kSlots);
    for (std::size_t number = 0;; ++number) {
        const Batch read = reader.read(500, symbols, blocks);
        if (read.empty()) break;
        std::vector<Word>& slot = slots[number % kSlots];
        slot.assign(read.begin(), read.end());
        if (threads == 0) {
            replay_alone(slot);
            continue;
        }
        shared_engine->announce(slot);
        queue.submit(slot);
        while (threads == 1 && shared_engine->is_supplied() && shared_engine->advance()) continue;
        queue.wait(kSlots - 1, [] { return shared_engine->advance(); });
    }
    EXPECT_FALSE(reader.error()) << reader.error().message;
    if (threads > 0) {
        queue.wait(0, [] { return shared_engine->advance(); });
        queue.stop();
        replaying_thread.join();
        if (threads > 1) helper.join();
    }
    shared_engine->finish();
    test::StringOutput out;
    CallgrindWriter(out, {}).write({}, Profile(*shared_engine, {.lines = true, .instructions = true}));
    return out.text();
}

TEST(ThreadedReplay, OfARecordedTraceIsTheSame) {
    const std::string file = SampleRun(1, 60'000, 200).file();
    const EngineConfig small = config(0, {1024, 4, 64});
    const std::string alone = profile(file, small, 0);
    EXPECT_EQ(profile(file, small, 1), alone);
    EXPECT_EQ(profile(file, small, 2), alone);
}

TEST(ThreadedReplay, WhatIsAskedForOnTheWayIsServedInBetween) {
    const std::string file = SampleRun(2, 40'000).file();
    const EngineConfig often = config(100, {1024, 4, 64});
    const std::string alone = profile(file, often, 0);
    const unsigned served_alone = served;
    EXPECT_GT(served, 300u);
    for (const unsigned threads : {1u, 2u}) {
        EXPECT_EQ(profile(file, often, threads), alone);
        EXPECT_EQ(served, served_alone);
    }
}

// Too large to be copied for each chunk: it is one chunk ahead at most.
TEST(ThreadedReplay, OfALargeD1IsTheSame) {
    const std::string file = SampleRun(3, 30'000).file();
    const EngineConfig large = config(0, {512 * 1024, 8, 64});
    const std::string alone = profile(file, large, 0);
    EXPECT_EQ(profile(file, large, 1), alone);
    EXPECT_EQ(profile(file, large, 2), alone);
}

}  // namespace
}  // namespace bd
