// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a reader of the format finds in a file is what the profile has.

#include <cctype>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "callgrind_fixture.h"
#include "scenario.h"

namespace bd {
namespace {

using test::kLines;
using test::write;

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

}  // namespace
}  // namespace bd
