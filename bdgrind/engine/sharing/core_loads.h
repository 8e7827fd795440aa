// SPDX-License-Identifier: GPL-2.0-or-later
//
// What several cores load: lines that one loads after others have, and pages that one touched first and others miss. A
// system with several memories places a page near the core that touches it first.
//
// Rows are by core, instruction and data. Their number is bounded; what there is no room for is in rows without an
// instruction, one for each core.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/line_table.h"
#include "engine/base/row_table.h"
#include "engine/base/types.h"
#include "engine/sharing/coherence_marks.h"

namespace bd {

// What an instruction on a core loads of a group of data.
struct CoreLoad {
    std::uint8_t core = 0;
    CostId instruction = kNoCost;  // kNoCost: not known, or there is no room
    std::uint32_t group = 0;       // of data objects; 0 in a run without them
    std::uint64_t pages = 0;       // that it touched first
    std::uint64_t lines = 0;       // that no core had loaded before
    std::uint64_t second = 0;      // that one other core had loaded before, but not this one
    std::uint64_t further = 0;     // that several other cores had loaded before, but not this one
    // By core: misses of the last level in the pages that it touched first.
    std::vector<std::pair<std::uint8_t, std::uint64_t>> misses;

    bool is_nothing() const { return pages == 0 && lines == 0 && second == 0 && further == 0 && misses.empty(); }
};

class CoreLoads {
public:
    static constexpr std::size_t kMostRows = std::size_t{1} << 16;
    static constexpr unsigned kPageBits = 12;

    // What is charged with a load; `is_counted`: whether costs are collected.
    struct Charged {
        CostId instruction = kNoCost;
        std::uint32_t group = 0;
        bool is_counted = false;
    };

    // `line_bits`: log2 of the line size in bytes. `notes_lines`: whether cores have caches of their own.
    CoreLoads(unsigned line_bits, bool notes_lines, std::size_t most_rows = kMostRows)
        : line_bits_(line_bits), notes_lines_(notes_lines), most_rows_(most_rows) {}

    // `core` loads the line of an address into its D1. `misses`: whether an access is counted as a miss of the last
    // level for it. charged() tells what is charged, if that is asked for.
    template <class GetCharged>
    [[gnu::always_inline]] void load(std::uint8_t core, Address address, bool misses, GetCharged charged) {
        std::uint32_t& touched = pages_[LineNumber{address >> kPageBits}];
        const bool is_new = touched == 0;
        bool loads_again = false;
        std::uint64_t before = 0;
        if (notes_lines_) {
            std::uint64_t& loaded = loaded_by_[LineNumber{address >> line_bits_}];
            before = loaded;
            loads_again = (before >> core & 1) != 0;
            loaded = before | std::uint64_t{1} << core;
        }
        if (!is_new && !misses && (loads_again || !notes_lines_)) return;
        add(core, &touched, misses, notes_lines_ && !loads_again, before, charged());
    }

    // Prefetches what load() of this address will read.
    [[gnu::always_inline]] void host_prefetch(Address address) const {
        pages_.host_prefetch(LineNumber{address >> kPageBits});
        if (notes_lines_) loaded_by_.host_prefetch(LineNumber{address >> line_bits_});
    }

    const RowTable<CoreLoad>& rows() const { return rows_; }

    // Clears the counts of all instructions for which is_meant(instruction) holds. What has been touched and loaded
    // stays so.
    template <class IsMeant>
    void clear_counts_if(IsMeant is_meant) {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            CoreLoad& row = rows_[i];
            if (!is_meant(row.instruction)) continue;
            row.pages = row.lines = row.second = row.further = 0;
            row.misses.clear();
        }
    }

private:
    void add(std::uint8_t core, std::uint32_t* touched, bool misses, bool is_new_to_core, std::uint64_t before,
             const Charged& charged);
    std::uint32_t row_of(std::uint8_t core, CostId instruction, std::uint32_t group);

    unsigned line_bits_;
    bool notes_lines_;
    std::size_t most_rows_;
    LineTable<std::uint32_t> pages_;      // 1 + the row of what touched a page first; 0: nothing has
    LineTable<std::uint64_t> loaded_by_;  // a bit for each core that has loaded a line
    RowTable<CoreLoad> rows_;
};

}  // namespace bd
