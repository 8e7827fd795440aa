// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/frame_index.h"

#include <cstddef>
#include <type_traits>

namespace bd {
namespace {

// An ELF file's head and program headers, as far as they matter here. A word is 4 or 8 bytes, by the file's class.
constexpr bool kIs64 = sizeof(void*) == 8;
using ElfWord = std::conditional_t<kIs64, std::uint64_t, std::uint32_t>;
constexpr unsigned char kMagic[] = {0x7f, 'E', 'L', 'F', kIs64 ? 2 : 1};
constexpr std::uint32_t kLoaded = 1;
constexpr std::uint32_t kFrameIndex = 0x6474e550;

struct FileHeader {
    unsigned char ident[16];
    std::uint16_t type;
    std::uint16_t machine;
    std::uint32_t version;
    ElfWord entry;
    ElfWord program_headers;  // their offset
    ElfWord section_headers;
    std::uint32_t flags;
    std::uint16_t head_size;
    std::uint16_t program_header_size;
    std::uint16_t program_header_count;
};
struct ProgramHeader64 {
    std::uint32_t type;
    std::uint32_t flags;
    std::uint64_t offset;
    std::uint64_t address;
    std::uint64_t sizes_and_alignment[4];
};
struct ProgramHeader32 {
    std::uint32_t type;
    std::uint32_t offset;
    std::uint32_t address;
    std::uint32_t sizes_flags_and_alignment[5];
};
using ProgramHeader = std::conditional_t<kIs64, ProgramHeader64, ProgramHeader32>;
static_assert(offsetof(FileHeader, program_header_count) == (kIs64 ? 56 : 44));
static_assert(sizeof(ProgramHeader) == (kIs64 ? 56 : 32));

// Encodings of pointers: 4 bytes, signed, relative to the index or to the place where they stand.
constexpr unsigned char kFormat = 0x0f;
constexpr unsigned char kUnsigned4 = 0x03;
constexpr unsigned char kSigned4 = 0x0b;
constexpr unsigned char kSigned4OfIndex = 0x3b;

struct IndexHead {
    unsigned char version;
    unsigned char frames_encoding;
    unsigned char count_encoding;
    unsigned char table_encoding;
    std::int32_t frames;
    std::uint32_t count;
};
struct IndexRow {
    std::int32_t start;
    std::int32_t entry;
};
// The beginning of an entry of .eh_frame, where pointers have 4 bytes.
struct FrameEntry {
    std::uint32_t length;
    std::uint32_t common;
    std::int32_t start;  // relative to itself
    std::uint32_t bytes;
};

template <class T>
bool read_into(T* to, std::uint64_t address, ReadMemory read) {
    return read(address, {reinterpret_cast<unsigned char*>(to), sizeof(T)});
}

std::uint64_t behind(std::uint64_t address, std::int32_t distance) {
    return static_cast<std::uintptr_t>(address + static_cast<std::uint64_t>(std::int64_t{distance}));
}

bool is_elf(const FileHeader& head) {
    for (std::size_t i = 0; i < sizeof kMagic; ++i) {
        if (head.ident[i] != kMagic[i]) return false;
    }
    return true;
}

// Where the index is mapped; 0: there is none.
std::uint64_t find_index(std::uint64_t base, ReadMemory read) {
    constexpr unsigned kMostHeaders = 64;
    FileHeader head;
    if (!read_into(&head, base, read) || !is_elf(head)) return 0;
    if (head.program_header_size != sizeof(ProgramHeader) || head.program_header_count > kMostHeaders) return 0;
    std::uint64_t index = 0;
    std::uint64_t first = 0;
    bool has_first = false;
    bool has_index = false;
    for (unsigned i = 0; i < head.program_header_count; ++i) {
        ProgramHeader each;
        if (!read_into(&each, base + head.program_headers + i * sizeof each, read)) return 0;
        if (each.type == kLoaded && each.offset == 0) {
            first = each.address;
            has_first = true;
        } else if (each.type == kFrameIndex) {
            index = each.address;
            has_index = true;
        }
    }
    return has_first && has_index ? base + (index - first) : 0;
}

}  // namespace

std::uint64_t function_start(std::uint64_t base, std::uint64_t address, ReadMemory read) {
    const std::uint64_t index = find_index(base, read);
    IndexHead head;
    if (index == 0 || !read_into(&head, index, read) || head.version != 1) return 0;
    const unsigned frames_format = head.frames_encoding & kFormat;
    if (frames_format != kUnsigned4 && frames_format != kSigned4) return 0;
    if (head.count_encoding != kUnsigned4 || head.table_encoding != kSigned4OfIndex) return 0;
    const auto row = [&](std::uint32_t number, IndexRow* to) {
        return read_into(to, index + sizeof head + std::uint64_t{number} * sizeof *to, read);
    };
    // Rows are in the order of their functions.
    std::uint32_t low = 0;
    std::uint32_t high = head.count;
    IndexRow found{};
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        IndexRow at{};
        if (!row(middle, &at)) return 0;
        if (behind(index, at.start) <= address) {
            found = at;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) return 0;
    const std::uint64_t start = behind(index, found.start);
    const std::uint64_t entry = behind(index, found.entry);
    FrameEntry frame;
    if (!read_into(&frame, entry, read)) return 0;
    const std::uint64_t stated = behind(entry + offsetof(FrameEntry, start), frame.start);
    return stated == start && address - start < frame.bytes ? start : 0;
}

}  // namespace bd
