// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the heads of all files about a run have in common, and how names are written there: docs/format.md.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/base/text_output.h"
#include "engine/cache/placements.h"
#include "engine/costs/contexts.h"
#include "engine/costs/events.h"
#include "engine/objects/named_allocators.h"

namespace bd {

// What the head of a file says about the run.
struct RunDescription {
    std::string_view creator;
    std::uint64_t pid = 0;
    std::string_view command;
    std::uint32_t part = 1;
    std::uint32_t thread = 0;                 // 0: all of them
    const CacheGeometries* caches = nullptr;  // those that were simulated; null: none were
    std::string_view geometry_source{};       // where they are known from
    const TlbGeometries* tlbs = nullptr;      // null: none were
    std::string_view tlb_source{};
    const Placements* placements = nullptr;      // what they missed; null: pages lie in one way only
    std::vector<std::string_view> descriptions;  // each for a further "desc:" line, "name: value"
    // "desc:" lines say what is wrong with them; null: the run has no data objects.
    const NamedAllocators* named_allocators = nullptr;
};

// Which of a run's events a file has.
struct FileEvents {
    EventSet events;
    bool compat_events = false;  // only those that Callgrind has
    bool are_sampled = false;    // only those that bursts can count, see sampled_events

    bool has(std::size_t event) const {
        const auto of = static_cast<Event>(event);
        if (are_sampled && (of == Event::kAccess1 || of == Event::kAccessD1)) return false;
        return events.has(of) && (!compat_events || kEvents[event].known != EventName::kBdgrind);
    }
};

// The lines from creator: to part:, or thread:.
void write_process(TextOutput& out, const RunDescription& run);

// The lines with desc:.
void write_descriptions(TextOutput& out, const RunDescription& run);

// The lines with event: and events:.
void write_events(TextOutput& out, const FileEvents& events);

// The formats are made of lines: a line end in a name or an argument, or another control character, becomes a blank.
void write_text(TextOutput& out, std::string_view text);

// As Callgrind names it: "f'2'g'h" is f, in its second level of recursion, called by g, called by h.
void write_context_name(TextOutput& out, const Context& context);

}  // namespace bd
