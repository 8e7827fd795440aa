// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/name_pattern.h"

#include <string>

#include <gtest/gtest.h>

namespace bd {
namespace {

TEST(NamePattern, WithoutWildcardsItIsTheName) {
    EXPECT_TRUE(matches_pattern("main", "main"));
    EXPECT_FALSE(matches_pattern("main", "mains"));
    EXPECT_FALSE(matches_pattern("main", "mai"));
    EXPECT_FALSE(matches_pattern("main", "Main"));
    EXPECT_TRUE(matches_pattern("", ""));
    EXPECT_FALSE(matches_pattern("", "m"));
}

TEST(NamePattern, AQuestionMarkIsOneCharacter) {
    EXPECT_TRUE(matches_pattern("f?o", "foo"));
    EXPECT_FALSE(matches_pattern("f?o", "fo"));
    EXPECT_FALSE(matches_pattern("foo?", "foo"));
    EXPECT_TRUE(matches_pattern("???", "foo"));
}

TEST(NamePattern, AStarIsAnyNumberOfCharacters) {
    EXPECT_TRUE(matches_pattern("*", ""));
    EXPECT_TRUE(matches_pattern("*", "anything"));
    EXPECT_TRUE(matches_pattern("foo*", "foo"));
    EXPECT_TRUE(matches_pattern("foo*", "foobar"));
    EXPECT_FALSE(matches_pattern("foo*", "afoo"));
    EXPECT_TRUE(matches_pattern("*bar", "bar bar"));
    EXPECT_FALSE(matches_pattern("*bar", "barn"));
    EXPECT_TRUE(matches_pattern("f*r", "foobar"));
    EXPECT_TRUE(matches_pattern("**a**", "a"));
}

// The first place where what follows a star fits need not be the right one.
TEST(NamePattern, StarsAreTriedFurtherOn) {
    EXPECT_TRUE(matches_pattern("*ab", "aab"));
    EXPECT_TRUE(matches_pattern("a*b*c", "abcbxc"));
    EXPECT_TRUE(matches_pattern("*?b", "bb"));
    EXPECT_FALSE(matches_pattern("a*b*c", "acb"));
}

TEST(NamePattern, ManyStarsTakeNoLongTime) {
    const std::string name(5000, 'a');
    std::string pattern;
    for (int i = 0; i < 500; ++i) pattern += "a*";
    EXPECT_FALSE(matches_pattern(pattern + "b", name));
    EXPECT_TRUE(matches_pattern(pattern, name));
}

TEST(WithoutParameters, OfACppFunctionTheNameRemains) {
    EXPECT_EQ(without_parameters("f()"), "f");
    EXPECT_EQ(without_parameters("N::f(int, char const*)"), "N::f");
    EXPECT_EQ(without_parameters("C::f(void (*)(int)) const"), "C::f");
    EXPECT_EQ(without_parameters("C::f() const volatile &&"), "C::f");
    EXPECT_EQ(without_parameters("C::operator()(int)"), "C::operator()");
    EXPECT_EQ(without_parameters("void sort<A<(E)1> >(int*, int*)"), "void sort<A<(E)1> >");
    EXPECT_EQ(without_parameters("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
    EXPECT_EQ(without_parameters("f(int)::{lambda(int)#1}::operator()(int) const"),
              "f(int)::{lambda(int)#1}::operator()");
    EXPECT_EQ(without_parameters("f(int) [clone .constprop.0] [clone .cold]"), "f");
}

TEST(WithoutParameters, OtherNamesStayAsTheyAre) {
    for (const char* name : {"main", "memcpy@@GLIBC_2.14", "(below main)", "f.cold", "f(int)::{lambda()#1}",
                             "", "0x0000000000001234", ")", "a]", "f const"}) {
        EXPECT_EQ(without_parameters(name), name);
    }
}

TEST(NamePattern, FunctionsMayBeNamedWithOrWithoutTheirParameters) {
    EXPECT_TRUE(matches_function("N::f", "N::f(int)"));
    EXPECT_TRUE(matches_function("N::f(int)", "N::f(int)"));
    EXPECT_TRUE(matches_function("N::f(*)", "N::f(int)"));
    EXPECT_TRUE(matches_function("*::f", "N::f(int)"));
    EXPECT_FALSE(matches_function("N::f(long)", "N::f(int)"));
    EXPECT_FALSE(matches_function("f", "N::f(int)"));
    EXPECT_TRUE(matches_function("(below main)", "(below main)"));
}

TEST(NamePattern, ObjectsMayBeNamedWithOrWithoutTheirFolder) {
    EXPECT_TRUE(matches_object("libc.so.6", "/usr/lib/libc.so.6"));
    EXPECT_TRUE(matches_object("/usr/*/libc.so.?", "/usr/lib/libc.so.6"));
    EXPECT_TRUE(matches_object("libc*", "/usr/lib/libc.so.6"));
    EXPECT_FALSE(matches_object("lib", "/usr/lib/libc.so.6"));
    EXPECT_TRUE(matches_object("???", "???"));
}

}  // namespace
}  // namespace bd
