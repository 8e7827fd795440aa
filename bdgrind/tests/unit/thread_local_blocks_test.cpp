// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/thread_local_blocks.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace bd {
namespace {

constexpr Address kMemory = 0x10000;
constexpr Address kMemoryEnd = 0x20000;
constexpr Address kThread = 0x18000;
constexpr Address kTable = 0x1c000;

// Memory of a thread whose blocks lie below kThread, and its C library's table.
class ThreadLocalBlocksTest : public testing::TestWithParam<unsigned> {
protected:
    ThreadLocalBlocksTest() {
        program_.size = 0x78;
        program_.alignment = 32;
        library_.size = 0x100;
        library_.alignment = 16;
        set(kThread, kThread);
        set(kThread + word(), kTable);
    }

    unsigned word() const { return GetParam(); }
    void set(Address at, Address value) { words_[at] = value; }
    // Of glibc's table: how many entries it has, and one.
    void glibc_length(Address length) { set(kTable - 2 * word(), length); }
    void glibc(std::uint32_t module, Address block, Address allocated = 0) {
        set(kTable + 2 * word() * module, block);
        set(kTable + 2 * word() * module + word(), allocated);
    }
    void musl(std::uint32_t module, Address block) { set(kTable + word() * module, block); }

    // The program, number 1, and a library.
    std::string blocks(std::uint32_t library = 2, bool has_program = true, Address thread_pointer = kThread) {
        std::vector<ThreadLocalModule> modules;
        if (has_program) modules.push_back({&program_, 1, true});
        modules.push_back({&library_, library, false});
        const GuestWords words{word(), false, is_readable, value, &words_};
        std::string text;
        for (const ThreadLocalBlock& block : thread_local_blocks(thread_pointer, modules, words)) {
            text += std::to_string(block.module->number) + "@-" + std::to_string(kThread - block.begin) + " ";
        }
        return text;
    }

    ThreadLocalSegment program_;
    ThreadLocalSegment library_;

