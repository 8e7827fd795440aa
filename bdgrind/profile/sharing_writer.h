// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes which lines cores take from each other beside a profile, as docs/format.md describes it: of all threads, or of
// one.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/text_output.h"
#include "engine/replay/engine.h"
#include "profile/file_head.h"
#include "profile/why_places.h"

namespace bd {

class SharingWriter {
public:
    // `engine` has more than one core, is settled or finished, and does not replay meanwhile.
    SharingWriter(TextOutput& out, const Engine& engine)
        : out_(out), engine_(engine), sharing_(*engine.sharing()), loads_(*engine.core_loads()) {}

    // Writes a whole file; of run.thread, if that is not 0.
    void write(const RunDescription& run);

private:
    void number_lines(const WhyPlaces& places);
    void write_lines(std::uint32_t thread);
    void write_objects();
    void write_cores();
    void write_totals();
    void write_accesses(const WhyPlaces& places, bool has_rest);
    void write_loads(const WhyPlaces& places, const RunDescription& run);
    void write_shares(const LastLevelShares& shares);
    std::vector<std::uint32_t> group_numbers(std::uint32_t thread) const;
    bool is_written(const CoreLoad& load, const WhyPlaces& places, bool has_rest) const;

    TextOutput& out_;
    const Engine& engine_;
    const Sharing& sharing_;
    const CoreLoads& loads_;
    std::vector<std::uint32_t> numbers_;  // by line: from 1; 0: not written
    std::vector<std::uint32_t> written_;  // lines
};

}  // namespace bd
