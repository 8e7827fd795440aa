// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes the calling context tree beside a profile, as docs/format.md describes it: of all threads, or of one. What
// cost nothing, called nothing and has nothing below it that did is left out, so that a part has what happened in it.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/text_output.h"
#include "engine/costs/context_tree.h"
#include "engine/replay/engine.h"
#include "profile/file_head.h"
#include "profile/name_lists.h"

namespace bd {

class ContextTreeWriter {
public:
    // `engine` has a context tree, is settled or finished, and does not replay meanwhile.
    ContextTreeWriter(TextOutput& out, const Engine& engine, bool compat_events);

    // Writes a whole file; of run.thread, if that is not 0.
    void write(const RunDescription& run);

private:
    // Some nodes that are written at once.
    struct Piece {
        std::span<const std::uint32_t> nodes;
        std::span<const std::uint32_t> depths;
    };
    struct Place {
        const SourceFile* file;
        std::uint32_t line;
        Address address;
    };

    void choose_nodes(std::uint32_t thread);
    void collect_names();
    void write_names();
    void write_nodes();
    std::uint64_t write_paths(const Piece& piece);
    std::vector<std::uint64_t> write_costs(const Piece& piece);
    Place place(const ContextTree::Step& step) const;

    TextOutput& out_;
    const Engine& engine_;
    const ContextTree& tree_;
    const FileEvents events_;

    std::vector<std::uint32_t> nodes_;   // that are written, in that order: their ids
    std::vector<std::uint32_t> depths_;  // theirs
    std::vector<std::uint32_t> roots_;   // of these, the roots
    NameLists names_;
    std::uint32_t root_number_ = 0;      // of the next root
    std::vector<std::uint64_t> rows_;    // of a block: costs, node by node
    std::vector<std::uint64_t> values_;  // of a block: a column
};

// By event, what the "other" nodes of a thread (0: of all) have: paths that were not separated.
std::vector<std::uint64_t> costs_of_other_paths(const Engine& engine, std::uint32_t thread);

}  // namespace bd
