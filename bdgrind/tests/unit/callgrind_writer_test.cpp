// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/callgrind_writer.h"

#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "program.h"
#include "scenario.h"
#include "text.h"

namespace bd {
namespace {

using test::Program;
using test::Trace;
using enum JumpKind;

constexpr WriteOptions kPlain{.compress_strings = false, .compress_positions = false};
constexpr PositionKinds kLines{.lines = true, .instructions = false};

std::string write(const Engine& engine, const WriteOptions& options, PositionKinds kinds) {
    const Profile profile(engine, kinds);
    test::Text text;
    RunDescription run;
    run.creator = "bdgrind-1.0";
    run.pid = 4711;
    run.command = "./app -x";
    run.descriptions = {"Options: --cache-sim=no", "Trigger: Program termination"};
    CallgrindWriter(text, options).write(run, profile);
    return text.finished();
}

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

// Static functions of the same name are told by their numbers as well as by their files.
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

// --- Read back

using CostLine = std::vector<std::uint64_t>;

// What a reader of the file has in the end. Functions are "object:file:name".
struct Contents {
    CostLine summary;
    CostLine totals;
    std::map<std::tuple<std::string, std::string, std::uint64_t, std::uint64_t>, CostLine> self;
    std::map<std::tuple<std::string, std::string, std::uint64_t, std::uint64_t, std::string, std::uint64_t,
                        std::uint64_t>,
             std::pair<std::uint64_t, CostLine>>
        calls;  // function, file, address, line, callee, its address and line
    bool operator==(const Contents&) const = default;
};

// A reader by docs/format.md, strict where the writer has no choice.
class Reader {
public:
    explicit Reader(const std::string& text) : in_(text) {}

    Contents read() {
        std::string line;
        while (std::getline(in_, line)) read_line(line);
        return std::move(contents_);
    }

private:
    void read_line(const std::string& line) {
        const auto key_end = line.find_first_of("=:");
        const std::string key = line.substr(0, key_end);
        if (line.empty() || line[0] == '#') return;
        if (std::isdigit(static_cast<unsigned char>(line[0])) ||
            std::string("+-*").find(line[0]) != std::string::npos) {
            read_costs(line);
        } else if (line[key_end] == ':') {
            read_header(key, line.substr(key_end + 1));
        } else {
            read_name(key, line.substr(key_end + 1));
        }
    }

    void read_header(const std::string& key, const std::string& value) {
        std::istringstream words(value);
        std::string word;
        if (key == "positions") {
            while (words >> word) (word == "instr" ? has_address_ : has_line_) = true;
        } else if (key == "events") {
            while (words >> word) ++events_;
        } else if (key == "summary" || key == "totals") {
            (key == "summary" ? contents_.summary : contents_.totals) = costs(words);
        }
    }

    void read_name(const std::string& key, const std::string& value) {
        if (key == "ob") {
            object_ = name(objects_, value);
            function_.clear();
        } else if (key == "fl") {
            file_ = function_file_ = name(files_, value);
        } else if (key == "fi" || key == "fe") {
            file_ = name(files_, value);
            EXPECT_EQ(key == "fe", file_ == function_file_);
        } else if (key == "fn") {
            function_ = object_ + ':' + function_file_ + ':' + name(functions_, value);
            file_ = function_file_;
        } else if (key == "cob") {
            callee_object_ = name(objects_, value);
        } else if (key == "cfi") {
            callee_file_ = name(files_, value);
        } else if (key == "cfn") {
            callee_ = name(functions_, value);
        } else if (key == "calls") {
            std::istringstream words(value);
            words >> calls_;
            after_calls_ = true;
            target_ = position(words);
        } else {
            ADD_FAILURE() << "unknown key " << key;
        }
    }

    void read_costs(const std::string& line) {
        EXPECT_FALSE(function_.empty()) << "costs without a function: " << line;
        std::istringstream words(line);
        const Position at = position(words);
        last_ = at;
        const CostLine values = costs(words);
        if (!after_calls_) {
            CostLine& sum = contents_.self[{function_, file_, at.address, at.line}];
            EXPECT_TRUE(sum.empty()) << "two lines for one position: " << line;
            sum = values;
            return;
        }
        const std::string object = callee_object_.empty() ? object_ : callee_object_;
        // Where readers differ, the writer must not leave it to them.
        EXPECT_TRUE(!callee_file_.empty() || file_ == function_file_);
        const std::string file = callee_file_.empty() ? file_ : callee_file_;
        auto& [calls, sum] =
            contents_.calls[{function_, file_, at.address, at.line, object + ':' + file + ':' + callee_,
                             target_.address, target_.line}];
        EXPECT_TRUE(sum.empty()) << "two calls of one callee at one position: " << line;
        calls = calls_;
        sum = values;
        after_calls_ = false;
        callee_.clear();
        callee_file_.clear();
        callee_object_.clear();
    }

