// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/trace/trace_file.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "engine/replay/engine.h"
#include "engine/trace/trace_reader.h"
#include "engine/trace/trace_writer.h"
#include "profile/callgrind_writer.h"
#include "profile/profile.h"
#include "program.h"
#include "tests/sample_run.h"

namespace bd {
namespace {

using test::Program;
using test::Random;
using test::SampleRun;
using test::StringOutput;
using test::Trace;

// A trace that has been read, with what it refers to.
struct ReadTrace {
    explicit ReadTrace(std::string_view file, std::size_t batch_words = 1000, unsigned line_bits = 6)
        : blocks(line_bits), reader(file) {
        if (reader.error()) return;
        for (Batch batch = read(batch_words); !batch.empty(); batch = read(batch_words)) {
            words.insert(words.end(), batch.begin(), batch.end());
            batch_sizes.push_back(batch.size());
        }
    }
    Batch read(std::size_t batch_words) { return reader.read(batch_words, symbols, blocks); }

    SymbolTable symbols;
    BlockTable blocks;
    TraceReader reader;
    std::vector<Word> words;
    std::vector<std::size_t> batch_sizes;
};

void expect_same_block(Block& a, Block& b) {
    ASSERT_EQ(a.address, b.address);
    EXPECT_STREQ(a.function->name, b.function->name);
    EXPECT_STREQ(a.function->file->name, b.function->file->name);
    EXPECT_STREQ(a.function->object->name, b.function->object->name);
    EXPECT_EQ(a.function->skipped, b.function->skipped);
    EXPECT_EQ(a.function->left_by_jump, b.function->left_by_jump);
    EXPECT_EQ(a.load_bias, b.load_bias);
    EXPECT_EQ(a.section - a.function->object->id * kSectionsPerObject,
              b.section - b.function->object->id * kSectionsPerObject);
    EXPECT_EQ(a.is_entry, b.is_entry);
    ASSERT_EQ(a.instruction_count, b.instruction_count);
    for (std::size_t i = 0; i < a.instruction_count; ++i) {
        EXPECT_EQ(a.instructions()[i].offset, b.instructions()[i].offset);
        EXPECT_EQ(a.instructions()[i].size, b.instructions()[i].size);
        EXPECT_EQ(a.instructions()[i].line, b.instructions()[i].line);
        EXPECT_STREQ(a.instructions()[i].file->name, b.instructions()[i].file->name);
    }
    ASSERT_EQ(a.access_count, b.access_count);
    for (std::size_t i = 0; i < a.access_count; ++i) {
        EXPECT_EQ(a.accesses()[i].size, b.accesses()[i].size);
        EXPECT_EQ(a.accesses()[i].instruction, b.accesses()[i].instruction);
        EXPECT_EQ(a.accesses()[i].kind, b.accesses()[i].kind);
        EXPECT_EQ(a.accesses()[i].guarded, b.accesses()[i].guarded);
        EXPECT_EQ(a.accesses()[i].group, b.accesses()[i].group);
        EXPECT_EQ(a.accesses()[i].distance, b.accesses()[i].distance);
    }
    EXPECT_TRUE(std::ranges::equal(a.dataflow(), b.dataflow()));
    ASSERT_EQ(a.exit_count, b.exit_count);
    for (std::size_t i = 0; i < a.exit_count; ++i) {
        EXPECT_EQ(a.exits()[i].jump, b.exits()[i].jump);
        EXPECT_EQ(a.exits()[i].branch, b.exits()[i].branch);
        EXPECT_EQ(a.exits()[i].instructions, b.exits()[i].instructions);
        EXPECT_EQ(a.exits()[i].accesses, b.exits()[i].accesses);
        EXPECT_EQ(a.exits()[i].return_address, b.exits()[i].return_address);
    }
}

// Word by word; descriptors, which lie elsewhere, by what they say.
void expect_same_trace(Batch a, Batch b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t at = 0; at < a.size();) {
        const Exit& exit = exit_of(a[at]);
        const Exit& other = exit_of(b[at]);
        ASSERT_EQ(exit.block == nullptr, other.block == nullptr) << "word " << at;
        ASSERT_EQ(exit.index, other.index) << "word " << at;
        if (exit.block != nullptr) {
            expect_same_block(*exit.block, *other.block);
            if (testing::Test::HasFailure()) return;
        }
        for (std::size_t i = 1; i < record_words(a[at]); ++i) {
            ASSERT_EQ(a[at + i], b[at + i]) << "word " << i << " of the record at " << at;
        }
        at += record_words(a[at]);
    }
}

std::string file_of(const Trace& trace) {
    StringOutput out;
    TraceWriter writer(out, SampleRun::description());
    writer.write(trace.all());
    writer.finish();
    return out.text();
}

std::string profile_of(const EngineConfig& config, Batch trace) {
    Engine engine(config);
    engine.replay_whole(trace);
    engine.finish();
    const Profile profile(engine, {.lines = true, .instructions = true});
    StringOutput out;
    CallgrindWriter(out, {}).write({}, profile);
    return out.text();
}

TEST(TraceFile, NumbersMapToZigzagAndBack) {
    EXPECT_EQ(to_zigzag(0), 0u);
    EXPECT_EQ(to_zigzag(~std::uint64_t{0}), 1u);
    EXPECT_EQ(to_zigzag(1), 2u);
    EXPECT_EQ(to_zigzag(std::uint64_t{1} << 63), ~std::uint64_t{0});
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t number = std::uint64_t{1} << bit;
        for (const std::uint64_t n : {number, number - 1, ~number, 0 - number})
            EXPECT_EQ(from_zigzag(to_zigzag(n)), n);
    }
}

