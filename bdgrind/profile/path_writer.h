// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes the paths within functions beside a profile, as docs/format.md describes it: of all threads, or of one. What
// was not executed is left out, so that a part has what happened in it.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/text_output.h"
#include "engine/costs/flow_paths.h"
#include "engine/replay/engine.h"
#include "profile/file_head.h"
#include "profile/name_lists.h"
#include "profile/why_places.h"

#include <boost/unordered/unordered_flat_map.hpp>

namespace bd {

class PathWriter {
public:
    // `engine` follows paths, is settled or finished, and does not replay meanwhile.
    PathWriter(TextOutput& out, const Engine& engine, bool compat_events);

    // Writes a whole file; of run.thread, if that is not 0.
    void write(const RunDescription& run);

private:
    void choose_nodes(std::uint32_t thread);
    void collect_names(WhyPlaces* places);
    void write_steps();
    void write_pieces();
    void write_nodes();
    void write_cells(const WhyPlaces& places);
    bool is_written(const FlowPaths::Cell& cell) const;

    TextOutput& out_;
    const Engine& engine_;
    const FlowPaths& flow_;
    const FileEvents events_;

    std::vector<const Context*> contexts_;  // by node
    std::vector<std::uint32_t> numbers_;    // by node: that in the file, from 1; 0: it is left out
    std::vector<std::uint32_t> written_;    // the nodes, in the file's order
    std::vector<const TracedExit*> steps_;  // the same
    boost::unordered_flat_map<const TracedExit*, std::uint32_t> step_numbers_;
    NameLists names_;
};

}  // namespace bd
