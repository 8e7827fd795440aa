// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/function_options.h"

#include <deque>
#include <initializer_list>
#include <string_view>

#include <gtest/gtest.h>

namespace bd {
namespace {

// A command line, and the functions of a program run with it.
class FunctionOptionsTest : public testing::Test {
protected:
    void give(std::initializer_list<const char*> arguments) {
        for (const char* argument : arguments) {
            OptionError error;
            ASSERT_TRUE(parse_option(argument, &options_, &error)) << argument;
            ASSERT_EQ(error.message, nullptr) << argument;
        }
    }
    const char* error_of(const char* argument) {
        OptionError error;
        return parse_option(argument, &options_, &error) ? error.message : "no option";
    }
    const Function& function(std::string_view name, std::string_view object = "/usr/bin/prog") {
        return symbols_.function(name, symbols_.file("prog.c"), symbols_.object(object));
    }

    // Options never free the patterns they list; so they stay, for the leak checker to see.
    static Options& lasting_options() {
        static auto& all = *new std::deque<Options>;
        return all.emplace_back();
    }

    Options& options_ = lasting_options();
    FunctionOptions function_options_{options_};
    SymbolTable symbols_{&function_options_};
};

TEST_F(FunctionOptionsTest, ByDefaultTwoLevelsOfRecursionAreApart) {
    EXPECT_EQ(function("f").recursion_levels, 2u);
    EXPECT_EQ(function("f").caller_count, 0u);
    EXPECT_FALSE(function("f").skipped);
    EXPECT_FALSE(context_rules(options_).separate_callers);
    EXPECT_FALSE(context_rules(options_).skip_direct_recursion);
}

TEST_F(FunctionOptionsTest, NumbersForAllAndForSomeFunctions) {
    give({"--separate-recs=5", "--separate-recs10=f*", "--separate-callers=1", "--separate-callers3=g"});
    EXPECT_EQ(function("f").recursion_levels, 10u);
    EXPECT_EQ(function("f").caller_count, 1u);
    EXPECT_EQ(function("g").recursion_levels, 5u);
    EXPECT_EQ(function("g").caller_count, 3u);
    EXPECT_TRUE(context_rules(options_).separate_callers);
}

TEST_F(FunctionOptionsTest, CallersOfOneFunctionAreEnoughToFollowThem) {
    give({"--separate-callers2=f"});
    EXPECT_TRUE(context_rules(options_).separate_callers);
}

TEST_F(FunctionOptionsTest, TheLastOptionThatMatchesCounts) {
    give({"--separate-recs4=f", "--separate-recs3=*", "--separate-recs7=g", "--separate-callers=2",
          "--separate-callers0=f"});
    EXPECT_EQ(function("f").recursion_levels, 3u);
    EXPECT_EQ(function("g").recursion_levels, 7u);
    EXPECT_EQ(function("f").caller_count, 0u);
    EXPECT_EQ(function("g").caller_count, 2u);
}

TEST_F(FunctionOptionsTest, NoLevelIsTheSameAsOne) {
    give({"--separate-recs=0"});
    EXPECT_EQ(function("f").recursion_levels, 1u);
}

TEST_F(FunctionOptionsTest, FunctionsAreSkippedByNameOrObject) {
    give({"--fn-skip=f?", "--fn-skip=N::g", "--obj-skip=lib*.so.6"});
    EXPECT_TRUE(function("f1").skipped);
    EXPECT_FALSE(function("f").skipped);
    EXPECT_TRUE(function("N::g(int)").skipped);
    EXPECT_TRUE(function("any", "/lib/libc.so.6").skipped);
    EXPECT_FALSE(function("any", "/lib/ld.so").skipped);
}

TEST_F(FunctionOptionsTest, DirectRecursionMayBeSkipped) {
    give({"--skip-direct-rec=yes"});
    EXPECT_TRUE(context_rules(options_).skip_direct_recursion);
}

TEST_F(FunctionOptionsTest, WrongValuesAreRejected) {
    for (const char* argument : {"--separate-recs=", "--separate-recs=x", "--separate-recs=-1", "--separate-recs=2x",
                                 "--separate-callers=99999999999", "--fn-skip=", "--separate-callers2=",
                                 "--separate-recsx=f", "--separate-recs-1=f", "--separate-recs2", "--fn-skip1=f"}) {
        EXPECT_NE(error_of(argument), nullptr) << argument;
    }
    EXPECT_TRUE(options_.fn_skip.empty());
    EXPECT_TRUE(options_.separate_callers_of.empty());
}

TEST_F(FunctionOptionsTest, NumbersOutOfTheirRangeAreRefused) {
    give({"--objects-depth=1", "--objects-depth=64", "--context-tree-nodes=0", "--context-tree-nodes=1073741824"});
    for (const char* argument : {"--objects-depth=0", "--objects-depth=65"}) {
        EXPECT_STREQ(error_of(argument), "it must be from 1 to 64");
        EXPECT_EQ(engine_config(options_, {}).object_rules.depth, 3u);
    }
    EXPECT_STREQ(error_of("--context-tree-nodes=1073741825"), "it must be at most 1073741824");
    EXPECT_EQ(engine_config(options_, {}).context_tree_rules.most_nodes, 1'000'000u);
    EXPECT_STREQ(error_of("--paths-nodes=1073741825"), "it must be at most 1073741824");
    EXPECT_EQ(engine_config(options_, {}).flow_rules.most_nodes, 1'000'000u);
}

TEST_F(FunctionOptionsTest, PathsAreThoseOfAllFunctionsOrOfThoseNamed) {
    EXPECT_FALSE(engine_config(options_, {}).flow_paths);
    give({"--paths=f*", "--paths=g"});
    EXPECT_TRUE(engine_config(options_, {}).flow_paths);
    EXPECT_TRUE(function("f1").follows_paths);
    EXPECT_TRUE(function("g").follows_paths);
    EXPECT_FALSE(function("h").follows_paths);
    give({"--paths=yes"});
    EXPECT_TRUE(engine_config(options_, {}).flow_paths);
    EXPECT_TRUE(function("i").follows_paths);
    give({"--paths=no"});
    EXPECT_FALSE(engine_config(options_, {}).flow_paths);
    EXPECT_STREQ(error_of("--paths="), "it must not be empty");
}

}  // namespace
}  // namespace bd
