// SPDX-License-Identifier: GPL-2.0-or-later
//
// Why lines were loaded, from a run to the file that is written; and what the distances in it say about other caches.

#include "profile/why_writer.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cache_fixture.h"
#include "engine/replay/engine.h"
#include "program.h"
#include "runs.h"
#include "text.h"

namespace bd {
namespace {

using test::cache;
using test::Program;
using test::Trace;

using Row = std::vector<std::uint64_t>;

EngineConfig asking_why(const CacheGeometry& d1) {
    return {.caches = {.i1 = cache(64, 8, 64), .d1 = d1, .ll = cache(512, 16, 64)}, .why = true};
}

std::string written(const Engine& engine, std::uint32_t thread = 0) {
    test::Text text;
    RunDescription run;
    run.creator = "bdgrind-1.0";
    run.pid = 4711;
    run.command = "./app";
    run.thread = thread;
    run.descriptions = {"Trigger: Program termination"};
    WhyWriter(text, engine).write(run);
    return text.finished();
}

// Of a section with few rows and small numbers: read by hand.
std::vector<Row> rows_of(const std::string& file, const std::string& title, std::size_t columns) {
    const std::size_t found = file.find(title);
    EXPECT_NE(found, std::string::npos);
    std::size_t at = found + title.size();
    const auto number = [&](unsigned bytes) {
        std::uint64_t value = 0;
        for (unsigned i = 0; i < bytes; ++i) {
            value |= std::uint64_t{static_cast<unsigned char>(file.at(at++))} << 8 * i;
        }
        return value;
    };
    std::vector<Row> rows;
    const std::uint64_t count = number(2);
    if (count != 0) {
        rows.assign(count, Row(columns));
        for (std::size_t column = 0; column < columns; ++column) {
            const auto form = static_cast<unsigned>(number(1));
            EXPECT_LE(form, 8u) << "a form that this test does not know";
            for (Row& row : rows) row[column] = form == 0 ? 0 : number(form);
        }
        EXPECT_EQ(number(2), 0u);
    }
    EXPECT_EQ(number(8), rows.size());
    return rows;
}

std::vector<Row> distances_of(const std::string& file) {
    return rows_of(file, "distances: place bucket misses llmisses\n", 4);
}

class WhyWriterTest : public testing::Test {
protected:
    Program program_;
    const Function& f_ = program_.function("f", "f.c");
    const Function& g_ = program_.function("g", "g.c");
    Block& reads_ = program_.entry(f_, 0x5010, 0, 0x5000).op(4, 7).reads(8).ends();
    // The same instruction once more, behind another one.
    Block& reads_too_ = program_.code(f_, 0x500c, 0, 0x5000).op(4, 6).op(4, 7).reads(8).ends();
    Block& writes_ = program_.entry(g_, 0x6000, 0, 0x5000).op(4, 9).writes(8).ends();
    Trace trace_;
};

TEST_F(WhyWriterTest, WritesPlacesAndDistances) {
    trace_.thread(1);
    // Two lines in one set of one way, in turns; and a neighbour between.
    trace_.run(reads_, 0x9000, {0x10000}).run(reads_too_, 0x9000, {0x10080}).run(reads_, 0x9000, {0x10000});
    trace_.run(writes_, 0x9000, {0x10040}).run(writes_, 0x9000, {0x10080}).run(reads_, 0x9000, {0x10000});
    Engine engine(asking_why(cache(2, 1, 64)));
    engine.replay_whole(trace_.all());
    engine.finish();
    const std::string file = written(engine);
    EXPECT_TRUE(file.starts_with("why: 1\n"
                                 "creator: bdgrind-1.0\n"
                                 "pid: 4711\n"
                                 "cmd: ./app\n"
                                 "part: 1\n"
                                 "desc: Trigger: Program termination\n"
                                 "line: 64\n"
                                 "d1-lines: 2\n"
                                 "ll-lines: 8192\n"
                                 "sets: 2\n"
                                 "history-sample: 1\n"
                                 "reuse-sample: 1\n"
                                 "objects: 1\n"
                                 "prog\n"
                                 "files: 2\n"))
        << file;
    const std::string lists = "places: 2\n1 1 7 16\n2 2 9 4096\nscopes: 2\ncall 1\nloop 1 1 6 12\ndistances:";
    EXPECT_NE(file.find(lists), std::string::npos) << file;
    // f: two first touches, then distances 1, a conflict, and 2: 1 + 4 * log2(2) = 5. g: a first touch, and 2.
    EXPECT_EQ(distances_of(file),
              (std::vector<Row>{{1, 0, 2, 2}, {1, 1, 1, 0}, {1, 5, 1, 0}, {2, 0, 1, 1}, {2, 5, 1, 0}}));
    const std::vector<std::uint64_t> totals = engine.totals(0);
    EXPECT_EQ(totals[column(Event::kD1first)], 3u);
    EXPECT_EQ(totals[column(Event::kD1conf)], 1u);
    EXPECT_EQ(totals[column(Event::kD1mr)] + totals[column(Event::kD1mw)], 6u);
    EXPECT_EQ(totals[column(Event::kDLfirst)], 3u);
    EXPECT_EQ(totals[column(Event::kDLconf)], 0u);
}

// The run above. From one block of f to the other it jumped back, so that is a loop, and carries what is read again
// there; then g is a tail call, and f one of g.
TEST_F(WhyWriterTest, WritesReusesAndStays) {
    trace_.thread(1);
    trace_.run(reads_, 0x9000, {0x10000}).run(reads_too_, 0x9000, {0x10080}).run(reads_, 0x9000, {0x10000});
    trace_.run(writes_, 0x9000, {0x10040}).run(writes_, 0x9000, {0x10080}).run(reads_, 0x9000, {0x10000});
    Engine engine(asking_why(cache(2, 1, 64)));
    engine.replay_whole(trace_.all());
    engine.finish();
    const std::string file = written(engine);
    EXPECT_EQ(rows_of(file, "reuses: place before evictor scope cause misses llmisses distance\n", 8),
              (std::vector<Row>{{1, 0, 0, 0, 1, 2, 2, 0},
                                {1, 1, 1, 2, 3, 1, 0, 1},
                                {1, 1, 2, 1, 2, 1, 0, 2},
                                {2, 0, 0, 0, 1, 1, 1, 0},
                                {2, 1, 1, 1, 2, 1, 0, 2}}));
    // Always the same eight bytes of each line.
    EXPECT_EQ(rows_of(file, "stays: place group lines unused late never\n", 6),
              (std::vector<Row>{{1, 0, 4, 4 * 56, 0, 4 * 56}, {2, 0, 2, 2 * 56, 0, 2 * 56}}));
}

TEST_F(WhyWriterTest, ThreadsAreWrittenAndZeroedAlone) {
    trace_.thread(1).run(reads_, 0x9000, {0x10000});
    trace_.thread(2).run(reads_, 0x19000, {0x10040}).run(reads_, 0x19000, {0x10000});
    EngineConfig config = asking_why(cache(1, 1, 64));
    config.separate_threads = true;
    Engine engine(config);
    engine.replay_whole(trace_.all());
    engine.settle();
    EXPECT_EQ(distances_of(written(engine, 1)), (std::vector<Row>{{1, 0, 1, 1}}));
    EXPECT_EQ(distances_of(written(engine, 2)), (std::vector<Row>{{1, 0, 1, 1}, {1, 1, 1, 0}}));
    engine.zero(2);
    EXPECT_EQ(distances_of(written(engine, 1)), (std::vector<Row>{{1, 0, 1, 1}}));
    EXPECT_EQ(distances_of(written(engine, 2)), std::vector<Row>{});
    engine.zero(0);
    EXPECT_EQ(distances_of(written(engine, 1)), std::vector<Row>{});
}

// Only the parent's file has what it has missed; but the child knows which lines it has touched.
TEST_F(WhyWriterTest, ForkedChildrenKnowWhatTheirParentTouched) {
    Engine engine(asking_why(cache(1, 1, 64)));
    trace_.thread(1).run(reads_, 0x9000, {0x10000}).run(reads_, 0x9000, {0x10040});
    engine.replay_whole(trace_.all());
    engine.start_in_child(1);
    engine.settle();
    EXPECT_EQ(distances_of(written(engine)), std::vector<Row>{});
    Trace childs;
    childs.thread(1).run(reads_, 0x9000, {0x10000});
    engine.replay_whole(childs.all());
    engine.finish();
    EXPECT_EQ(distances_of(written(engine)), (std::vector<Row>{{1, 1, 1, 0}}));
}

TEST_F(WhyWriterTest, NothingIsNotedWhileNothingIsCollected) {
    Engine engine(asking_why(cache(1, 1, 64)));
    trace_.thread(1).collect(false).run(reads_, 0x9000, {0x10000}).run(reads_, 0x9000, {0x10040});
    trace_.collect(true).run(reads_, 0x9000, {0x10000});
    engine.replay_whole(trace_.all());
    engine.finish();
    EXPECT_EQ(distances_of(written(engine)), (std::vector<Row>{{1, 1, 1, 0}}));
}

// What a fully associative D1 finds out about larger ones is what these do.
TEST_F(WhyWriterTest, DistancesAreTheMissesOfLargerCaches) {
    for (unsigned seed = 0; seed < test::runs(20); ++seed) {
        std::mt19937 random(seed);
        Trace trace;
        trace.thread(1);
        const std::uint32_t lines = 1u << (2 + random() % 9);
        for (unsigned i = 0; i < 3000; ++i) {
            const Address line = random() % (random() % 3 == 0 ? lines : lines / 4 + 1);
            // Some straddle two lines.
            trace.run(random() % 2 == 0 ? reads_ : writes_, 0x9000, {0x100000 + line * 64 + random() % 64});
        }
        const auto run = [&](std::uint32_t ways) {
            auto engine = std::make_unique<Engine>(asking_why(cache(1, ways, 64)));
            engine->replay_whole(trace.all());
            engine->finish();
            return engine;
        };
        std::map<unsigned, std::uint64_t> misses;  // by bucket; one engine at a time runs the blocks
        run(3)->why()->distances.for_each(
            [&](CostId, unsigned bucket, const DistanceCount& count) { misses[bucket] += count.misses; });
        for (unsigned log = 2; log < 11; ++log) {
            const std::uint32_t ways = 1u << log;
            std::uint64_t expected = 0;
            for (const auto& [bucket, count] : misses) {
                if (bucket == 0 || bucket >= 1 + 4 * log) expected += count;
            }
            EXPECT_EQ(run(ways)->totals(0)[column(Event::kEvLineD1)], expected) << "seed " << seed << ", " << ways;
        }
    }
}

// Only the last of a chain of calls loads anything; the others are named for what is inclusive.
TEST(WhyWriter, FunctionsAreNamedInTheirOrderNotInThatOfMemory) {
    EngineConfig config = asking_why(cache(4, 2, 64));
    config.context_tree = true;
    Program program;
    Trace trace;
    Engine engine(config);
    trace.thread(1);
    std::vector<std::string> names;
    Address stack_pointer = 0x9000;
    for (unsigned i = 0; i < 20; ++i) {
        names.push_back("f" + std::to_string(100 + i));
        Function& function = program.function(names.back());
        trace.run(program.entry(function, 0x1000 + 64 * i).op(4).ends(JumpKind::kCall), stack_pointer -= 8);
    }
    Function& leaf = program.function("leaf");
    trace.run(program.entry(leaf, 0x8000).op(4).reads(8).ends(JumpKind::kJump), stack_pointer -= 8, {0x20000});
    engine.replay_whole(trace.all());
    engine.finish();
    const std::string file = written(engine);
    std::size_t at = file.find("functions: ");
    for (const std::string& name : names) {
        const std::size_t found = file.find(" " + name + "\n", at == std::string::npos ? 0 : at);
        ASSERT_NE(found, std::string::npos) << name << " is not behind those before it";
        at = found;
    }
}

}  // namespace
}  // namespace bd
