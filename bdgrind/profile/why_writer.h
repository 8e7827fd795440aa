// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes why lines were loaded beside a profile, as docs/format.md describes it: of all threads, or of one.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/text_output.h"
#include "engine/replay/engine.h"
#include "profile/file_head.h"

namespace bd {

class WhyWriter {
public:
    // `engine` was asked why, is settled or finished, and does not replay meanwhile.
    WhyWriter(TextOutput& out, const Engine& engine) : out_(out), engine_(engine) {}

    // Writes a whole file; of run.thread, if that is not 0.
    void write(const RunDescription& run);

private:
    void write_caches();
    std::vector<std::uint32_t> group_numbers(std::uint32_t thread) const;

    TextOutput& out_;
    const Engine& engine_;
};

}  // namespace bd
