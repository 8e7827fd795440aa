// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/name_order.h"

#include <vector>

#include <gtest/gtest.h>

#include "program.h"

namespace bd {
namespace {

using test::Program;

class NameOrderTest : public testing::Test {
protected:
    static std::vector<const Context*> sorted(const std::vector<const Context*>& contexts) {
        const NameOrder order(contexts);
        const auto in_order = order.contexts();
        for (std::uint32_t rank = 0; rank < in_order.size(); ++rank) EXPECT_EQ(order.rank(*in_order[rank]), rank);
        return {in_order.begin(), in_order.end()};
    }

    Program program_;
    ContextTable contexts_;
};

TEST_F(NameOrderTest, ObjectComesBeforeFileAndFileBeforeName) {
    const Context& a_in_lib = contexts_.of(program_.function("a", "a.c", "zlib"));
    const Context& b_in_z = contexts_.of(program_.function("b", "z.c"));
    const Context& c_in_a = contexts_.of(program_.function("c", "a.c"));
    const Context& ab_in_a = contexts_.of(program_.function("ab", "a.c"));
    const Context& a_in_a = contexts_.of(program_.function("a", "a.c"));
    EXPECT_EQ(sorted({&a_in_lib, &b_in_z, &c_in_a, &ab_in_a, &a_in_a}),
              (std::vector{&a_in_a, &ab_in_a, &c_in_a, &b_in_z, &a_in_lib}));
}

TEST_F(NameOrderTest, LevelsComeBeforeCallers) {
    Function& f = program_.function("f");
    f.recursion_levels = 2;
    f.caller_count = 2;
    const Function* const callers[] = {&program_.function("z"), &program_.function("a")};
    const auto of = [&](std::uint32_t level, std::size_t first, std::size_t count) {
        return &contexts_.of(f, level, Callers(callers).subspan(first, count));
    };
    const std::vector<const Context*> expected{of(1, 0, 0), of(1, 1, 1), of(1, 0, 1), of(1, 0, 2),
                                               of(2, 0, 0), of(2, 1, 1), of(2, 0, 1)};
    EXPECT_EQ(sorted({expected.rbegin(), expected.rend()}), expected);
}

TEST_F(NameOrderTest, ContextsAreThereOnceAndOnlyThoseGiven) {
    const Context& g = contexts_.of(program_.function("g"));
    contexts_.of(program_.function("not given"));
    const Context& f = contexts_.of(program_.function("f"));
    EXPECT_EQ(sorted({&g, &f, &g, &g}), (std::vector{&f, &g}));
    EXPECT_TRUE(sorted({}).empty());
}

}  // namespace
}  // namespace bd