TEST(TraceFile, WhatIsWrittenIsRead) {
    for (std::uint32_t seed = 0; seed < 30; ++seed) {
        const SampleRun run(seed, 3000);
        const ReadTrace read(run.file());
        ASSERT_FALSE(read.reader.error()) << "seed " << seed << ": " << read.reader.error().message;
        EXPECT_EQ(read.reader.records(), run.records()) << "seed " << seed;
        expect_same_trace(run.trace(), read.words);
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
}

TEST(TraceFile, ItsHeadTellsOfTheRun) {
    const std::string file = SampleRun(1, 10).file();
    const TraceReader reader(file);
    ASSERT_FALSE(reader.error());
    const TraceRun expected = SampleRun::description();
    EXPECT_EQ(reader.run().pid, expected.pid);
    EXPECT_EQ(reader.run().command, expected.command);
    EXPECT_EQ(reader.run().geometry_source, expected.geometry_source);
    EXPECT_EQ(reader.run().caches.i1, expected.caches.i1);
    EXPECT_EQ(reader.run().caches.d1, expected.caches.d1);
    EXPECT_EQ(reader.run().caches.ll, expected.caches.ll);
}

TEST(TraceFile, DoesNotDependOnTheBatchesItWasWrittenIn) {
    const SampleRun run(7, 2000);
    const std::string file = run.file(2000);
    for (const std::size_t records : {1, 3, 100})
        EXPECT_EQ(run.file(records), file) << records << " records a batch";
}

TEST(TraceFile, IsReadInWholeRecordsOfAtLeastTheWordsAskedFor) {
    const SampleRun run(7, 2000);
    for (const std::size_t words : {1, 5, 100, 1000000}) {
        const ReadTrace read(run.file(), words);
        expect_same_trace(run.trace(), read.words);
        for (std::size_t i = 0; i + 1 < read.batch_sizes.size(); ++i) EXPECT_GE(read.batch_sizes[i], words);
        EXPECT_EQ(read.batch_sizes.size() == 1, words == 1000000);
    }
}

TEST(TraceFile, GivesTheSameProfile) {
    const EngineConfig config{.caches = SampleRun::description().caches};
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        const SampleRun run(seed, 5000);
        const ReadTrace read(run.file());
        EXPECT_EQ(profile_of(config, read.words), profile_of(config, run.trace())) << "seed " << seed;
    }
}

