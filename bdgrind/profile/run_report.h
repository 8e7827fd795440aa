// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the log says at the end of a run: a few totals that say how it went; or all totals, misses and miss rates as
// Callgrind prints them, and per level how the lines were used.

#pragma once

#include "engine/base/text_output.h"
#include "engine/replay/engine.h"

namespace bd {

// `totals`: by event, as Profile has them. At most ten lines.
void write_run_report(TextOutput& out, const EventSet& events, ConstCosts totals);

// What --stats=yes has in its place.
void write_whole_run_report(TextOutput& out, const EventSet& events, ConstCosts totals);

// Where the context tree was full: which share of `totals` lies on paths that it does not separate, `other_paths`.
void write_other_paths(TextOutput& out, const ContextTree& tree, const EventSet& events, ConstCosts totals,
                       ConstCosts other_paths);

// What --stats=yes adds: how large the context tree is.
void write_context_tree_report(TextOutput& out, const ContextTree& tree);

// What --stats=yes adds: the sizes of the back-dating trees.
void write_engine_stats(TextOutput& out, const EngineStats& stats, std::size_t functions, std::size_t blocks);

}  // namespace bd
