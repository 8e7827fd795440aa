// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/thread_local_blocks.h"

#include <algorithm>
#include <optional>

namespace bd {
namespace {

constexpr std::uint64_t kMostModules = 1u << 20;

std::optional<Address> read_word(Address at, const GuestWords& words) {
    if (at % words.bytes != 0 || !words.is_readable(words.memory, at, words.bytes)) return std::nullopt;
    return words.word(words.memory, at);
}

enum class TableForm { kGlibc, kMusl };

// Where the C library's table is, if it is of this form.
std::optional<Address> table_of(Address thread_pointer, TableForm form, const GuestWords& words) {
    if (thread_pointer == 0) return std::nullopt;
    if (words.has_blocks_above) {
        return read_word(form == TableForm::kGlibc ? thread_pointer : thread_pointer - words.bytes, words);
    }
    if (read_word(thread_pointer, words) != thread_pointer) return std::nullopt;
    return read_word(thread_pointer + words.bytes, words);
}

// The linker has computed with it.
Address program_block(Address thread_pointer, const ThreadLocalSegment& segment, const GuestWords& words) {
    if (words.has_blocks_above) {
        const Address begin = thread_pointer + 2 * words.bytes;
        return begin + ((segment.skew - begin) & (segment.alignment - 1));
    }
    const Address end = thread_pointer - segment.size;
    return end - ((end - segment.skew) & (segment.alignment - 1));
}

// The C library's table of a thread's blocks.
class Table {
public:
    static constexpr Address kNone = 0;

    Table(Address thread_pointer, TableForm form, const GuestWords& words) : form_(form), words_(words) {
        const std::optional<Address> found = table_of(thread_pointer, form, words);
        if (!found) return;
        const Address at = *found;
        at_ = at;
        // glibc writes the length before what the thread pointer points to, musl there.
        const std::optional<Address> length = read_word(form == TableForm::kGlibc ? at - entry_bytes() : at, words);
        if (!length || *length >= kMostModules) return;
        if (words.is_readable(words.memory, at, (*length + 1) * entry_bytes())) length_ = *length;
    }

    bool is_empty() const { return length_ == 0; }
    // Of glibc, the second word of an entry is what is to be freed; before 2.25 it was 1 for what is not.
    Address block(std::uint32_t module) const {
        if (module > length_) return kNone;
        const Address entry = at_ + module * entry_bytes();
        const Address all_ones = words_.bytes == 4 ? 0xffff'ffff : ~Address{0};
        const Address block = words_.word(words_.memory, entry);
        const bool is_allocated = form_ == TableForm::kGlibc && words_.word(words_.memory, entry + words_.bytes) > 1;
        return block == all_ones || is_allocated ? kNone : block;
    }

private:
    Address entry_bytes() const { return form_ == TableForm::kGlibc ? 2 * words_.bytes : words_.bytes; }

    Address at_ = 0;
    TableForm form_;
    const GuestWords& words_;
    Address length_ = 0;  // so many modules have entries; more may have none yet
};

}  // namespace

ThreadPointers thread_pointers(Address thread_pointer, const GuestWords& words) {
    for (const TableForm form : {TableForm::kGlibc, TableForm::kMusl}) {
        const std::optional<Address> table = table_of(thread_pointer, form, words);
        if (table && *table != 0) return {*table, read_word(*table, words).value_or(0)};
    }
    return {};
}

std::vector<ThreadLocalBlock> thread_local_blocks(Address thread_pointer, std::span<const ThreadLocalModule> modules,
                                                  const GuestWords& words) {
    if (!table_of(thread_pointer, TableForm::kGlibc, words) || modules.empty()) return {};
    std::vector<ThreadLocalBlock> blocks;
    const auto fits = [&](const ThreadLocalBlock& block) {
        const std::uint64_t size = block.module->segment->size;
        const bool is_beside = words.has_blocks_above
                                   ? block.begin >= thread_pointer + 2 * words.bytes
                                   : block.begin < thread_pointer && size <= thread_pointer - block.begin;
        return is_beside && words.is_readable(words.memory, block.begin, size);
    };
    const auto program = std::ranges::find(modules, true, &ThreadLocalModule::is_program);
    if (program != modules.end()) {
        const ThreadLocalBlock block{&*program, program_block(thread_pointer, *program->segment, words)};
        if (!fits(block)) return {};
        blocks.push_back(block);
    }
    const std::vector<ThreadLocalBlock> sure = blocks;

    const Table glibc(thread_pointer, TableForm::kGlibc, words);
    const Table musl(thread_pointer, TableForm::kMusl, words);
    const auto has_program = [&](const Table& table) { return table.block(program->number) == sure.front().begin; };
    // Without a block that is known beforehand, anything might look like musl's.
    const bool is_glibc = sure.empty() ? !glibc.is_empty() : has_program(glibc);
    if (!is_glibc && (sure.empty() || !has_program(musl))) {
        // A thread pointer that does not point to itself might be anything.
        return words.has_blocks_above ? std::vector<ThreadLocalBlock>{} : sure;
    }
    const Table& table = is_glibc ? glibc : musl;
    for (const ThreadLocalModule& module : modules) {
        if (module.is_program) continue;
        const ThreadLocalBlock block{&module, table.block(module.number)};
        if (block.begin == Table::kNone) continue;
        const ThreadLocalSegment& segment = *module.segment;
        const bool is_apart = std::ranges::none_of(blocks, [&](const ThreadLocalBlock& other) {
            return block.begin < other.begin + other.module->segment->size && other.begin < block.begin + segment.size;
        });
        if (!fits(block) || !is_apart || ((block.begin - segment.skew) & (segment.alignment - 1)) != 0) return sure;
        blocks.push_back(block);
    }
    return blocks;
}

}  // namespace bd