// The trace knows nothing of lines.
TEST(TraceFile, ServesEveryGeometry) {
    const EngineConfig config{.caches = {.i1 = {1024, 2, 16}, .d1 = {3072, 3, 32}, .ll = {40960, 5, 256}},
                              .write_back = true,
                              .callgrind_prefetcher = true,
                              .branch_sim = true,
                              .collect_jumps = true};
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        const SampleRun recorded(seed, 5000, 12, 6);
        const SampleRun run(seed, 5000, 12, 4);
        const ReadTrace read(recorded.file(), 1000, 4);
        EXPECT_EQ(profile_of(config, read.words), profile_of(config, run.trace())) << "seed " << seed;
    }
}

TEST(TraceFile, KeepsExtremeNumbers) {
    constexpr Word kMost = ~Word{0};
    Program program;
    const Function& f = program.function("f");
    Block& block = program.code(f, 0xffffffffff600000, 15, kMost)
                             .op(15, ~std::uint32_t{0})
                             .reads(65536)
                             .may_write(1)
                             .may_exit(JumpKind::kReturn, Branch::kNotTaken)
                             .ends(JumpKind::kReturn, Branch::kIndirect);
    Trace trace;
    trace.thread(kMaxTracedThread).mark(Marker::kSignalEnter, kMaxTracedThread, kMost, 1);
    for (const Word number : {Word{0}, kMost, Word{1}, kMost / 2, kMost / 2 + 1, Word{0}}) {
        trace.run(block, number, {number, ~number});
        trace.run(block, ~number, {kMost - 1, 0});
    }
    const ReadTrace read(file_of(trace));
    ASSERT_FALSE(read.reader.error()) << read.reader.error().message;
    expect_same_trace(trace.all(), read.words);
}

TEST(TraceFile, KeepsMarkersOfAllLengths) {
    Trace trace;
    trace.thread(1).mark_with(Marker::kAllocatorEntered, {8}).mark_with(Marker::kAllocatorEntered, {8, 9});
    trace.mark_with(Marker::kAllocatorLeft, {0x10000, 0x7000}).mark_with(Marker::kFreed, {0x10000});
    const ReadTrace read(file_of(trace));
    ASSERT_FALSE(read.reader.error()) << read.reader.error().message;
    expect_same_trace(trace.all(), read.words);
}

TEST(TraceFile, TakesOneByteForARecordThatWasExpected) {
    Program program;
    const Function& f = program.function("f");
    Block& head = program.entry(f, 0x1000).op().op().ends(JumpKind::kCall);
    Block& body = program.code(f, 0x2000).op().op().ends();
    const auto bytes = [&](int iterations) {
        Trace trace;
        trace.thread(1);
        for (int i = 0; i < iterations; ++i) trace.run(head, 0x7000).run(body, 0x6f00);
        return file_of(trace).size();
    };
    // In the first iteration all is new, and in the second what follows the body.
    EXPECT_EQ(bytes(50) - bytes(10), 2 * 40u);
}

TEST(TraceFile, TakesOneByteForAnAddressThatIsNearTheLast) {
    Program program;
    Block& loop = program.entry(program.function("f"), 0x1000).op().reads(8).op().writes(8).ends();
    const auto bytes = [&](Word iterations) {
        Trace trace;
        trace.thread(1);
        for (Word i = 0; i < iterations; ++i) trace.run(loop, 0x7000, {0x10000 + 63 * i, 0x20000 - 64 * i});
        return file_of(trace).size();
    };
    EXPECT_EQ(bytes(50) - bytes(10), 3 * 40u);
}

// --- What is no trace

