// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/elf_variables.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <tuple>
#include <utility>

namespace bd {
namespace {

// As the psABIs number them.
constexpr std::uint64_t kInterpreter = 3;    // PT_INTERP
constexpr std::uint64_t kThreadLocal = 7;    // PT_TLS
constexpr std::uint64_t kSymbolTable = 2;    // SHT_SYMTAB
constexpr std::uint64_t kDynamicTable = 11;  // SHT_DYNSYM
constexpr unsigned kObjectSymbol = 1;        // STT_OBJECT
constexpr unsigned kThreadLocalSymbol = 6;   // STT_TLS
constexpr unsigned kLocalBinding = 0;        // STB_LOCAL

// More than any file has, but a damaged one may claim to.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31;
constexpr std::size_t kMostVariables = 1u << 20;
constexpr std::size_t kMostNameBytes = 1u << 16;

// Where numbers stand, and how many bytes they have, in files of 32 bits or 64.
struct Number {
    unsigned at;
    unsigned bytes;
};

struct Form {
    unsigned header_bytes;
    Number segments, sections;                                          // where these tables are in the file
    Number segment_bytes, segment_count, section_bytes, section_count;  // of an entry; how many there are
    unsigned segment_size;
    Number segment_kind, segment_address, segment_memory, segment_alignment;
    unsigned section_size;
    Number section_kind, section_offset, section_length, section_link, section_entry;
    unsigned symbol_size;
    Number symbol_name, symbol_info, symbol_section, symbol_value, symbol_length;
};

constexpr Form kForm32{
    52, {28, 4}, {32, 4}, {42, 2}, {44, 2}, {46, 2}, {48, 2}, 32,     {0, 4},  {8, 4},  {20, 4}, {28, 4},
    40, {4, 4},  {16, 4}, {20, 4}, {24, 4}, {36, 4}, 16,      {0, 4}, {12, 1}, {14, 2}, {4, 4},  {8, 4},
};
constexpr Form kForm64{
    64, {32, 8}, {40, 8}, {54, 2}, {56, 2}, {58, 2}, {60, 2}, 56,     {0, 4}, {16, 8}, {40, 8}, {48, 8},
    64, {4, 4},  {24, 8}, {32, 8}, {40, 4}, {56, 8}, 24,      {0, 4}, {4, 1}, {6, 2},  {8, 8},  {16, 8},
};

using Bytes = std::span<const unsigned char>;

std::uint64_t value(Bytes bytes, Number number) {
    std::uint64_t result = 0;
    for (unsigned i = number.bytes; i-- != 0;) result = result << 8 | bytes[number.at + i];
    return result;
}

struct Symbol {
    std::uint64_t offset;
    std::uint64_t size;
    bool is_local;
    std::uint64_t name;  // in its table of strings
};

struct Section {
    std::uint64_t kind = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t link = 0;
    std::uint64_t entry = 0;
};

class Reader {
public:
    explicit Reader(const FileBytes& file) : file_(file) {}

    ThreadLocalSegment read_segment() {
        if (!read_head() || !read_segments()) return {};
        if (segment_.size != 0) read_symbols([](unsigned info) { return (info & 15) == kThreadLocalSymbol; });
        return std::move(segment_);
    }

    ElfVariables read_static() {
        segment_.size = ~std::uint64_t{0};
        if (read_head()) read_symbols([](unsigned info) { return (info & 15) == kObjectSymbol; });
        return std::move(segment_);
    }

private:
    bool has(std::uint64_t offset, std::uint64_t size) const {
        return offset <= file_.size && size <= file_.size - offset;
    }
    bool read_at(std::uint64_t offset, std::span<unsigned char> bytes) const {
        return has(offset, bytes.size()) && file_.read(file_.file, offset, bytes);
    }

    // False if it is none of a file of 64 bits or 32, the lowest byte first.
    bool read_head() {
        const auto begins_with = [this](std::string_view what) {
            return std::equal(what.begin(), what.end(), head_, [](char c, unsigned char byte) { return c == byte; });
        };
        if (!read_at(0, std::span(head_).first(kForm32.header_bytes))) return false;
        if (!begins_with("\177ELF") || head_[5] != 1 || (head_[4] != 1 && head_[4] != 2)) return false;
        form_ = head_[4] == 1 ? &kForm32 : &kForm64;
        return read_at(0, std::span(head_).first(form_->header_bytes));
    }

    // Calls use(entry) for each of a table; not for those that are not in the file, or once use() returns false.
    template <class Use>
    void for_each_entry(std::uint64_t offset, std::uint64_t count, unsigned size, Use use) const {
        if (offset > file_.size) return;
        count = std::min(count, (file_.size - offset) / size);
        constexpr std::size_t kAtOnce = 512;
        std::vector<unsigned char> bytes(std::min<std::size_t>(kAtOnce, static_cast<std::size_t>(count)) * size);
        while (count != 0) {
            const std::size_t here = static_cast<std::size_t>(std::min<std::uint64_t>(count, kAtOnce));
            const std::span<unsigned char> part = std::span(bytes).first(here * size);
            if (!read_at(offset, part)) return;
            for (std::size_t i = 0; i < here; ++i) {
                if (!use(Bytes(part.subspan(i * size, size)))) return;
            }
            offset += part.size();
            count -= here;
        }
    }

