// SPDX-License-Identifier: GPL-2.0-or-later
//
// The last lines of the log, for a user who has waited for the run to end: which caches were simulated, where the
// profile is, and the command that reads it.

#pragma once

#include <string_view>

#include "engine/base/geometry.h"
#include "engine/base/text_output.h"

namespace bd {

// The files of a run: <name>, or <name>-<thread> with `by_thread`; with `in_parts` <name>.<part>... besides.
struct ProfileFiles {
    std::string_view name;
    bool in_parts = false;
    bool by_thread = false;
};

// Null for what there is not: no caches were simulated, or the profile is nowhere to be read.
void write_run_ending(TextOutput& out, const CacheGeometries* caches, const ProfileFiles* files);

}  // namespace bd
