// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which lines cores take from each other: how often, by which instructions, and which bytes each core uses. Bounded;
// what there is no room for is counted as the rest.

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

// How often something happened.
struct SharingCounts {
    std::uint64_t reads = 0;        // of lines that another core had modified
    std::uint64_t writes = 0;       // the same
    std::uint64_t lost = 0;         // accesses to lines that this core had lost
    std::uint64_t invalidated = 0;  // copies in other cores
    std::uint64_t atomics = 0;      // by atomic instructions, of all accesses that any of this has happened to

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

// By one core, in one line. Bytes are those of the whole run, counts those since they were cleared.
struct CoreUse {
    std::uint8_t core = 0;
    std::uint64_t read = 0;  // bytes, by bit
    std::uint64_t written = 0;
    std::array<std::uint64_t, static_cast<std::size_t>(SharingKind::kCount)> kinds{};  // times that it lost the line
};

struct SharedLine {
    LineNumber line{};
    std::uint32_t group = 0;  // of data objects; 0 of a run without them
    std::vector<CoreUse> cores;
};

// What an instruction did to a line on a core.
struct SharedAccess {
    std::uint32_t line = 0;  // by number
    std::uint8_t core = 0;
    CostId instruction = kNoCost;
    std::uint64_t bytes = 0;  // that it accessed, by bit
    SharingCounts counts;
};

class Sharing {
public:
    static constexpr std::size_t kMostLines = std::size_t{1} << 16;
    static constexpr std::size_t kMostAccesses = std::size_t{1} << 18;

    explicit Sharing(unsigned line_bits) : line_bits_(line_bits) {}

    // `group`: of data that lies there.
    void add(const CoherenceMark& mark, std::uint32_t group, CostId instruction);
    void add(const CoreUseMark& mark);

    unsigned line_bits() const { return line_bits_; }
    const RowTable<SharedLine>& lines() const { return lines_; }
    const RowTable<SharedAccess>& accesses() const { return accesses_; }
    const SharingCounts& rest() const { return rest_; }

    void clear_counts();
    // Of instructions of whom `is_meant`.
    template <class IsMeant>
    void clear_counts_if(IsMeant is_meant) {
        for (std::size_t i = 0; i < accesses_.size(); ++i) {
            if (is_meant(accesses_[i].instruction)) accesses_[i].counts = {};
        }
    }

private:
    std::uint32_t line_row(LineNumber line, std::uint32_t group);
    std::uint32_t access_row(std::uint32_t line, const CoherenceMark& mark, CostId instruction);

    unsigned line_bits_;
    RowTable<SharedLine> lines_;
    RowTable<std::pair<LineNumber, std::uint32_t>>
        latest_;  // by line: its row, as memory may be of one object or other
    RowTable<SharedAccess> accesses_;
    SharingCounts rest_;
};

}  // namespace bd