// Bytes of a trace, to be written by hand.
class Bytes {
public:
    Bytes() {
        bytes_ = kTraceMagic;
        number(kTraceVersion).number(1).text("cmd").text("source");
        for (int i = 0; i < 3; ++i) number(4096).number(4).number(64);
    }
    Bytes& number(std::uint64_t number) {
        for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>(number | 0x80);
        bytes_ += static_cast<char>(number);
        return *this;
    }
    Bytes& text(std::string_view text) {
        number(text.size());
        bytes_ += text;
        return *this;
    }
    Bytes& item(TraceItem item) { return number(0).number(static_cast<std::uint64_t>(item)); }
    Bytes& names() {
        item(TraceItem::kObject).text("object");
        item(TraceItem::kFile).text("file");
        return item(TraceItem::kFunction).text("function").number(0).number(0).number(0);
    }
    // Up to the number of exits.
    Bytes& block(Address address = 0x1000, std::uint64_t exits = 1) {
        return item(TraceItem::kBlock).number(0).number(address).number(0).number(0).number(exits);
    }
    Bytes& instruction(std::uint64_t size, std::uint64_t distance = 0) {
        return number(4 * size).number(distance).number(0).number(0);
    }
    Bytes& access(std::uint64_t size, std::uint64_t kind = 0) { return number(4 * kind + 1).number(size); }
    Bytes& joined_access(std::uint64_t size, std::int64_t distance, std::uint64_t kind = 0) {
        return number(4 * kind + 3).number(size).number(to_zigzag(static_cast<std::uint64_t>(distance)));
    }
    Bytes& dataflow(const std::vector<std::uint64_t>& words) {
        item(TraceItem::kDataflow).number(words.size());
        for (const std::uint64_t word : words) number(word);
        return *this;
    }
    Bytes& exit(std::uint64_t jump = 0) { return number(4 * jump + 2); }
    Bytes& marker(Marker marker, Word a, Word b = 0, Word c = 0) {
        return marker_with(marker, 3).number(a).number(b).number(c);
    }
    // Its values are to follow.
    Bytes& marker_with(Marker marker, std::uint64_t values) {
        return item(TraceItem::kMarker).number(static_cast<std::uint64_t>(marker)).number(values);
    }
    Bytes& end(std::uint64_t records) { return item(TraceItem::kEnd).number(records); }

    std::size_t size() const { return bytes_.size(); }
    operator std::string_view() const { return bytes_; }

private:
    std::string bytes_;
};

void expect_error(std::string_view file, std::string_view message, std::uint64_t offset) {
    const TraceError error = ReadTrace(file).reader.error();
    ASSERT_TRUE(error) << "no error, but expected: " << message;
    EXPECT_EQ(error.message, message);
    EXPECT_EQ(error.offset, offset) << message;
}

TEST(TraceFile, HandWrittenTracesAreFine) {
    Bytes bytes;
    bytes.names().block().instruction(4).access(8).exit().marker(Marker::kThread, 1);
    bytes.number(2 * 1 + 2).number(to_zigzag(0x7000)).number(to_zigzag(0x100));  // exit 1
    bytes.number(2 * 1 + 1).number(0).number(2 * 0 + 1).number(0).end(4);
    const ReadTrace read(bytes);
    ASSERT_FALSE(read.reader.error()) << read.reader.error().message;
    ASSERT_EQ(read.words.size(), 4 + 3 * 3u);
    for (const std::size_t record : {4, 7, 10}) {
        EXPECT_EQ(exit_of(read.words[record]).block, read.blocks.blocks()[0]);
        EXPECT_EQ(read.words[record + 1], 0x7000u);
        EXPECT_EQ(read.words[record + 2], 0x100u);
    }
}

TEST(TraceFile, OtherFilesAreRejected) {
    for (const char* file : {"", "bdtrace", "# callgrind format\n", "\x7f" "ELF"}) {
        expect_error(file, "this is not a trace recorded by bdgrind", 0);
    }
    for (const std::uint64_t version : {kTraceVersion - 1, kTraceVersionWithL2 + 1}) {
        const std::string other = std::string(kTraceMagic) + static_cast<char>(version);
        expect_error(other, "this version of the form of traces is not known here", 8);
    }
}

