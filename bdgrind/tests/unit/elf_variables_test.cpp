// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/elf_variables.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace bd {
namespace {

struct TestSymbol {
    std::string name;
    std::uint64_t value;
    std::uint64_t size;
    unsigned info = 1 << 4 | 6;  // global, thread-local
    std::uint16_t section = 1;
};

constexpr unsigned kLocal = 0 << 4 | 6;
constexpr unsigned kObject = 1 << 4 | 1;
constexpr unsigned kUnique = 10 << 4 | 1;

// An ELF file of 64 bits or 32, as the psABIs have it: the head, two segments, a table of symbols with its strings, and
// at the end the sections.
class TestFile {
public:
    explicit TestFile(unsigned bits) : is_wide_(bits == 64) {}

    std::uint64_t address = 0x1000;
    std::uint64_t memory = 0x100;
    std::uint64_t alignment = 32;
    std::uint32_t table_kind = 2;    // .symtab
    bool counts_in_section = false;  // as where there are too many sections for the head

    std::vector<unsigned char> make(const std::vector<TestSymbol>& symbols) {
        bytes_.clear();
        for (const char c : std::string_view("\177ELF")) number(static_cast<unsigned char>(c), 1);
        number(is_wide_ ? 2 : 1, 1);
        number(1, 1);
        bytes_.resize(is_wide_ ? 64 : 52);
        put(is_wide_ ? 32 : 28, bytes_.size(), word());
        put(is_wide_ ? 54 : 42, is_wide_ ? 56 : 32, 2);
        put(is_wide_ ? 56 : 44, 2, 2);
        put(is_wide_ ? 58 : 46, is_wide_ ? 64 : 40, 2);
        segment(3, 0, 0, 1);
        segment(7, address, memory, alignment);

        const std::size_t table = bytes_.size();
        std::string names("\0", 1);
        for (const TestSymbol& each : symbols) {
            symbol(each, names.size());
            names += each.name;
            names += '\0';
        }
        const std::size_t strings = bytes_.size();
        for (const char c : names) number(static_cast<unsigned char>(c), 1);
        put(is_wide_ ? 40 : 32, bytes_.size(), word());
        if (!counts_in_section) put(is_wide_ ? 60 : 48, 3, 2);
        section(0, 0, counts_in_section ? 3 : 0, 0, 0);
        section(table_kind, table, strings - table, 2, is_wide_ ? 24 : 16);
        section(3, strings, names.size(), 0, 0);
        return bytes_;
    }

private:
    unsigned word() const { return is_wide_ ? 8 : 4; }
    void number(std::uint64_t value, unsigned bytes) {
        for (unsigned i = 0; i < bytes; ++i) bytes_.push_back(static_cast<unsigned char>(value >> 8 * i));
    }
    void put(std::size_t at, std::uint64_t value, unsigned bytes) {
        for (unsigned i = 0; i < bytes; ++i) bytes_[at + i] = static_cast<unsigned char>(value >> 8 * i);
    }
    void segment(std::uint32_t kind, std::uint64_t where, std::uint64_t size, std::uint64_t align) {
        number(kind, 4);
        if (is_wide_) number(4, 4);
        for (const std::uint64_t value : {std::uint64_t{0}, where, where, std::uint64_t{0}, size})
            number(value, word());
        if (!is_wide_) number(4, 4);
        number(align, word());
    }
    void symbol(const TestSymbol& each, std::size_t name) {
        number(name, 4);
        if (!is_wide_) number(each.value, 4);
        if (!is_wide_) number(each.size, 4);
        number(each.info, 1);
        number(0, 1);
        number(each.section, 2);
        if (is_wide_) number(each.value, 8);
        if (is_wide_) number(each.size, 8);
    }
    void section(std::uint32_t kind, std::uint64_t offset, std::uint64_t size, std::uint32_t link,
                 std::uint64_t entry) {
        number(0, 4);
        number(kind, 4);
        number(0, word());
        number(0, word());
        number(offset, word());
        number(size, word());
        number(link, 4);
        number(0, 4);
        number(1, word());
        number(entry, word());
    }

    bool is_wide_;
    std::vector<unsigned char> bytes_;
};

bool read(const void* file, std::uint64_t offset, std::span<unsigned char> bytes) {
    const auto& all = *static_cast<const std::vector<unsigned char>*>(file);
    EXPECT_LE(offset, all.size());
    EXPECT_LE(bytes.size(), all.size() - offset);
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
    return true;
}

ThreadLocalSegment segment_of(const std::vector<unsigned char>& bytes) {
    return read_thread_local_segment({bytes.size(), read, &bytes});
}

std::string text(const ElfVariables& known) {
    std::string found;
    for (const ElfVariable& variable : known.variables) {
        found += std::string(known.name(variable)) + "@" + std::to_string(variable.offset) + "+" +
                 std::to_string(variable.size) + " ";
    }
    return found;
}

class ElfVariablesTest : public testing::TestWithParam<unsigned> {
protected:
    std::string names(const std::vector<TestSymbol>& symbols) { return text(segment_of(file_.make(symbols))); }