    // False if the file is damaged.
    bool read_segments() {
        const Form& form = *form_;
        const Bytes head = head_;
        if (value(head, form.segment_bytes) != form.segment_size) return false;
        bool is_sane = true;
        const auto read_one = [&](Bytes entry) {
            const std::uint64_t kind = value(entry, form.segment_kind);
            if (kind == kInterpreter) segment_.is_interpreted = true;
            if (kind != kThreadLocal) return true;
            const std::uint64_t alignment = std::max<std::uint64_t>(value(entry, form.segment_alignment), 1);
            segment_.size = value(entry, form.segment_memory);
            segment_.alignment = alignment;
            segment_.skew = value(entry, form.segment_address) & (alignment - 1);
            is_sane = std::has_single_bit(alignment) && alignment < kMostBytes && segment_.size < kMostBytes;
            return is_sane;
        };
        for_each_entry(value(head, form.segments), value(head, form.segment_count), form.segment_size, read_one);
        return is_sane;
    }

    Section section(Bytes entry) const {
        return {value(entry, form_->section_kind), value(entry, form_->section_offset),
                value(entry, form_->section_length), value(entry, form_->section_link),
                value(entry, form_->section_entry)};
    }

    // Those whose type and binding is_meant(info).
    template <class IsMeant>
    void read_symbols(IsMeant is_meant) {
        const Form& form = *form_;
        const Bytes head = head_;
        const std::uint64_t sections = value(head, form.sections);
        std::uint64_t count = value(head, form.section_count);
        if (sections == 0 || value(head, form.section_bytes) != form.section_size) return;
        Section symbols;
        Section dynamic;
        // Where there are too many sections for the head, the first one's size is their number.
        if (count == 0) count = section_at(sections, 0).size;
        for_each_entry(sections, count, form.section_size, [&](Bytes entry) {
            const Section here = section(entry);
            if (here.kind == kSymbolTable) symbols = here;
            if (here.kind == kDynamicTable) dynamic = here;
            return true;
        });
        add_symbols(symbols, section_at(sections, symbols.link), is_meant);
        if (segment_.variables.empty()) add_symbols(dynamic, section_at(sections, dynamic.link), is_meant);
    }

    Section section_at(std::uint64_t sections, std::uint64_t number) const {
        Section found;
        // The number has 32 bits, so no sum gets larger than what is compared with the file's size.
        const std::uint64_t offset = std::min(sections, file_.size) + number * form_->section_size;
        for_each_entry(offset, 1, form_->section_size, [&](Bytes entry) {
            found = section(entry);
            return false;
        });
        return found;
    }

    // A variable may have several names, and its parts may, too: then the largest counts, and what others may know.
    template <class IsMeant>
    void add_symbols(const Section& table, const Section& names, IsMeant is_meant) {
        const Form& form = *form_;
        if (table.kind == 0 || table.entry != form.symbol_size || !has(names.offset, names.size)) return;
        std::vector<Symbol> found;
        for_each_entry(table.offset, table.size / form.symbol_size, form.symbol_size, [&](Bytes entry) {
            const auto info = static_cast<unsigned>(value(entry, form.symbol_info));
            if (!is_meant(info) || value(entry, form.symbol_section) == 0) return true;
            const Symbol symbol{value(entry, form.symbol_value), value(entry, form.symbol_length),
                                info >> 4 == kLocalBinding, value(entry, form.symbol_name)};
            const bool is_within = symbol.offset <= segment_.size && symbol.size <= segment_.size - symbol.offset;
            if (is_within && symbol.size != 0) found.push_back(symbol);
            return found.size() < kMostVariables;
        });
        std::ranges::sort(found, {},
                          [](const Symbol& one) { return std::tuple(one.offset, ~one.size, one.is_local, one.name); });
        std::uint64_t end = 0;
        for (std::size_t i = 0; i < found.size();) {
            const Symbol& first = found[i];
            std::size_t next = i;
            std::vector<char> name;
            for (; next < found.size() && is_alias(found[next], first); ++next) {
                std::vector<char> other = name_at(names, found[next].name);
                if (!other.empty() && (name.empty() || is_better(other, name))) name = std::move(other);
            }
            if (first.offset >= end && !name.empty()) {
                segment_.variables.push_back({first.offset, first.size, segment_.names.size()});
                segment_.names.insert(segment_.names.end(), name.begin(), name.end());
                segment_.names.push_back('\0');
                end = first.offset + first.size;
            }
            i = next;
        }
    }

    static bool is_alias(const Symbol& one, const Symbol& other) {
        return one.offset == other.offset && one.size == other.size && one.is_local == other.is_local;
    }

    // errno is a better name than __libc_errno.
    static bool is_better(const std::vector<char>& one, const std::vector<char>& other) {
        const auto underscores = [](const std::vector<char>& name) {
            return std::ranges::find_if(name, [](char c) { return c != '_'; }) - name.begin();
        };
        const auto mine = std::tuple(underscores(one), one.size());
        const auto others = std::tuple(underscores(other), other.size());
        return mine != others ? mine < others : one < other;
    }

    // Without the version that may stand behind it; empty if it does not end.
    std::vector<char> name_at(const Section& names, std::uint64_t offset) const {
        std::vector<char> name;
        while (offset < names.size && name.size() < kMostNameBytes) {
            unsigned char part[128];
            const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(sizeof part, names.size - offset));
            if (!read_at(names.offset + offset, std::span(part).first(size))) return {};
            for (const unsigned char c : std::span(part).first(size)) {
                if (c == '\0' || c == '@') return name;
                name.push_back(static_cast<char>(c));
            }
            offset += size;
        }
        return {};
    }

    const FileBytes& file_;
    unsigned char head_[64];
    const Form* form_ = nullptr;
    ThreadLocalSegment segment_;
};

}  // namespace

ThreadLocalSegment read_thread_local_segment(const FileBytes& file) {
    return Reader(file).read_segment();
}

ElfVariables read_static_variables(const FileBytes& file) {
    return Reader(file).read_static();
}

}  // namespace bd
