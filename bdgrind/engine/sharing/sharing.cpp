// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/sharing/sharing.h"

#include <algorithm>

#include "engine/program/block.h"

namespace bd {
namespace {

std::uint32_t hash_of(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t mixed = (a * 0x9e3779b97f4a7c15 ^ b) * 0xff51afd7ed558ccd;
    return static_cast<std::uint32_t>(mixed >> 32);
}

}  // namespace

void SharedLine::add(ObjectRange object) {
    if (std::ranges::find(objects, object) != objects.end()) return;
    has_one_begin = has_one_begin && object.bytes != 0 && (objects.empty() || objects.front().begin == object.begin);
    if (object.bytes == 0 || has_more_objects) return;
    has_more_objects = objects.size() == kMostObjects;
    if (has_more_objects) {
        objects.clear();
    } else {
        objects.push_back(object);
    }
}

void Sharing::add(const CoherenceMark& mark, std::uint32_t group, ObjectRange object, CostId instruction) {
    const LineNumber line{mark.address >> line_bits_};
    const std::uint32_t row = mark.is_followed ? line_row(line, group, object) : lines_.kNone;
    const std::uint32_t access = row != lines_.kNone ? access_row(row, mark, instruction) : accesses_.kNone;
    if (access == accesses_.kNone) {
        rest_.add(mark);
        return;
    }
    const auto offset = static_cast<unsigned>(mark.address & ((Address{1} << line_bits_) - 1));
    accesses_[access].bytes |= AccessGroup::mask(mark.bytes) << offset;
    accesses_[access].counts.add(mark);
}

std::uint32_t Sharing::line_row(LineNumber line, std::uint32_t group, ObjectRange object) {
    const auto number = static_cast<std::uint64_t>(line);
    const std::uint32_t hash = hash_of(number, group);
    std::uint32_t row =
        lines_.find(hash, [&](const SharedLine& each) { return each.line == line && each.group == group; });
    if (row == lines_.kNone) {
        if (lines_.size() >= kMostLines) return lines_.kNone;
        row = lines_.add(hash, {.line = line, .group = group, .objects = {}, .cores = {}});
    }
    lines_[row].add(object);
    const std::uint32_t latest_hash = hash_of(number, 0);
    const std::uint32_t latest = latest_.find(latest_hash, [&](const auto& each) { return each.first == line; });
    if (latest == latest_.kNone) {
        latest_.add(latest_hash, {line, row});
    } else {
        latest_[latest].second = row;
    }
    return row;
}

std::uint32_t Sharing::access_row(std::uint32_t line, const CoherenceMark& mark, CostId instruction) {
    const std::uint32_t hash = hash_of(std::uint64_t{line} << 8 | mark.core, index_of(instruction));
    const std::uint32_t row = accesses_.find(hash, [&](const SharedAccess& each) {
        return each.line == line && each.core == mark.core && each.instruction == instruction;
    });
    if (row != accesses_.kNone || accesses_.size() >= kMostAccesses) return row;
    return accesses_.add(hash, {.line = line, .core = mark.core, .instruction = instruction, .counts = {}});
}

void Sharing::add(const CoreUseMark& mark) {
    const LineNumber line{mark.line >> line_bits_};
    const std::uint32_t latest = latest_.find(hash_of(static_cast<std::uint64_t>(line), 0),
                                              [&](const auto& each) { return each.first == line; });
    if (latest == latest_.kNone) return;
    std::vector<CoreUse>& cores = lines_[latest_[latest].second].cores;
    CoreUse* use = nullptr;
    for (CoreUse& each : cores) {
        if (each.core == mark.core) use = &each;
    }
    if (use == nullptr) use = &cores.emplace_back(CoreUse{.core = mark.core});
    use->read |= mark.read;
    use->written |= mark.written;
    ++use->kinds[static_cast<std::size_t>(mark.kind)];
}

void Sharing::clear_counts() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        for (CoreUse& use : lines_[i].cores) use.kinds = {};
    }
    clear_counts_if([](CostId) { return true; });
    rest_ = {};
}

}  // namespace bd