    TestFile file_{GetParam()};
};

TEST_P(ElfVariablesTest, VariablesAreByOffset) {
    const ThreadLocalSegment segment = segment_of(file_.make({{"b", 8, 16}, {"a", 0, 8, kLocal}, {"_ZL1c", 24, 232}}));
    EXPECT_EQ(text(segment), "a@0+8 b@8+16 _ZL1c@24+232 ");
    EXPECT_EQ(segment.size, 0x100u);
    EXPECT_EQ(segment.alignment, 32u);
    EXPECT_EQ(segment.skew, 0u);
    EXPECT_TRUE(segment.is_interpreted);
}

TEST_P(ElfVariablesTest, ASegmentMayBeginBesideItsAlignment) {
    file_.address = 0x1018;
    EXPECT_EQ(segment_of(file_.make({})).skew, 0x18u);
    file_.alignment = 0;
    EXPECT_EQ(segment_of(file_.make({})).alignment, 1u);
}

TEST_P(ElfVariablesTest, OnlyThreadLocalSymbolsThatAreDefined) {
    EXPECT_EQ(names({{"static", 0, 8, kObject}, {"elsewhere", 0, 8, kLocal, 0}, {"label", 0, 0}, {"a", 8, 8}}),
              "a@8+8 ");
}

TEST_P(ElfVariablesTest, WhatIsNotInTheSegmentIsNoVariable) {
    EXPECT_EQ(names({{"end", 0xf8, 8}, {"beyond", 0xf8, 9}, {"far", ~std::uint64_t{0}, 8}}), "end@248+8 ");
}

TEST_P(ElfVariablesTest, OfSeveralNamesThereIsOneAndItsVersionIsNoPartOfIt) {
    const std::string expected = "errno@0+4 whole@8+32 ";
    std::vector<TestSymbol> symbols{{"__libc_errno", 0, 4},  {"errno@@GLIBC_PRIVATE", 0, 4},
                                    {"local", 0, 4, kLocal}, {"whole", 8, 32},
                                    {"part", 8, 8},          {"inner", 16, 8}};
    EXPECT_EQ(names(symbols), expected);
    std::ranges::reverse(symbols);
    EXPECT_EQ(names(symbols), expected);
}

TEST_P(ElfVariablesTest, TheDynamicTableIsThereForWantOfAnother) {
    file_.table_kind = 11;
    EXPECT_EQ(names({{"a@V1", 0, 8}}), "a@0+8 ");
    file_.table_kind = 3;
    EXPECT_EQ(names({{"a", 0, 8}}), "");
}

TEST_P(ElfVariablesTest, TheFirstSectionMayHaveTheirNumber) {
    file_.counts_in_section = true;
    EXPECT_EQ(names({{"a", 0, 8}}), "a@0+8 ");
}

TEST_P(ElfVariablesTest, StaticVariablesHaveTheirAddresses) {
    const std::vector<TestSymbol> symbols{{"_Z1bE", 0x5000, 16, kUnique},  {"local", 0, 8},
                                          {"_Z1aE", 0x4000, 8, kUnique},   {"global", 0x6000, 8, kObject},
                                          {"else", 0x7000, 8, kUnique, 0}, {"_Z1f", 0x100, 64, 10 << 4 | 2}};
    const auto found = [this, &symbols] {
        const std::vector<unsigned char> bytes = file_.make(symbols);
        return text(read_static_variables({bytes.size(), read, &bytes}));
    };
    EXPECT_EQ(found(), "_Z1aE@16384+8 _Z1bE@20480+16 global@24576+8 ");
    file_.memory = 0;
    EXPECT_EQ(found(), "_Z1aE@16384+8 _Z1bE@20480+16 global@24576+8 ");
    EXPECT_EQ(text(read_static_variables({})), "");
}

TEST_P(ElfVariablesTest, LongNames) {
    const std::string name(1000, 'n');
    EXPECT_EQ(names({{name, 0, 8}}), name + "@0+8 ");
    EXPECT_EQ(names({{std::string(70'000, 'n'), 0, 8}}), "");
}

TEST_P(ElfVariablesTest, WhatCannotBeHasNoSegment) {
    file_.alignment = 24;
    EXPECT_EQ(segment_of(file_.make({{"a", 0, 8}})).size, 0u);
    file_.alignment = 32;
    file_.memory = 0xffff'ffff;
    EXPECT_EQ(segment_of(file_.make({{"a", 0, 8}})).size, 0u);
    EXPECT_EQ(segment_of({}).size, 0u);
}

// The reader fails a test if it reads what is not there.
TEST_P(ElfVariablesTest, DamagedFilesHaveFewerVariablesOrNone) {
    const std::vector<unsigned char> whole =
        file_.make({{"a", 0, 8}, {"b", 8, 16}, {"c@V", 24, 8, kLocal}, {"d", 0x40, 0x80}, {"e", 0, 8, kUnique}});
    for (std::size_t size = 0; size < whole.size(); ++size) {
        segment_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    }
    std::mt19937_64 random(3);
    for (int run = 0; run < 20'000; ++run) {
        std::vector<unsigned char> damaged = whole;
        for (std::uint64_t left = 1 + random() % 4; left != 0; --left) {
            unsigned char& byte = damaged[random() % damaged.size()];
            byte = random() % 2 == 0 ? static_cast<unsigned char>(random()) : 0xff;
        }
        read_static_variables({damaged.size(), read, &damaged});
        const ThreadLocalSegment segment = segment_of(damaged);
        std::uint64_t end = 0;
        for (const ElfVariable& variable : segment.variables) {
            ASSERT_GE(variable.offset, end) << "run " << run;
            end = variable.offset + variable.size;
            ASSERT_LE(end, segment.size) << "run " << run;
            ASSERT_LT(std::strlen(segment.name(variable)), segment.names.size()) << "run " << run;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Bits, ElfVariablesTest, testing::Values(32u, 64u));

}  // namespace
}  // namespace bd
