// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes the data objects beside a profile, as docs/format.md describes them: of all threads, or of one.

#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/text_output.h"
#include "engine/replay/engine.h"
#include "profile/file_head.h"
#include "profile/name_lists.h"

namespace bd {

class ObjectWriter {
public:
    // `engine` has data objects, is settled or finished, and does not replay meanwhile.
    ObjectWriter(TextOutput& out, const Engine& engine, bool compat_events);

    // Writes a whole file; of run.thread, if that is not 0: what it allocated, and what it loaded.
    void write(const RunDescription& run);

    // By GroupId, what groups are numbered as in that file, from 1; 0: not written.
    const std::vector<std::uint32_t>& group_numbers(std::uint32_t thread) {
        choose_rows(thread);
        choose_groups(thread);
        return group_numbers_;
    }

private:
    // A line of code.
    struct Place {
        const Context* context = nullptr;
        const SourceFile* file = nullptr;
        std::uint32_t line = 0;
    };
    // What it did to a group: the cells from here on, up to the next row's. Its code has cells without costs of their
    // own.
    struct Row {
        std::uint32_t first_cell;
    };
    // A row of the file's last table.
    struct PatternRow {
        std::array<std::uint32_t, 6> where;  // group, function, file, line, offset, bytes
        std::uint64_t used;
        std::uint64_t times;

        auto operator<=>(const PatternRow&) const = default;
        // But for how often.
        bool is_like(const PatternRow& other) const { return where == other.where && used == other.used; }
    };

    void choose_rows(std::uint32_t thread);
    void choose_groups(std::uint32_t thread);
    void write_groups(std::uint32_t thread);
    // Unless it is counted here, the numbers of its blocks stand in another thread's file.
    void write_group(const ObjectGroup& group, bool is_counted);
    void write_rows();
    void write_patterns();
    std::uint32_t number(GroupId group) const { return group_numbers_[static_cast<std::uint32_t>(group)]; }

    TextOutput& out_;
    const Engine& engine_;
    const Objects& objects_;
    const FileEvents events_;

    static bool is_counted_here(const ObjectGroup& group, std::uint32_t thread) {
        return thread == 0 || group.thread == thread;
    }

    GroupId group_of(const Row& row) const { return cells_[row.first_cell].group; }
    const Place& place_of(const Row& row) const { return places_[index_of(cells_[row.first_cell].instruction)]; }
    std::span<const ObjectCell> cells_of(std::size_t row) const {
        return std::span(cells_).subspan(rows_[row].first_cell, rows_[row + 1].first_cell - rows_[row].first_cell);
    }

    std::vector<ObjectCell> cells_;             // by row
    std::vector<Row> rows_;                     // and one behind the last
    std::vector<Place> places_;                 // by the costs of an instruction; empty: not written
    std::vector<GroupId> groups_;               // that are written
    std::vector<std::uint32_t> group_numbers_;  // by GroupId, from 1; 0: not written
    NameLists names_;
};

}  // namespace bd
