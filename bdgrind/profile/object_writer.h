// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes the data objects beside a profile, as docs/format.md describes them: of all threads, or of one.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/base/text_output.h"
#include "engine/replay/engine.h"
#include "profile/file_head.h"
#include "profile/name_lists.h"

namespace bd {

class ObjectWriter {
public:
    // `engine` tells objects apart, is settled or finished, and does not replay meanwhile.
    ObjectWriter(TextOutput& out, const Engine& engine, bool compat_events);

    // Writes a whole file; of run.thread, if that is not 0. Heap blocks and patterns are of all threads in any case.
    void write(const RunDescription& run);

private:
    // What a line of code did to a group.
    struct Row {
        GroupId group;
        const Context* context;
        const SourceFile* file;
        std::uint32_t line;
        std::vector<CostId> cells;
    };
    struct Pattern {
        std::array<std::uint64_t, 5> values;
    };

    void choose_rows(std::uint32_t thread);
    void choose_groups();
    void write_groups();
    void write_group(const ObjectGroup& group);
    void write_rows();
    void write_patterns();
    std::uint32_t number(GroupId group) const { return group_numbers_[static_cast<std::uint32_t>(group)]; }

    TextOutput& out_;
    const Engine& engine_;
    const Objects& objects_;
    const FileEvents events_;

    std::vector<Row> rows_;
    std::vector<GroupId> groups_;               // that are written
    std::vector<std::uint32_t> group_numbers_;  // by GroupId, from 1; 0: not written
    NameLists names_;
};

}  // namespace bd