TEST(TraceFile, ImpossibleItemsAreRejected) {
    const std::size_t start = Bytes().size();
    expect_error(Bytes().number(0).number(8), "there is no such kind of item", start + 1);
    expect_error(Bytes().number(0).number(0), "there is no such kind of item", start + 1);
    expect_error(Bytes().number(0).number(257), "there is no such kind of item", start + 1);
    expect_error(Bytes().end(0).number(0), "the trace goes on behind its end", start + 2);
    expect_error(Bytes().end(1), "the number of records is not what the trace says at its end", start + 2);
    expect_error(Bytes().item(TraceItem::kObject).text(std::string_view("a\0b", 3)),
                 "a text contains a zero byte", start + 2);
    expect_error(Bytes().item(TraceItem::kObject).number(1000), "the trace is cut short", start + 2);
    std::string endless(Bytes().size(), ' ');
    endless = std::string_view(Bytes());
    expect_error(endless + std::string(11, '\xff'), "a number has more than 64 bits", start);
    expect_error(endless + std::string(9, '\xff') + '\x02', "a number has more than 64 bits", start);
}

TEST(TraceFile, ImpossibleDefinitionsAreRejected) {
    Bytes named;
    named.names();
    const auto function = [](const Bytes& before, std::uint64_t file, std::uint64_t object,
                             std::uint64_t flags) {
        Bytes bytes = before;
        return bytes.item(TraceItem::kFunction).text("f").number(file).number(object).number(flags);
    };
    const std::size_t start = named.size() + 4;
    expect_error(function(named, 1, 0, 0), "there is no source file with this number", start);
    expect_error(function(named, 0, 1, 0), "there is no object with this number", start + 1);
    expect_error(function(named, 0, 0, 4), "a function has flags that are not known", start + 2);
    expect_error(function(function(named, 0, 0, 0), 0, 0, 0), "a function is defined twice", start + 9);

    const auto block = [&](std::uint64_t of, Address address, std::uint64_t section_and_entry, std::uint64_t exits) {
        Bytes bytes = named;
        bytes.item(TraceItem::kBlock).number(of).number(address).number(0);
        return bytes.number(section_and_entry).number(exits);
    };
    const std::size_t in_block = named.size() + 2;
    expect_error(block(1, 0, 0, 1), "there is no function with this number", in_block);
    expect_error(block(0, ~Address{0}, 0, 1), "a block lies at an impossible address", in_block + 1);
    expect_error(block(0, 0, 32, 1), "there is no section with this number", in_block + 3);
    expect_error(block(0, 0, 0, 0), "a block has no exit", in_block + 4);
    expect_error(block(0, 0, 0, kMaxTracedExits + 1), "a block has too many exits", in_block + 4);
}