    struct Position {
        std::uint64_t address = 0;
        std::uint64_t line = 0;
    };

    Position position(std::istringstream& words) {
        Position at;
        if (has_address_) at.address = number(words, last_.address);
        if (has_line_) at.line = number(words, last_.line);
        return at;
    }
    static std::uint64_t number(std::istringstream& words, std::uint64_t last) {
        std::string word;
        words >> word;
        if (word == "*") return last;
        if (word[0] == '+') return last + std::stoull(word.substr(1));
        if (word[0] == '-') return last - std::stoull(word.substr(1));
        return std::stoull(word, nullptr, 0);
    }
    CostLine costs(std::istringstream& words) const {
        CostLine costs;
        for (std::uint64_t cost = 0; words >> cost;) costs.push_back(cost);
        EXPECT_LE(costs.size(), events_);
        EXPECT_GE(costs.size(), 1u);
        costs.resize(events_);
        return costs;
    }

    // "(1) name", "(1)" or "name". Numbers are dense.
    using Names = std::map<std::string, std::string>;
    static std::string name(Names& names, const std::string& value) {
        if (value[0] != '(') return value;
        const std::size_t end = value.find(')') + 1;
        const std::string number = value.substr(0, end);
        if (end == value.size()) {
            EXPECT_TRUE(names.contains(number)) << value;
        } else {
            EXPECT_EQ(number, '(' + std::to_string(names.size() + 1) + ')');
            names[number] = value.substr(end + 1);
        }
        return names[number];
    }

    std::istringstream in_;
    Contents contents_;
    std::size_t events_ = 0;
    bool has_address_ = false;
    bool has_line_ = false;
    Names objects_, files_, functions_;
    std::string object_, file_, function_file_, function_;
    std::string callee_object_, callee_file_, callee_;
    bool after_calls_ = false;
    std::uint64_t calls_ = 0;
    Position target_;
    Position last_;
};

// The same from the profile itself.
Contents contents_of(const Profile& profile) {
    Contents contents;
    const auto copy = [](ConstCosts costs) { return CostLine(costs.begin(), costs.end()); };
    const auto name = [](const Context& context) {
        const Function& function = context.function();
        return std::string(function.object->name) + ':' + function.file->name + ':' + test::name(context);
    };
    contents.summary = contents.totals = copy(profile.totals());
    FunctionProfile function;
    for (std::size_t i = 0; i < profile.function_count(); ++i) {
        profile.collect(i, &function);
        for (const CostRow& row : function.rows) {
            contents.self[{name(*function.context), row.position.file->name, row.position.address,
                           row.position.line}] = copy(function.costs(row));
        }
        for (const CallRow& call : function.calls) {
            contents.calls[{name(*function.context), call.position.file->name, call.position.address,
                            call.position.line, name(*call.callee), call.target.address, call.target.line}] =
                {call.calls, copy(function.costs(call))};
        }
    }
    return contents;
}

TEST(CallgrindWriterReadBack, TheContentsAreTheSameWithEveryOption) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const test::Scenario scenario = test::random_scenario(seed);
        const test::BuiltScenario built(scenario);
        Engine engine({.caches = scenario.caches, .cache_sim = seed % 4 != 0, .cache_use = seed % 4 != 1});
        engine.replay_whole(built.trace().all());
        engine.finish();
        for (const PositionKinds kinds :
             {PositionKinds{true, false}, PositionKinds{false, true}, PositionKinds{true, true}}) {
            const Contents expected = contents_of(Profile(engine, kinds));
            for (unsigned bits = 0; bits < 4; ++bits) {
                const WriteOptions options{.compress_strings = (bits & 1) != 0,
                                           .compress_positions = (bits & 2) != 0};
                const std::string text = write(engine, options, kinds);
                const Contents read = Reader(text).read();
                ASSERT_EQ(read.summary, expected.summary) << "seed " << seed << " options " << bits;
                ASSERT_EQ(read.totals, expected.totals) << "seed " << seed << " options " << bits;
                ASSERT_EQ(read.self, expected.self) << "seed " << seed << " options " << bits << '\n' << text;
                ASSERT_EQ(read.calls, expected.calls) << "seed " << seed << " options " << bits << '\n'
                                                      << text;
            }
        }
        const Contents contents = contents_of(Profile(engine, kLines));
        CostLine sum(engine.events().width());
        for (const auto& [at, costs] : contents.self) add(sum, costs);
        ASSERT_EQ(sum, contents.totals) << "seed " << seed;
    }
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
