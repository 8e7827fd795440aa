// SPDX-License-Identifier: GPL-2.0-or-later
//
// A second thread that helps, or batches of any size, must not change what is counted.

#include <algorithm>
#include <atomic>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "profile/callgrind_writer.h"
#include "profile/profile.h"
#include "tests/sample_run.h"

namespace bd {
namespace {

using test::SampleRun;

// LL is not much larger than D1, and often evicts what D1 still has.
EngineConfig config() {
    return {.caches = {.i1 = {1024, 2, 64}, .d1 = {1024, 4, 64}, .ll = {4096, 4, 64}}};
}

// What `run` makes an engine count, all of it.
template <class Run>
std::string profile(Run run) {
    Engine engine(config());
    run(engine);
    engine.finish();
    test::StringOutput out;
    CallgrindWriter(out, {}).write({}, Profile(engine, {.lines = true, .instructions = true}));
    return out.text();
}

std::vector<Batch> batches_of(const SampleRun& run, std::size_t records) {
    std::vector<Batch> batches;
    for (std::size_t first = 0; first < run.records(); first += records) {
        batches.push_back(run.trace(first, std::min(first + records, run.records())));
    }
    return batches;
}

TEST(EngineAhead, BatchesOfAnySizeAreCountedTheSame) {
    const SampleRun run(1, 20'000);
    const std::string whole = profile([&](Engine& engine) { engine.replay_whole(run.trace()); });
    for (const std::size_t records : {1u, 2u, 100u, 3000u}) {
        EXPECT_EQ(profile([&](Engine& engine) {
                      for (const Batch batch : batches_of(run, records)) engine.replay_whole(batch);
                  }),
                  whole)
            << records << " records";
    }
}

TEST(EngineAhead, AThreadThatHelpsChangesNothing) {
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
        const SampleRun run(seed, 50'000);
        const std::vector<Batch> batches = batches_of(run, 2000);
        const std::string alone = profile([&](Engine& engine) { engine.replay_whole(run.trace()); });
        const std::string helped = profile([&](Engine& engine) {
            // Before the replay has begun, no other thread can do it.
            engine.announce(batches[0]);
            EXPECT_TRUE(engine.advance());
            std::atomic<std::size_t> announced{1};
            std::thread replay([&] {
                for (std::size_t i = 0; i < batches.size(); ++i) {
                    while (announced.load() <= i) std::this_thread::yield();
                    engine.replay_whole(batches[i]);
                }
            });
            for (const Batch batch : std::span(batches).subspan(1)) {
                engine.announce(batch);
                ++announced;
                engine.advance();
            }
            while (engine.advance()) continue;
            replay.join();
        });
        EXPECT_EQ(helped, alone) << "seed " << seed;
    }
}

}  // namespace
}  // namespace bd