TEST(TraceFile, ImpossibleStepsAreRejected) {
    Bytes block;
    block.names().block();
    const std::size_t start = block.size();
    const auto with = [&block] { return block; };
    expect_error(with().exit(), "a block does not begin with an instruction", start);
    expect_error(with().access(1), "a block does not begin with an instruction", start);
    expect_error(with().instruction(1).exit(12), "there is no such kind of jump", start + 4);
    expect_error(with().instruction(1).access(0), "an access is impossible", start + 5);
    expect_error(with().instruction(1).access(1, 3), "an access is impossible", start + 5);
    expect_error(with().instruction(1).access(1, 8), "an access is impossible", start + 5);
    expect_error(with().instruction(1).joined_access(8, 0), "an access cannot join the one before", start + 6);
    expect_error(with().instruction(1).access(8).joined_access(8, 1000), "an access cannot join the one before",
                 start + 8);
    expect_error(with().instruction(1).access(8, 4).joined_access(8, 8), "an access cannot join the one before",
                 start + 8);
    expect_error(with().instruction(1).access(8).joined_access(8, 8, 4), "an access cannot join the one before",
                 start + 8);
    Bytes two_exits;
    two_exits.names().block(0x1000, 2).instruction(1).access(8).exit().joined_access(8, 8);
    expect_error(two_exits, "an access cannot join the one before", start + 9);
    expect_error(with().instruction(1).access(kMaxTracedAccessBytes + 1), "an access is too large",
                 start + 5);
    expect_error(with().instruction(0), "an instruction is impossible", start + 3);
    expect_error(with().instruction(1, to_zigzag(kMaxTracedCodeBytes)), "an instruction is impossible",
                 start + 5);
    expect_error(with().instruction(1, to_zigzag(~Address{0})), "an instruction is impossible", start + 3);
    expect_error(with().number(4).number(0).number(1).number(0), "an instruction is impossible", start + 3);
    expect_error(with().number(4).number(0).number(0).number(1), "there is no source file with this number",
                 start + 3);
    Bytes many = block;
    for (std::uint64_t i = 0; i <= kMaxTracedInstructions; ++i) many.instruction(1);
    expect_error(many, "an instruction is impossible", start + 4 * kMaxTracedInstructions + 3);
    many = block;
    many.instruction(1);
    for (std::uint64_t i = 0; i <= kMaxTracedAccesses; ++i) many.access(1);
    expect_error(many, "an access is impossible", start + 4 + 2 * kMaxTracedAccesses + 1);
    // Not one byte over and over, either.
    many = block;
    for (std::uint64_t i = 0; i < 4; ++i)
        many.instruction(kMaxTracedCodeBytes / 2, to_zigzag(0 - kMaxTracedCodeBytes / 2));
    EXPECT_TRUE(ReadTrace(many).reader.error());
}

TEST(TraceFile, ImpossibleRecordsAreRejected) {
    Bytes ready;
    ready.names().block().instruction(4).exit();
    const std::size_t start = ready.size();
    const auto with = [&ready] { return ready; };
    const auto thread = [&ready] {
        Bytes bytes = ready;
        return bytes.marker(Marker::kThread, 1);
    };
    expect_error(with().number(2 * 1 + 1), "a block is executed, but no thread runs", start);
    expect_error(thread().number(2 * 2 + 1), "there is no exit with this number", thread().size());
    expect_error(thread().number(2 * 0 + 1), "there is no exit with this number", thread().size());
    expect_error(thread().marker(Marker::kThreadEnd, 1).number(2 * 1 + 1),
                 "a block is executed, but no thread runs", thread().size() + 7);
    expect_error(with().marker(Marker::kCount, 1), "there is no such kind of marker", start + 2);
    expect_error(thread().marker(Marker::kSignalLeave, 2),
                 "a signal handler returns on a thread that does not run", thread().size() + 6);
    expect_error(with().marker(Marker::kThread, kMaxTracedThread + 1), "a thread's number is too large",
                 start + 8);
    expect_error(with().marker_with(Marker::kFreed, 4), "a marker has too many values", start + 3);
    expect_error(with().marker_with(Marker::kAllocatorEntered, 0), "a marker has too few values", start + 3);
    expect_error(with().marker_with(Marker::kAllocatorLeft, 1), "a marker has too few values", start + 3);
    expect_error(with().marker_with(Marker::kSystemCall, 2), "a marker has too few values", start + 3);
}

TEST(TraceFile, ImpossibleCachesAreRejected) {
    StringOutput out;
    TraceRun run = SampleRun::description();
    run.caches.d1.line_bytes = 63;
    TraceWriter(out, run).finish();
    EXPECT_STREQ(TraceReader(out.text()).error().message, "the recorded run's caches are impossible");
}

TEST(TraceFile, AnL2IsInTheTraceIfThereIsOne) {
    StringOutput two;
    TraceRun run = SampleRun::description();
    TraceWriter(two, run).finish();
    EXPECT_FALSE(TraceReader(two.text()).run().caches.has_l2());
    run.caches.l2 = {49152, 12, 64};
    StringOutput three;
    TraceWriter(three, run).finish();
    const TraceReader reader(three.text());
    EXPECT_FALSE(reader.error());
    EXPECT_EQ(reader.run().caches.l2, run.caches.l2);
    EXPECT_EQ(reader.run().caches.ll, run.caches.ll);
    run.caches.l2.ways = 0;
    StringOutput impossible;
    TraceWriter(impossible, run).finish();
    EXPECT_STREQ(TraceReader(impossible.text()).error().message, "the recorded run's caches are impossible");
}

