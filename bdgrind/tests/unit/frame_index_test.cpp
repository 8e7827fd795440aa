// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/frame_index.h"

#include <dlfcn.h>
#include <elf.h>

#include <cstring>
#include <exception>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

extern const unsigned char __ehdr_start;  // by the linker: where this program is mapped

namespace bd {
namespace {

std::uint64_t number(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

bool read_all(std::uint64_t address, std::span<unsigned char> bytes) {
    std::memcpy(bytes.data(), reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)), bytes.size());
    return true;
}

[[gnu::noinline]] int first(int value) {
    asm volatile("" : "+r"(value));
    return value * 3 + 1;
}
[[gnu::noinline]] int second(int value) {
    asm volatile("" : "+r"(value));
    return first(value) + 1;
}

TEST(FrameIndex, EachFunctionOfThisProgramBeginsWhereItsAddressIs) {
    const std::uint64_t base = number(&__ehdr_start);
    for (int (*const function)(int) : {&first, &second}) {
        const std::uint64_t start = number(reinterpret_cast<const void*>(function));
        for (const unsigned offset : {0, 1, 4}) EXPECT_EQ(function_start(base, start + offset, read_all), start);
        EXPECT_NE(function_start(base, start - 1, read_all), start);
    }
    EXPECT_EQ(function_start(base, base, read_all), 0u);
    EXPECT_EQ(function_start(base, number(&base), read_all), 0u);
}

// The dynamic linker knows it by the symbol.
TEST(FrameIndex, FunctionsOfLibrariesBeginWhereTheirSymbolsDo) {
    Dl_info known{};
    ASSERT_NE(dladdr(reinterpret_cast<const void*>(&std::get_terminate), &known), 0);
    if (known.dli_fbase == &__ehdr_start) GTEST_SKIP() << "no package helps: this program is linked statically";
    const std::uint64_t start = number(known.dli_saddr);
    EXPECT_EQ(function_start(number(known.dli_fbase), start + 2, read_all), start);
}

// --- A file that is not as it should be: an ELF file of this program's class, with two program headers, an index of
// three functions of 16 bytes each, and their entries

constexpr bool kIs64 = sizeof(void*) == 8;
using FileHeader = std::conditional_t<kIs64, Elf64_Ehdr, Elf32_Ehdr>;
using ProgramHeader = std::conditional_t<kIs64, Elf64_Phdr, Elf32_Phdr>;

constexpr std::uint64_t kBase = 0x10000;
constexpr std::uint32_t kFunctions = 0x800;
constexpr std::uint32_t kIndex = 0x200;
constexpr std::uint32_t kEntries = 0x300;

std::vector<unsigned char>* memory = nullptr;
unsigned reads = 0;

bool read_made_up(std::uint64_t address, std::span<unsigned char> bytes) {
    ++reads;
    if (address < kBase || address - kBase > memory->size() || memory->size() - (address - kBase) < bytes.size()) {
        return false;
    }
    std::memcpy(bytes.data(), memory->data() + (address - kBase), bytes.size());
    return true;
}

template <class T>
void put(std::vector<unsigned char>* file, std::size_t at, T value) {
    std::memcpy(file->data() + at, &value, sizeof value);
}

std::vector<unsigned char> made_up() {
    std::vector<unsigned char> file(0x1000);
    FileHeader head{};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = kIs64 ? ELFCLASS64 : ELFCLASS32;
    head.e_phoff = sizeof head;
    head.e_phentsize = sizeof(ProgramHeader);
    head.e_phnum = 2;
    put(&file, 0, head);
    ProgramHeader part{};
    part.p_type = PT_LOAD;
    put(&file, sizeof head, part);
    part.p_type = PT_GNU_EH_FRAME;
    part.p_vaddr = kIndex;
    put(&file, sizeof head + sizeof part, part);
    put(&file, kIndex, std::uint32_t{0x3b031b01});
    put(&file, kIndex + 8, std::uint32_t{3});
    for (std::uint32_t i = 0; i < 3; ++i) {
        const std::uint32_t start = kFunctions + 32 * i;
        const std::uint32_t entry = kEntries + 16 * i;
        put(&file, kIndex + 12 + 8 * i, start - kIndex);
        put(&file, kIndex + 16 + 8 * i, entry - kIndex);
        put(&file, entry + 8, start - (entry + 8));
        put(&file, entry + 12, std::uint32_t{16});
    }
    return file;
}

std::uint64_t start_of(std::vector<unsigned char> file, std::uint64_t address) {
    memory = &file;
    reads = 0;
    const std::uint64_t start = function_start(kBase, kBase + address, read_made_up);
    return start == 0 ? 0 : start - kBase;
}

TEST(FrameIndex, WhatNoEntryCoversIsNotKnown) {
    const std::vector<unsigned char> file = made_up();
    EXPECT_EQ(start_of(file, kFunctions - 1), 0u);
    EXPECT_EQ(start_of(file, kFunctions), kFunctions);
    EXPECT_EQ(start_of(file, kFunctions + 15), kFunctions);
    EXPECT_EQ(start_of(file, kFunctions + 16), 0u);
    EXPECT_EQ(start_of(file, kFunctions + 40), kFunctions + 32);
    EXPECT_EQ(start_of(file, kFunctions + 79), kFunctions + 64);
    EXPECT_EQ(start_of(file, kFunctions + 80), 0u);
}

TEST(FrameIndex, OtherEncodingsAreNotRead) {
    for (const std::uint32_t encodings : {0x3b031b02u, 0x3b031c01u, 0x3b041b01u, 0x1b031b01u}) {
        std::vector<unsigned char> file = made_up();
        put(&file, kIndex, encodings);
        EXPECT_EQ(start_of(file, kFunctions), 0u) << encodings;
    }
}

// Each byte is changed in turn: something else may be found, but in a few steps, and nothing is read that is not there.
TEST(FrameIndex, DamageDoesNoHarm) {
    for (std::size_t at = 0; at < kEntries + 48; ++at) {
        for (const unsigned change : {0xffu, 0x80u, 0x01u}) {
            std::vector<unsigned char> file = made_up();
            file[at] = static_cast<unsigned char>(file[at] ^ change);
            start_of(file, kFunctions + 40);
            EXPECT_LE(reads, 64u + 32u + 3u);
        }
    }
    std::vector<unsigned char> file = made_up();
    for (; !file.empty(); file.pop_back()) {
        const std::uint64_t start = start_of(file, kFunctions + 40);
        EXPECT_EQ(start, file.size() < kEntries + 32 ? 0u : kFunctions + 32) << file.size();
    }
}

}  // namespace
}  // namespace bd
