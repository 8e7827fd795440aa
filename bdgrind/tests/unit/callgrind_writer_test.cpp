// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/callgrind_writer.h"

#include <string>

#include <gtest/gtest.h>

#include "callgrind_fixture.h"
#include "program.h"

namespace bd {
namespace {

using test::kLines;
using test::Program;
using test::Trace;
using test::write;
using enum JumpKind;

constexpr WriteOptions kPlain{.compress_strings = false, .compress_positions = false};

class CallgrindWriterTest : public testing::Test {
protected:
    void replay() {
        engine_.replay(trace_.all());
        engine_.finish();
    }
    // What follows the "summary:" line, up to "totals:".
    std::string body(const WriteOptions& options, PositionKinds kinds = kLines) const {
        const std::string text = write(engine_, options, kinds);
        const std::size_t summary = text.find("summary:");
        const std::size_t begin = text.find('\n', summary) + 1;
        return text.substr(begin, text.find("\ntotals:") - begin);
    }

    Program program_;
    Function& main_ = program_.function("main", "main.c");
    Trace trace_;
    // Ir Dr Dw only.
    Engine engine_{{.caches = {{1024, 1, 64}, {1024, 1, 64}, {1024, 1, 64}},
                    .cache_sim = false,
                    .contexts = {.separate_callers = true},
                    .collect_jumps = true}};
};

TEST_F(CallgrindWriterTest, AWholeFile) {
    const Function& f = program_.function("f", "f.c");
    Block& calls = program_.code(main_, 0x1000).op(4, 10).reads(8).op(4, 11).ends(kCall);
    Block& in_f = program_.entry(f, 0x2000).op(4, 5).writes(8).op(4, 6).ends(kReturn);
    trace_.thread(1).run(calls, 1000, {0x100}).run(in_f, 992, {0x100});
    replay();
    EXPECT_EQ(write(engine_, kPlain, kLines),
              "# callgrind format\n"
              "version: 1\n"
              "creator: bdgrind-1.0\n"
              "pid: 4711\n"
              "cmd: ./app -x\n"
              "part: 1\n"
              "\n"
              "desc: Options: --cache-sim=no\n"
              "desc: Trigger: Program termination\n"
              "\n"
              "positions: line\n"
              "events: Ir Dr Dw\n"
              "summary: 4 1 1\n"
              "\n"
              "ob=prog\n"
              "fl=f.c\n"
              "fn=f\n"
              "5 1 0 1\n"
              "6 1\n"  // zeros at the end are left out
              "\n"     // the object is still the same
              "fl=main.c\n"
              "fn=main\n"
              "10 1 1\n"
              "11 1\n"
              "cfi=f.c\n"
              "cfn=f\n"
              "calls=1 5\n"
              "11 2 0 1\n"
              "\n"
              "totals: 4 1 1\n");
}

// Which inlined call of a line an instruction belongs to, its address tells: of those that matter, in comments.
TEST_F(CallgrindWriterTest, HotCodeStandsInComments) {
    const Function& f = program_.function("f", "f.c");
    Block& loop = program_.code(main_, 0x1000).op(4, 10).op(4, 10).ends();
    Block& calls = program_.code(main_, 0x2000).op(4, 20).ends(kCall);
    Block& in_f = program_.entry(f, 0x3000).op(4, 5).ends(kReturn);
    auto& thread = trace_.thread(1);
    for (int i = 0; i < 2000; ++i) thread.run(loop, 1000);
    for (int i = 0; i < 3; ++i) thread.run(calls, 1000).run(in_f, 992);
    replay();
    EXPECT_EQ(body({.compress_strings = false, .compress_positions = false, .hot_code = true}),
              "\n"
              "ob=prog\n"
              "fl=f.c\n"
              "fn=f\n"
              "5 3\n"
              "\n"
              "fl=main.c\n"
              "fn=main\n"
              "10 4000\n"
              "jump=1999 10\n"
              "10\n"
              "jump=1 20\n"
              "10\n"
              "20 3\n"
              "cfi=f.c\n"
              "cfn=f\n"
              "calls=3 5\n"
              "20 3\n"
              "\n"
              "# hot code:\n"
              "# ob=prog\n"
              "# fl=main.c\n"
              "# fn=main\n"
              "# at=0x1000 10 2000\n"
              "# at=0x1004 10 2000\n");
}

TEST_F(CallgrindWriterTest, NamesAreWrittenOnceIfCompressed) {
    const Function& f = program_.function("f", "f.c");
    Block& calls = program_.code(main_, 0x1000).op(4, 10).ends(kCall);
    Block& in_f = program_.entry(f, 0x2000).op(4, 5).ends(kReturn);
    trace_.thread(1).run(calls, 1000).run(in_f, 992).run(calls, 1000).run(in_f, 992);
    replay();
    EXPECT_EQ(body({.compress_strings = true, .compress_positions = false}),
              "\n"
              "ob=(1) prog\n"
              "fl=(1) f.c\n"
              "fn=(1) f\n"
              "5 2\n"
              "\n"
              "fl=(2) main.c\n"
              "fn=(2) main\n"
              "10 2\n"
              "cfi=(1)\n"
              "cfn=(1)\n"
              "calls=2 5\n"
              "10 2\n");
}

// "+n", "-n" and "*" count from the last position of a cost line; a call's target is no such position.
TEST_F(CallgrindWriterTest, PositionsAreRelativeIfCompressed) {
    const Function& f = program_.function("f", "main.c");
    Block& calls = program_.code(main_, 0x1000).op(4, 100).op(4, 102).ends(kCall);
    Block& more = program_.code(main_, 0x1008).op(4, 102).op(4, 70000).op(4, 140000).ends(kJump);
    Block& in_f = program_.entry(f, 0x2000).op(4, 90).ends(kReturn);
    trace_.thread(1).run(calls, 1000).run(in_f, 992).run(more, 1000);
    replay();
    EXPECT_EQ(body({.compress_strings = false, .compress_positions = true}),
              "\n"
              "ob=prog\n"
              "fl=main.c\n"
              "fn=f\n"
              "+90 1\n"  // from 0
              "\n"
              "fl=main.c\n"
              "fn=main\n"
              "+10 1\n"  // 100
              "+2 2\n"   // 102
              "cfn=f\n"
              "calls=1 -12\n"  // 90, from 102
              "* 1\n"          // still 102
              "70000 1\n"      // too far for a relative number
              "140000 1\n");
}

TEST_F(CallgrindWriterTest, InstructionPositionsAreHexadecimalAndComeFirst) {
    const Function& f = program_.function("f", "main.c");
    Block& calls = program_.code(main_, 0x10abc).op(4, 10).op(4, 10).op(5, 9).ends(kCall);
    Block& in_f = program_.entry(f, 0x400000).op(4, 5).ends(kReturn);
    trace_.thread(1).run(calls, 1000).run(in_f, 992);
    replay();
    EXPECT_EQ(body(kPlain, {.lines = true, .instructions = true}),
              "\n"
              "ob=prog\n"
              "fl=main.c\n"
              "fn=f\n"
              "0x400000 5 1\n"
              "\n"
              "fl=main.c\n"
              "fn=main\n"
              "0x10ac4 9 1\n"
              "cfn=f\n"
              "calls=1 0x400000 5\n"
              "0x10ac4 9 1\n"
              "0x10abc 10 1\n"
              "0x10ac0 10 1\n");
    EXPECT_EQ(
        body({.compress_strings = false, .compress_positions = true}, {.lines = false, .instructions = true}),
        "\n"
        "ob=prog\n"
        "fl=main.c\n"
        "fn=f\n"
        "0x400000 1\n"
        "\n"
        "fl=main.c\n"
        "fn=main\n"
        "0x10abc 1\n"  // too far back
        "+4 1\n"
        "+4 1\n"
        "cfn=f\n"
        "calls=1 0x400000\n"
        "* 1\n");
}

// fi= leaves the function's file, fe= returns to it; the next fn= has its own fl=.
TEST_F(CallgrindWriterTest, InlinedCodeSwitchesTheFile) {
    const SourceFile& header = program_.symbols.file("inline.h");
    const SourceFile& other = program_.symbols.file("z.h");
    Block& block = program_.code(main_, 0x1000)
                             .op(4, 10)
                             .in(header).op(4, 3)
                             .in(other).op(4, 7)
                             .in(*main_.file).op(4, 12)
                             .ends(kJump);
    trace_.thread(1).run(block, 1000);
    replay();
    EXPECT_EQ(body(kPlain),
              "\n"
              "ob=prog\n"
              "fl=main.c\n"
              "fn=main\n"
              "fi=inline.h\n"
              "3 1\n"
              "fe=main.c\n"
              "10 1\n"
              "12 1\n"
              "fi=z.h\n"
              "7 1\n");
}

// Readers take the function's file, or the current one, for a cfi= that is missing: it is left out only where
// both are the callee's.
TEST_F(CallgrindWriterTest, ACallFromInlinedCodeNamesTheCalleesFile) {
    const Function& f = program_.function("f", "main.c");
    const Function& g = program_.function("g", "inline.h");
    const SourceFile& header = program_.symbols.file("inline.h");
    Block& calls_f = program_.code(main_, 0x1000).in(header).op(4, 3).ends(kCall);
    Block& calls_g = program_.code(main_, 0x1010).in(header).op(4, 4).ends(kCall);
    Block& in_f = program_.entry(f, 0x2000).op(4, 5).ends(kReturn);
    Block& in_g = program_.entry(g, 0x3000).op(4, 8).ends(kReturn);
    trace_.thread(1).run(calls_f, 1000).run(in_f, 992).run(calls_g, 1000).run(in_g, 992);
    replay();
    const std::string text = body(kPlain);
    EXPECT_EQ(text.substr(text.find("fn=main")),
              "fn=main\n"
              "fi=inline.h\n"
              "3 1\n"
              "cfi=main.c\n"
              "cfn=f\n"
              "calls=1 5\n"
              "3 1\n"
              "4 1\n"
              "cfi=inline.h\n"
              "cfn=g\n"
              "calls=1 8\n"
              "4 1\n");
}

TEST_F(CallgrindWriterTest, AnObjectIsNamedWhereItChanges) {
    const Function& f = program_.function("f", "lib.c", "lib.so");
    const Function& g = program_.function("g", "lib.c", "lib.so");
    Block& calls = program_.code(main_, 0x1000).op(4, 10).ends(kCall);
    Block& f_calls = program_.entry(f, 0x2000).op(4, 5).ends(kCall);
    Block& in_g = program_.entry(g, 0x3000).op(4, 8).ends(kReturn);
    trace_.thread(1).run(calls, 1000).run(f_calls, 992).run(in_g, 984);
    replay();
    EXPECT_EQ(body({.compress_strings = true, .compress_positions = false}),
              "\n"
              "ob=(1) lib.so\n"
              "fl=(1) lib.c\n"
              "fn=(1) f\n"
              "5 1\n"
              "cfn=(2) g\n"  // same object and file
              "calls=1 8\n"
              "5 1\n"
              "\n"
              "fl=(1)\n"
              "fn=(2)\n"
              "8 1\n"
              "\n"
              "ob=(2) prog\n"
              "fl=(2) main.c\n"
              "fn=(3) main\n"
              "10 1\n"
              "cob=(1)\n"
              "cfi=(1)\n"
              "cfn=(1)\n"
              "calls=1 5\n"
              "10 2\n");
}

// Static functions of the same name are distinguished by their numbers as well as by their files.
TEST_F(CallgrindWriterTest, FunctionsOfTheSameNameHaveNumbersOfTheirOwn) {
    Block& a = program_.code(program_.function("init", "a.c"), 0x1000).op().ends(kReturn);
    Block& b = program_.code(program_.function("init", "b.c"), 0x2000).op().ends(kReturn);
    trace_.thread(1).run(a, 1000).run(b, 1000);
    replay();
    const std::string text = body({});
    EXPECT_NE(text.find("fn=(1) init\n"), std::string::npos) << text;
    EXPECT_NE(text.find("fn=(2) init\n"), std::string::npos) << text;
}

// As Callgrind has them: the level of recursion from the second on, then the callers.
TEST_F(CallgrindWriterTest, ContextsHaveNamesAndNumbersOfTheirOwn) {
    Function& f = program_.function("f", "f.c");
    f.recursion_levels = 2;
    f.caller_count = 2;
    Block& calls = program_.code(main_, 0x1000).op(4, 10).ends(kCall);
    Block& in_f = program_.entry(f, 0x2000).op(4, 5).ends(kCall);
    trace_.thread(1).run(calls, 1000).run(in_f, 992).run(in_f, 984).run(in_f, 976);
    replay();
    EXPECT_EQ(body({.compress_strings = true, .compress_positions = false}),
              "\n"
              "ob=(1) prog\n"
              "fl=(1) f.c\n"
              "fn=(1) f'main\n"
              "5 1\n"
              "cfn=(2) f'2'main\n"
              "calls=1 5\n"
              "5 2\n"
              "\n"
              "fl=(1)\n"
              "fn=(2)\n"
              "5 2\n"
              "cfn=(2)\n"
              "calls=1 5\n"
              "5 1\n"
              "\n"
              "fl=(2) main.c\n"
              "fn=(3) main\n"
              "10 1\n"
              "cfi=(1)\n"
              "cfn=(1)\n"
              "calls=1 5\n"
              "10 3\n");
}

TEST_F(CallgrindWriterTest, AFunctionWithoutCostsOrCallsIsLeftOut) {
    Block& block = program_.code(main_, 0x1000).op().ends(kJump);
    Block& in_f = program_.entry(program_.function("f"), 0x2000).op().ends(kReturn);
    trace_.thread(1).run(block, 1000).collect(false).run(in_f, 1000);
    replay();
    EXPECT_EQ(body(kPlain), "\nob=prog\nfl=main.c\nfn=main\n1 1\n");
}

TEST_F(CallgrindWriterTest, AnEmptyRunIsAValidFile) {
    replay();
    const std::string text = write(engine_, {}, kLines);
    EXPECT_NE(text.find("\nsummary: 0\n"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("\ntotals: 0\n")) << text;
}

TEST(CallgrindWriterEvents, EventsThatViewersDoNotKnowAreExplained) {
    Program program;
    Block& block = program.code(program.function("main"), 0x1000).op().reads(4).ends();
    Trace trace;
    trace.thread(1).run(block, 1000, {0x100});
    Engine engine({.caches = {{1024, 1, 64}, {1024, 1, 64}, {1024, 1, 64}}});
    engine.replay(trace.all());
    engine.finish();
    const std::string text = write(engine, kPlain, kLines);
    EXPECT_NE(text.find("positions: line\n"
                        "event: AcCost1 : L1 cost of rare use (sum of 1000 / accesses)\n"
                        "event: SpLoss1 : L1 bytes loaded but never used\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("\nevent: SpLossI1 = SpLoss1 - SpLossD1 : L1 code bytes loaded but never used\n"
                        "event: SpLossIL = SpLoss2 - SpLossDL : LL code bytes loaded but never used\n"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("event: Ir"), std::string::npos);
    EXPECT_NE(
        text.find("\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw AcCost1 SpLoss1 EvLine1 UsByte1 Access1 "
                  "AcCostD1 SpLossD1 EvLineD1 UsByteD1 AccessD1 AcCost2 SpLoss2 EvLine2 UsByte2 Access2 "
                  "AcCostDL SpLossDL EvLineDL UsByteDL AccessDL\n"),
        std::string::npos)
        << text;
    // One line of code with one access to 4 bytes, one of data likewise.
    const std::string costs = " 1 1 0 1 1 0 1 1 0 2000 120 2 8 2 1000 60 1 4 1 2000 120 2 8 2 1000 60 1 4 1\n";
    EXPECT_NE(text.find("summary:" + costs), std::string::npos) << text;
    EXPECT_NE(text.find("\n1" + costs), std::string::npos) << text;
}

// A jump into another file and back (as inlining makes them), and a conditional one, followed once of two times. The
// target comes first; the line behind is the position of the jump itself.
TEST_F(CallgrindWriterTest, Jumps) {
    const SourceFile& other = program_.symbols.file("inlined.h");
    Block& branch = program_.code(main_, 0x1000).op(4, 10).may_exit(kJump, Branch::kTaken).op(4, 11).ends();
    Block& inlined = program_.code(main_, 0x1100).in(other).op(4, 5).ends();
    trace_.thread(1).run_to(branch, 0, 1000, {}).run(inlined, 1000).run(branch, 1000).run(inlined, 1000);
    replay();
    EXPECT_EQ(body(kPlain),
              "\n"
              "ob=prog\n"
              "fl=main.c\n"
              "fn=main\n"
              "fi=inlined.h\n"
              "5 2\n"
              "jfi=main.c\n"
              "jump=1 10\n"
              "5\n"
              "fe=main.c\n"
              "10 2\n"
              "jfi=inlined.h\n"
              "jcnd=1/2 5\n"
              "10\n"
              "11 1\n"
              "jfi=inlined.h\n"
              "jump=1 5\n"
              "11\n");
    EXPECT_EQ(body({.compress_strings = true, .compress_positions = true}, {.lines = true, .instructions = true}),
              "\n"
              "ob=(1) prog\n"
              "fl=(1) main.c\n"
              "fn=(1) main\n"
              "fi=(2) inlined.h\n"
              "+4352 +5 2\n"
              "jfi=(1)\n"
              "jump=1 -256 +5\n"
              "* *\n"
              "fe=(1)\n"
              "-256 +5 2\n"
              "jfi=(2)\n"
              "jcnd=1/2 +256 -5\n"
              "* *\n"
              "+4 +1 1\n"
              "jfi=(2)\n"
              "jump=1 +252 -6\n"
              "* *\n");
}

// One line is read once: 8 of 64 bytes. Of the three plain numbers behind each pair of costs there is nothing.
TEST(CallgrindWriter, OnlyEventsThatCallgrindHas) {
    Program program;
    const Function& f = program.function("f", "f.c");
    Block& block = program.code(f, 0x1000).op(4, 10).reads(8).ends();
    Trace trace;
    trace.thread(1).run(block, 1000, {0x100});
    Engine engine({.caches = {{1024, 1, 64}, {1024, 1, 64}, {1024, 1, 64}}});
    engine.replay(trace.all());
    engine.finish();
    const std::string text = write(engine, {.compat_events = true}, kLines);
    // The code: 4 of 64 bytes. AcCost is 1000 for either line, in either level.
    const std::string costs = "1 1 0 1 1 0 1 1 0 2000 116 2000 116";
    EXPECT_NE(text.find("\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw AcCost1 SpLoss1 AcCost2 SpLoss2\n"
                        "summary: " + costs + '\n'),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("\n+10 " + costs + '\n'), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("\ntotals: " + costs + '\n')) << text;
    EXPECT_EQ(text.find("EvLine"), std::string::npos) << text;
    EXPECT_EQ(text.find("event: SpLossI1"), std::string::npos) << text;
}

}  // namespace
}  // namespace bd