TEST(TraceFile, WhatAddressesAreComputedFromMustFitTheirBlock) {
    constexpr const char* kMessage = "what is said of a block's addresses does not fit the block";
    Bytes names;
    names.names();
    const auto with = [&](const std::vector<std::uint64_t>& words) {
        Bytes bytes = names;
        bytes.dataflow(words).block().instruction(4).access(8).exit();
        return bytes;
    };
    Bytes fine = with({1, 3, 0});
    const ReadTrace read(fine.end(0));
    ASSERT_FALSE(read.reader.error()) << read.reader.error().message;
    EXPECT_EQ(read.blocks.blocks()[0]->dataflow().size(), 3u);
    const auto end = [&](const std::vector<std::uint64_t>& words) { return with(words).size() - 1; };
    for (const std::vector<std::uint64_t>& words :
         {std::vector<std::uint64_t>{1, 64, 0}, {1, 3}, {1, 3, 0, 0}, {2, 3, 0x8000, 0}, {0, 1, 64, 0}, {64, 0}}) {
        expect_error(with(words), kMessage, end(words));
    }
    const std::size_t start = names.size() + 2;
    expect_error(with({65536}), kMessage, start + 1);
    expect_error(Bytes(names).item(TraceItem::kDataflow).number(1000), "the trace is cut short", start);
    // It belongs to one block only.
    Bytes two = with({1, 3, 0});
    two.block(0x2000).instruction(4).access(8).exit().end(0);
    const ReadTrace read_two(two);
    ASSERT_FALSE(read_two.reader.error()) << read_two.reader.error().message;
    EXPECT_TRUE(read_two.blocks.blocks()[1]->dataflow().empty());
}

// Wherever it is cut, what comes before is read and the cut is noticed.
TEST(TraceFile, CutTracesAreReadUpToTheCut) {
    const SampleRun run(3, 300);
    const std::string file = run.file();
    for (std::size_t size = 0; size < file.size(); ++size) {
        const ReadTrace read(std::string_view(file).substr(0, size));
        ASSERT_TRUE(read.reader.error()) << "cut to " << size;
        ASSERT_LE(read.words.size(), run.trace().size());
        if (size % 50 == 0) expect_same_trace(run.trace().first(read.words.size()), read.words);
    }
}

// Changed bytes give an error or another trace, which can be replayed.
TEST(TraceFile, NoChangeOfBytesDoesHarm) {
    const EngineConfig config{.caches = SampleRun::description().caches, .orders = true};
    std::size_t errors = 0;
    std::size_t replayed = 0;
    for (std::uint32_t seed = 0; seed < 2000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        std::string file = SampleRun(seed % 7, 200).file();
        for (std::size_t changes = 1 + random.below(4); changes != 0; --changes) {
            const std::size_t at = random.below(file.size());
            switch (random.below(4)) {
                case 0:
                    file[at] = static_cast<char>(random.bits());
                    break;
                case 1:
                    file[at] = static_cast<char>(file[at] ^ 1 << random.below(8));
                    break;
                case 2:
                    file.erase(at, 1 + random.below(8));
                    break;
                default:
                    file.insert(at, file.substr(random.below(file.size()), 1 + random.below(20)));
                    break;
            }
        }
        const ReadTrace read(file);
        if (read.reader.error()) {
            ++errors;
            ASSERT_LE(read.reader.error().offset, file.size());
        } else {
            ++replayed;
        }
        Engine engine(config);
        engine.replay_whole(read.words);
        engine.finish();
    }
    EXPECT_GT(errors, 1000u);
    EXPECT_GT(replayed, 50u);
}

}  // namespace
}  // namespace bd
