// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/program/symbols.h"

#include <string>

#include <gtest/gtest.h>

namespace bd {
namespace {

TEST(SymbolTable, TheSameNameIsTheSameEntry) {
    SymbolTable symbols;
    EXPECT_EQ(&symbols.object("libc.so"), &symbols.object("libc.so"));
    EXPECT_EQ(&symbols.file("a.c"), &symbols.file("a.c"));
    EXPECT_NE(&symbols.object("libc.so"), &symbols.object("libm.so"));
    EXPECT_NE(&symbols.file("a.c"), &symbols.file("b.c"));
}

TEST(SymbolTable, NamesAreCopied) {
    SymbolTable symbols;
    std::string name = "a function with a long name";
    const Function& function = symbols.function(name, symbols.file("a.c"), symbols.object("prog"));
    name.assign(name.size(), 'x');
    EXPECT_STREQ(function.name, "a function with a long name");
    EXPECT_EQ(&symbols.function("a function with a long name", symbols.file("a.c"), symbols.object("prog")),
              &function);
}

TEST(SymbolTable, NamesNeedNotEndWithAZero) {
    SymbolTable symbols;
    const std::string_view both = "main.cmain";
    EXPECT_STREQ(symbols.file(both.substr(0, 6)).name, "main.c");
    EXPECT_EQ(&symbols.file("main.c"), &symbols.file(both.substr(0, 6)));
    EXPECT_STREQ(symbols.object("").name, "");
}

// Static functions share their names; so do different versions of a library.
TEST(SymbolTable, FunctionsDifferByNameFileAndObject) {
    SymbolTable symbols;
    const SourceFile& a = symbols.file("a.c");
    const SourceFile& b = symbols.file("b.c");
    const ObjectFile& prog = symbols.object("prog");
    const ObjectFile& lib = symbols.object("lib.so");
    bool is_new = false;
    const Function& init = symbols.function("init", a, prog, &is_new);
    EXPECT_TRUE(is_new);
    EXPECT_NE(&symbols.function("init", b, prog), &init);
    EXPECT_NE(&symbols.function("init", a, lib), &init);
    EXPECT_NE(&symbols.function("exit", a, prog), &init);
    EXPECT_EQ(&symbols.function("init", a, prog, &is_new), &init);
    EXPECT_FALSE(is_new);
    EXPECT_EQ(init.file, &a);
    EXPECT_EQ(init.object, &prog);
}

TEST(SymbolTable, IdsAreDensePerKindAndEntriesStayWhereTheyAre) {
    SymbolTable symbols;
    const Function& first = symbols.function("f0", symbols.file("0.c"), symbols.object("o0"));
    for (std::uint32_t i = 0; i < 2000; ++i) {
        const std::string number = std::to_string(i);
        const Function& function =
            symbols.function("f" + number, symbols.file(number + ".c"), symbols.object("o" + number));
        ASSERT_EQ(function.id, i);
        ASSERT_EQ(function.file->id, i);
        ASSERT_EQ(function.object->id, i);
        ASSERT_EQ(symbols.functions()[i].get(), &function);
    }
    EXPECT_EQ(&symbols.function("f0", symbols.file("0.c"), symbols.object("o0")), &first);
    EXPECT_STREQ(first.name, "f0");
    EXPECT_EQ(symbols.functions().size(), 2000u);
}

TEST(SymbolTable, ANewFunctionIsPlain) {
    SymbolTable symbols;
    const Function& function = symbols.function("f", symbols.file("a.c"), symbols.object("prog"));
    EXPECT_TRUE(function.is_plain());
    EXPECT_FALSE(function.left_by_jump);
    EXPECT_FALSE(function.ends_allocator);
    EXPECT_EQ(function.allocator.kind, AllocatorKind::kNone);
    for (const unsigned argument : {function.allocator.block, function.allocator.size, function.allocator.count,
                                    function.allocator.stored_at}) {
        EXPECT_EQ(argument, 0u);
    }
    EXPECT_FALSE(function.allocator.may_be_within);
}

}  // namespace
}  // namespace bd
