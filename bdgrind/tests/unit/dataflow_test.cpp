// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/program/dataflow.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "program.h"

namespace bd::test {
namespace {

std::vector<Source> sources(const Value& value) {
    return {value.sources().begin(), value.sources().end()};
}

Value in_register(unsigned number) {
    return Value(Source::of_register(number));
}
Value loaded(std::size_t access) {
    return Value(Source::of_access(access));
}

TEST(DataflowValue, HasTheSourcesOfWhatItIsComputedFrom) {
    const Value sum = in_register(3).plus(loaded(2).scaled());
    EXPECT_EQ(sources(sum), (std::vector{Source::of_register(3), Source::of_access(2).scaled()}));
    EXPECT_TRUE(sources(Value()).empty());
    EXPECT_EQ(sources(sum.scaled()), (std::vector{Source::of_register(3).scaled(), Source::of_access(2).scaled()}));
}

TEST(DataflowValue, TwiceAPointerIsNoneButEitherOfTwoIs) {
    EXPECT_EQ(sources(in_register(1).plus(in_register(1))), std::vector{Source::of_register(1).scaled()});
    EXPECT_EQ(sources(in_register(1).either(in_register(1))), std::vector{Source::of_register(1)});
}

TEST(DataflowValue, OfTooManySourcesLoadsAreKept) {
    const Value three = in_register(1).plus(in_register(2)).plus(in_register(3));
    EXPECT_EQ(sources(three.plus(in_register(4))), sources(three));
    const Value loads = three.plus(loaded(1)).plus(loaded(2)).plus(loaded(3));
    EXPECT_TRUE(std::ranges::all_of(loads.sources(), [](Source source) { return source.is_loaded(); }));
    const Value latest = loads.plus(loaded(4));
    EXPECT_EQ(latest.sources().size(), Value::kMostSources);
    EXPECT_EQ(std::ranges::count(latest.sources(), Source::of_access(4)), 1);
}

TEST(DataflowValue, IsNearARegisterIfNothingElseWasAdded) {
    EXPECT_TRUE(in_register(4).is_near_register(4));
    EXPECT_FALSE(in_register(4).is_near_register(5));
    EXPECT_FALSE(in_register(4).scaled().is_near_register(4));
    EXPECT_FALSE(in_register(4).plus(in_register(5)).is_near_register(4));
    EXPECT_FALSE(loaded(4).is_near_register(4));
}

// A block that reads, may be left, and modifies and writes; and what is said of that.
class DataflowTest : public ::testing::Test {
protected:
    DataflowTest() {
        flow.start();
        flow.add_access(in_register(3).plus(in_register(5).scaled()), false, nullptr);
        flow.put(6, loaded(0));
        flow.put(63, flow.get(6).scaled());
        flow.add_exit();
        const Value stack = in_register(4);
        flow.add_access(stack, true, nullptr);
        const Value more = loaded(1).plus(loaded(0));
        flow.make_modify(more);
        flow.add_access({}, false, &stack);
        flow.put(6, {});
        flow.add_exit();
        block = &program.code(program.function("f"), 0x1000)
                     .op()
                     .reads(8)
                     .may_exit()
                     .op()
                     .modifies(8)
                     .op()
                     .writes(8)
                     .flows(flow)
                     .ends();
    }

    Program program;
    DataflowBuilder flow;
    Block* block = nullptr;
};

TEST_F(DataflowTest, StandsBesideTheBlockAndIsReadBack) {
    ASSERT_TRUE(std::ranges::equal(block->dataflow(), flow.words()));
    DataflowCursor cursor(block->dataflow().data());

    const DataflowCursor::AccessFlow read = cursor.next_access();
    EXPECT_TRUE(std::ranges::equal(read.address, std::vector{Source::of_register(3), Source::of_register(5).scaled()}));
    EXPECT_FALSE(read.is_slot || read.stores);
    ASSERT_EQ(cursor.next_exit(), 2u);
    DataflowCursor::Put put = cursor.next_put();
    EXPECT_EQ(put.number, 6u);
    EXPECT_TRUE(std::ranges::equal(put.value, std::vector{Source::of_access(0)}));
    put = cursor.next_put();
    EXPECT_EQ(put.number, 63u);
    EXPECT_TRUE(std::ranges::equal(put.value, std::vector{Source::of_access(0).scaled()}));

    const DataflowCursor::AccessFlow modify = cursor.next_access();
    EXPECT_TRUE(modify.is_slot && modify.stores);
    EXPECT_TRUE(std::ranges::equal(modify.address, std::vector{Source::of_register(4)}));
    EXPECT_TRUE(std::ranges::equal(modify.stored, std::vector{Source::of_access(1), Source::of_access(0)}));
    const DataflowCursor::AccessFlow write = cursor.next_access();
    EXPECT_TRUE(write.address.empty() && write.stores && !write.is_slot);
    EXPECT_TRUE(std::ranges::equal(write.stored, std::vector{Source::of_register(4)}));
    ASSERT_EQ(cursor.next_exit(), 1u);
    put = cursor.next_put();
    EXPECT_EQ(put.number, 6u);
    EXPECT_TRUE(put.value.empty());
}

TEST_F(DataflowTest, WhereNoneIsAskedForThereIsNone) {
    EXPECT_TRUE(program.code(program.function("f"), 0x2000).op().reads(8).ends().dataflow().empty());
}

TEST_F(DataflowTest, IsCheckedWordByWord) {
    const std::vector<std::uint16_t> good(flow.words().begin(), flow.words().end());
    EXPECT_TRUE(describes_dataflow(*block, good));
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(describes_dataflow(*block, std::span(good).first(size))) << size;
    }
    std::vector<std::uint16_t> bad = good;
    bad.push_back(0);
    EXPECT_FALSE(describes_dataflow(*block, bad));
    const auto expect_bad = [&](std::size_t at, unsigned word) {
        bad = good;
        ASSERT_NE(bad[at], word);
        bad[at] = static_cast<std::uint16_t>(word);
        EXPECT_FALSE(describes_dataflow(*block, bad)) << at;
    };
    expect_bad(0, good[0] | 1u << 6);                      // bits that mean nothing
    expect_bad(0, good[0] | 1u << DataflowCursor::kStoredShift);  // sources of what is not stored
    expect_bad(1, 64);                                     // no register
    expect_bad(1, Source::of_access(0).code());            // a load that has not happened yet
    expect_bad(4, 64 | 1u << 8);                           // no register
    expect_bad(5, Source::of_access(1).code());            // a load behind the exit
    // What a modify stores may be what it has loaded, but not what is loaded later.
    const std::size_t stored = 10;
    ASSERT_EQ(good[stored], Source::of_access(1).code());
    expect_bad(stored, Source::of_access(2).code());
}

}  // namespace
}  // namespace bd::test