    using Words = std::map<Address, Address>;
    static bool is_readable(const void*, Address begin, std::uint64_t size) {
        return begin >= kMemory && begin <= kMemoryEnd && size <= kMemoryEnd - begin;
    }
    static Address value(const void* storage, Address at) {
        EXPECT_TRUE(is_readable(nullptr, at, 1));
        const auto& words = *static_cast<const Words*>(storage);
        const auto found = words.find(at);
        return found == words.end() ? 0 : found->second;
    }
    Words words_;
};

TEST_P(ThreadLocalBlocksTest, TheProgramsBlockEndsAtTheThreadPointer) {
    EXPECT_EQ(blocks(), "1@-128 ");  // 0x78, rounded up
    program_.alignment = 8;
    EXPECT_EQ(blocks(), "1@-120 ");
    program_.alignment = 64;
    program_.skew = 8;
    EXPECT_EQ(blocks(), "1@-120 ");
    program_.skew = 16;
    EXPECT_EQ(blocks(), "1@-176 ");
}

TEST_P(ThreadLocalBlocksTest, OthersAreInTheTableOfGlibc) {
    glibc_length(16);
    glibc(1, kThread - 128);
    EXPECT_EQ(blocks(), "1@-128 ");  // there is none yet
    glibc(2, kThread - 0x200);
    EXPECT_EQ(blocks(), "1@-128 2@-512 ");
    EXPECT_EQ(blocks(17), "1@-128 ");
    glibc(2, kThread - 0x200, 1);  // as before 2.25
    EXPECT_EQ(blocks(), "1@-128 2@-512 ");
    glibc(2, 0x1e000, 0x1e000);  // was allocated when it was used
    EXPECT_EQ(blocks(), "1@-128 ");
    glibc(2, word() == 8 ? ~Address{0} : 0xffff'ffff);
    EXPECT_EQ(blocks(), "1@-128 ");
}

TEST_P(ThreadLocalBlocksTest, OthersAreInTheTableOfMusl) {
    musl(0, 2);
    musl(1, kThread - 128);
    musl(2, kThread - 0x200);
    EXPECT_EQ(blocks(), "1@-128 2@-512 ");
    EXPECT_EQ(blocks(3), "1@-128 ");
}

TEST_P(ThreadLocalBlocksTest, AProgramMayHaveNone) {
    EXPECT_EQ(blocks(1, false), "");
    glibc_length(16);
    glibc(1, kThread - 0x200);
    EXPECT_EQ(blocks(1, false), "1@-512 ");
}

TEST_P(ThreadLocalBlocksTest, ATableThatDoesNotFitIsNotBelieved) {
    glibc_length(16);
    glibc(1, kThread - 120);  // is not the program's
    glibc(2, kThread - 0x200);
    EXPECT_EQ(blocks(), "1@-128 ");
    glibc(1, kThread - 128);
    for (const Address wrong : {kThread - 0x208, kThread - 0x100, kThread, kMemory - 16, Address{0x30000}}) {
        glibc(2, wrong);  // not aligned, over the program's block, above the thread pointer, not mapped
        EXPECT_EQ(blocks(), "1@-128 ");
    }
    glibc(2, kThread - 0x180);
    EXPECT_EQ(blocks(), "1@-128 2@-384 ");
    glibc_length(1 << 20);
    EXPECT_EQ(blocks(), "1@-128 ");
    glibc_length(0x10000);  // its end is not mapped
    EXPECT_EQ(blocks(), "1@-128 ");
    set(kThread + word(), kTable + 1);
    EXPECT_EQ(blocks(), "1@-128 ");
    set(kThread + word(), kMemory);
    EXPECT_EQ(blocks(), "1@-128 ");
}

TEST_P(ThreadLocalBlocksTest, WhatDoesNotPointToItselfIsNoThreadPointer) {
    EXPECT_EQ(blocks(2, true, 0), "");
    EXPECT_EQ(blocks(2, true, kThread + 1), "");
    EXPECT_EQ(blocks(2, true, kMemoryEnd), "");
    set(kThread, kThread + 8);
    EXPECT_EQ(blocks(), "");
    program_.size = 0x20000;
    set(kThread, kThread);
    EXPECT_EQ(blocks(), "");
}

TEST_P(ThreadLocalBlocksTest, WhatTellsWhetherTheyChange) {
    const GuestWords words{word(), false, is_readable, value, &words_};
    set(kTable, 7);
    EXPECT_EQ(thread_pointers(kThread, words), (ThreadPointers{kTable, 7}));
    EXPECT_EQ(thread_pointers(0, words), ThreadPointers{});
    EXPECT_EQ(thread_pointers(kTable, words), ThreadPointers{});
    set(kThread + word(), 0x30000);
    EXPECT_EQ(thread_pointers(kThread, words), (ThreadPointers{0x30000, 0}));
}

// Variant I: the same table, which the thread pointer points to; blocks lie above.
class ThreadLocalBlocksAboveTest : public ThreadLocalBlocksTest {
protected:
    ThreadLocalBlocksAboveTest() {
        set(kThread, kTable);
        set(kThread + word(), 0);
        set(kTable, 3);  // the generation
        glibc_length(16);
    }

    // As distances from the thread pointer.
    std::string above(Address thread_pointer = kThread, bool has_program = true) {
        std::vector<ThreadLocalModule> modules;
        if (has_program) modules.push_back({&program_, 1, true});
        modules.push_back({&library_, has_program ? 2u : 1u, false});
        const GuestWords words{word(), true, is_readable, value, &words_};
        std::string text;
        for (const ThreadLocalBlock& block : thread_local_blocks(thread_pointer, modules, words)) {
            text += std::to_string(block.module->number) + "@" + std::to_string(block.begin - kThread) + " ";
        }
        return text;
    }
};

TEST_P(ThreadLocalBlocksAboveTest, TheProgramsBlockBeginsBehindTwoWords) {
    glibc(1, kThread + 32);
    EXPECT_EQ(above(), "1@32 ");
    program_.alignment = 8;
    glibc(1, kThread + 2 * word());
    EXPECT_EQ(above(), word() == 8 ? "1@16 " : "1@8 ");
    program_.alignment = 64;
    program_.skew = 24;
    glibc(1, kThread + 24);
    EXPECT_EQ(above(), "1@24 ");
    program_.skew = 0;
    glibc(1, kThread + 64);
    EXPECT_EQ(above(), "1@64 ");
}

TEST_P(ThreadLocalBlocksAboveTest, OthersAreInTheTable) {
    glibc(1, kThread + 32);
    glibc(2, kThread + 0x100);
    EXPECT_EQ(above(), "1@32 2@256 ");
    for (const Address wrong : {kThread + 0x108, kThread + 0x40, kThread, kThread - 0x200, kMemoryEnd - 16}) {
        glibc(2, wrong);  // not aligned, over the program's block, not above, not mapped
        EXPECT_EQ(above(), "1@32 ");
    }
    glibc(2, 0x1e000, 0x1e000);  // was allocated when it was used
    EXPECT_EQ(above(), "1@32 ");
    glibc(1, kThread + 0x100);
    EXPECT_EQ(above(kThread, false), "1@256 ");
}

TEST_P(ThreadLocalBlocksAboveTest, TheTableOfMuslIsOneWordBefore) {
    set(kThread, 0);
    set(kThread - word(), kTable);
    musl(0, 2);
    musl(1, kThread + 32);
    musl(2, kThread + 0x100);
    EXPECT_EQ(above(), "1@32 2@256 ");
}

TEST_P(ThreadLocalBlocksAboveTest, WithoutATableThatFitsNothingIsBelieved) {
    EXPECT_EQ(above(), "");
    glibc(1, kThread + 40);
    EXPECT_EQ(above(), "");
    EXPECT_EQ(above(0), "");
    EXPECT_EQ(above(kThread + 1), "");
    EXPECT_EQ(above(kMemoryEnd), "");
    set(kThread, 0x30000);
    EXPECT_EQ(above(), "");
}

TEST_P(ThreadLocalBlocksAboveTest, WhatTellsWhetherTheyChange) {
    const GuestWords words{word(), true, is_readable, value, &words_};
    EXPECT_EQ(thread_pointers(kThread, words), (ThreadPointers{kTable, 3}));
    set(kThread, 0);
    EXPECT_EQ(thread_pointers(kThread, words), ThreadPointers{});
    set(kThread - word(), kTable);
    EXPECT_EQ(thread_pointers(kThread, words), (ThreadPointers{kTable, 3}));
}

INSTANTIATE_TEST_SUITE_P(WordBytes, ThreadLocalBlocksAboveTest, testing::Values(4u, 8u));
INSTANTIATE_TEST_SUITE_P(WordBytes, ThreadLocalBlocksTest, testing::Values(4u, 8u));

}  // namespace
}  // namespace bd
