// SPDX-License-Identifier: GPL-2.0-or-later
//
// The last lines of the log, for a user who has waited for the run to end: which caches were simulated, and the command
// that reads all files of the profile.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/base/geometry.h"
#include "engine/base/text_output.h"

namespace bd {

// The files of a run: <name>, or <name>-<thread> with `by_thread`; with `in_parts` <name>.<part>... besides; and those
// that could not be written there.
struct ProfileFiles {
    std::string_view name;
    bool is_there = true;  // the first of these; else it went into a stream, or elsewhere
    bool in_parts = false;
    bool by_thread = false;
    std::span<const std::string_view> elsewhere{};
    std::uint32_t more_elsewhere = 0;  // than these
    bool is_lost = false;              // some of it could not be written anywhere
};

// Without an end of the line. `between`: before the line size that all have in common.
void write_caches(TextOutput& out, const CacheGeometries& caches, std::string_view between = "; ");

// Null for what there is not: no caches were simulated, or there is no profile.
void write_run_ending(TextOutput& out, const CacheGeometries* caches, const ProfileFiles* files);

}  // namespace bd
