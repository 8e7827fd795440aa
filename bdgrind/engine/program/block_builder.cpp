// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/program/block_builder.h"

#include <algorithm>
#include <cstddef>

#include "engine/base/check.h"
#include "engine/base/narrow.h"

namespace bd {
namespace {

void mix(std::uint64_t& hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
}

}  // namespace

void BlockBuilder::start(Address address, const Function& function, Address load_bias, std::uint32_t section,
                         bool is_entry) {
    BD_CHECK_OP(section, <, kSectionsPerObject);
    header_ = Block{};
    header_.address = address;
    header_.function = &function;
    header_.load_bias = load_bias;
    header_.section = function.object->id * kSectionsPerObject + section;
    header_.is_entry = is_entry;
    header_.traces_all = trace_all_;
    exits_.clear();
    instructions_.clear();
    accesses_.clear();
    groups_.clear();
    fetches_.clear();
    dataflow_.clear();
    reads_ = 0;
    writes_ = 0;
    guarded_ = 0;
    may_join_ = false;
}

void BlockBuilder::add_instruction(Address address, std::uint32_t size, const SourceFile& file, std::uint32_t line) {
    instructions_.push_back({narrow(address - header_.address), narrow(size), line, &file});
}

void BlockBuilder::add_access(std::uint32_t size, AccessKind kind, bool guarded) {
    AccessGroup& group = groups_.emplace_back(AccessGroup::of(size));
    group.first = narrow(accesses_.size());
    push_access(size, kind, guarded, 0);
    if (guarded) ++guarded_;
    may_join_ = !guarded;
}

bool BlockBuilder::join_access(std::uint32_t size, AccessKind kind, std::int64_t distance) {
    constexpr std::int64_t kMost = AccessGroup::kMostBytes;
    if (!may_join_ || size > kMost || distance > kMost || distance < -kMost) return false;
    AccessGroup& group = groups_.back();
    const std::int64_t lowest = std::min<std::int64_t>(-group.before, distance);
    const std::int64_t end = std::max<std::int64_t>(std::int64_t{group.span} - group.before, distance + size);
    if (end - lowest > kMost || group.accesses == 0xff) return false;
    group.bytes = group.bytes << (-group.before - lowest) | AccessGroup::mask(size) << (distance - lowest);
    group.span = static_cast<std::uint32_t>(end - lowest);
    group.before = static_cast<std::uint8_t>(-lowest);
    ++group.accesses;
    push_access(size, kind, false, distance);
    return true;
}

void BlockBuilder::push_access(std::uint32_t size, AccessKind kind, bool guarded, std::int64_t distance) {
    accesses_.push_back({.size = size,
                         .instruction = narrow(instructions_.size() - 1),
                         .group = narrow(groups_.size() - 1),
                         .distance = static_cast<std::int16_t>(distance),
                         .kind = kind,
                         .guarded = guarded,
                         .unused = 0});
    if (kind != AccessKind::kBus) (is_write(kind) ? writes_ : reads_) += 1;
}

void BlockBuilder::make_modify() {
    Access& access = accesses_.back();
    BD_CHECK(access.kind == AccessKind::kRead);
    access.kind = AccessKind::kModify;
    --reads_;
    ++writes_;
}

std::size_t BlockBuilder::add_exit(JumpKind jump, Branch branch) {
    BD_CHECK(!instructions_.empty());
    const Instruction& last = instructions_.back();
    TracedExit exit;
    exit.instructions = narrow(instructions_.size());
    exit.reads = narrow(reads_);
    exit.writes = narrow(writes_);
    exit.blocks = 1;
    exit.continuation_left = jump == JumpKind::kJump ? header_.section : kNoContinuation;
    exit.continuation_expected = header_.is_entry ? kEntryContinuation : header_.section;
    exit.words = narrow(traced_count());
    exit.accesses = narrow(accesses_.size());
    exit.groups = narrow(groups_.size());
    exit.may_skip_access = guarded_ != 0;
    exit.begin = static_cast<std::uint32_t>(header_.address);
    exit.return_address = header_.address + last.offset + last.size;
    exit.index = narrow(exits_.size());
    exit.jump = jump;
    exit.branch = branch;
    exits_.push_back(exit);
    may_join_ = false;
    return exits_.size() - 1;
}

// Cuts the instruction bytes at the borders of lines and at exits, so that each exit has fetched whole entries.
void BlockBuilder::cut_fetches(unsigned line_bits) {
    std::size_t next = 0;
    for (TracedExit& exit : exits_) {
        bool joins = false;  // the first fetch of a segment is never joined to the one before the exit
        for (; next < exit.instructions; ++next) {
            const Instruction& instruction = instructions_[next];
            Address at = header_.address + instruction.offset;
            const Address end = at + instruction.size;
            while (at < end) {
                const Address line = at >> line_bits;
                const Address stop = std::min(end, (line + 1) << line_bits);
                const auto first = static_cast<std::uint16_t>(at - (line << line_bits));
                if (joins && fetches_.back().line == LineNumber{line} &&
                    fetches_.back().first_byte + fetches_.back().size == first) {
                    fetches_.back().size = narrow(fetches_.back().size + (stop - at));
                    ++fetches_.back().count;
                } else {
                    fetches_.push_back({.line = LineNumber{line},
                                        .first_byte = first,
                                        .size = narrow(stop - at),
                                        .count = 1,
                                        .instruction = narrow(next)});
                    joins = true;
                }
                at = stop;
            }
        }
        exit.fetches = narrow(fetches_.size());
        if (line_bits <= 6) note_lines(exit);
    }
}

// Notes the lines of the code up to an exit, if they are one or two of up to 64 bytes, one after the other.
void BlockBuilder::note_lines(TracedExit& exit) const {
    LineNumber lines[2] = {fetches_.front().line, fetches_.front().line};
    std::uint64_t bytes[2] = {};
    std::size_t instructions[2] = {};
    std::size_t at = 0;
    for (const Fetch& fetch : fetches_) {
        if (fetch.line != lines[at] && ++at == 1) lines[1] = fetch.line;
        if (at > 1) return;
        bytes[at] |= AccessGroup::mask(fetch.size) << fetch.first_byte;
        instructions[at] += fetch.count;
    }
    const auto distance = static_cast<std::int64_t>(lines[1]) - static_cast<std::int64_t>(lines[0]);
    if (static_cast<std::int32_t>(distance) != distance) return;
    if (std::max(instructions[0], instructions[1]) > 0xff) return;
    exit.line = lines[0];
    exit.to_second_line = static_cast<std::int32_t>(distance);
    for (at = 0; at < 2; ++at) {
        exit.bytes[at] = bytes[at];
        exit.instructions_in_line[at] = static_cast<std::uint8_t>(instructions[at]);
    }
}

bool BlockBuilder::describes(const Block& block) const {
    const auto same_exit = [](const Exit& a, const Exit& b) {
        return a.jump == b.jump && a.branch == b.branch && a.instructions == b.instructions &&
               a.accesses == b.accesses && a.return_address == b.return_address;
    };
    const auto same_instruction = [](const Instruction& a, const Instruction& b) {
        return a.offset == b.offset && a.size == b.size && a.line == b.line && a.file == b.file;
    };
    const auto same_access = [](const Access& a, const Access& b) {
        return a.size == b.size && a.instruction == b.instruction && a.group == b.group && a.distance == b.distance &&
               a.kind == b.kind && a.guarded == b.guarded;
    };
    return block.address == header_.address && block.function == header_.function &&
           block.load_bias == header_.load_bias && block.section == header_.section &&
           block.is_entry == header_.is_entry && std::ranges::equal(block.exits(), exits_, same_exit) &&
           std::ranges::equal(block.instructions(), instructions_, same_instruction) &&
           std::ranges::equal(block.accesses(), accesses_, same_access);
}

std::uint64_t BlockBuilder::hash() const {
    std::uint64_t hash = 0;
    mix(hash, header_.address);
    mix(hash, header_.function->id);
    for (const Instruction& instruction : instructions_) mix(hash, instruction.offset * 65536u + instruction.line);
    for (const Access& access : accesses_) {
        mix(hash, (std::uint64_t{access.instruction} * 65536u + access.group) * 65536u + access.size);
    }
    for (const Exit& exit : exits_) mix(hash, std::uint64_t{exit.instructions} * 65536u + exit.accesses);
    return hash;
}

}  // namespace bd
