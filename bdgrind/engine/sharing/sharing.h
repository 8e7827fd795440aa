// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which lines move between cores: how often, by which instructions, and which bytes each core uses. Their number is
// bounded; the counts of further ones are in rest().

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/row_table.h"
#include "engine/base/types.h"
#include "engine/sharing/coherence_marks.h"

namespace bd {

// Counts of accesses, as far as other cores are concerned.
struct SharingCounts {
    std::uint64_t reads = 0;        // of lines that another core had modified
    std::uint64_t writes = 0;       // to lines that another core had modified
    std::uint64_t lost = 0;         // accesses to lines that this core had lost
    std::uint64_t invalidated = 0;  // copies in other cores
    std::uint64_t atomics = 0;      // accesses of any of these kinds by atomic instructions

    void add(const CoherenceMark& mark) {
        if (mark.transferred) (mark.is_write ? writes : reads) += 1;
        lost += mark.lost;
        invalidated += mark.invalidated;
        atomics += mark.is_atomic;
    }
    void add(const SharingCounts& other) {
        reads += other.reads;
        writes += other.writes;
        lost += other.lost;
        invalidated += other.invalidated;
        atomics += other.atomics;
    }
    bool operator==(const SharingCounts&) const = default;
};

// How one core used one line. Bytes are those of the whole run, `kinds` those since they were cleared.
struct CoreUse {
    std::uint8_t core = 0;
    std::uint64_t read = 0;     // bytes, by bit
    std::uint64_t written = 0;  // bytes, by bit
    // How often it lost the line, by the kind of use before.
    std::array<std::uint64_t, static_cast<std::size_t>(SharingKind::kCount)> kinds{};
};

struct SharedLine {
    // Three blocks of malloc are in a line of 64 bytes at a time, at most.
    static constexpr std::size_t kMostObjects = 16;

    LineNumber line{};
    std::uint32_t group = 0;  // of data objects; 0 in a run without them
    // The objects of the group that were accessed there, each once; those that are not known are left out. Empty if
    // there were more than kMostObjects.
    std::vector<ObjectRange> objects;
    bool has_one_begin = true;  // whether all accesses were to known objects with the same first byte
    bool has_more_objects = false;
    std::vector<CoreUse> cores;

    void add(ObjectRange object);
    // The first byte of the only object that was accessed; 0: it is not known, or there were several.
    Address only_object() const { return has_one_begin && !objects.empty() ? objects.front().begin : 0; }
};

// What an instruction did to a line on a core.
struct SharedAccess {
    std::uint32_t line = 0;  // index in Sharing::lines()
    std::uint8_t core = 0;
    CostId instruction = kNoCost;
    std::uint64_t bytes = 0;  // those accessed, by bit
    SharingCounts counts;
};

class Sharing {
public:
    static constexpr std::size_t kMostLines = std::size_t{1} << 16;
    static constexpr std::size_t kMostAccesses = std::size_t{1} << 18;

    explicit Sharing(unsigned line_bits) : line_bits_(line_bits) {}

    // `group`: the group of the data at the marked address. `object`: the object there; of no bytes if it is not known.
    void add(const CoherenceMark& mark, std::uint32_t group, ObjectRange object, CostId instruction);
    void add(const CoreUseMark& mark);

    unsigned line_bits() const { return line_bits_; }
    const RowTable<SharedLine>& lines() const { return lines_; }
    const RowTable<SharedAccess>& accesses() const { return accesses_; }
    const SharingCounts& rest() const { return rest_; }

    void clear_counts();
    // Clears the counts of all instructions for which is_meant(instruction) holds.
    template <class IsMeant>
    void clear_counts_if(IsMeant is_meant) {
        for (std::size_t i = 0; i < accesses_.size(); ++i) {
            if (is_meant(accesses_[i].instruction)) accesses_[i].counts = {};
        }
    }

private:
    std::uint32_t line_row(LineNumber line, std::uint32_t group, ObjectRange object);
    std::uint32_t access_row(std::uint32_t line, const CoherenceMark& mark, CostId instruction);

    unsigned line_bits_;
    RowTable<SharedLine> lines_;
    // By line: its latest row in lines_. A line has a row for each group of data that has been there.
    RowTable<std::pair<LineNumber, std::uint32_t>> latest_;
    RowTable<SharedAccess> accesses_;
    SharingCounts rest_;
};

}  // namespace bd
