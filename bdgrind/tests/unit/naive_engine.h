// SPDX-License-Identifier: GPL-2.0-or-later
//
// The oracle for attribution (docs/simulation.md): the same rules as the engine's, followed in the most
// literal way. It was written from those rules and shares no code with the engine. Every line in a cache has a
// copy of the whole call chain that was open when it was loaded, and whatever happens is added to every open
// call at once.
//
// Where they leave a choice, this is what both engines do:
// - An instruction is fetched, then its data accesses happen in order; an access goes line by line, upwards.
// - In a line that is loaded, the access counts before the LL is looked at.
// - Where L1 lines are longer than LL lines, the LL is asked for the bytes accessed only; and an L1 line's use is
//   merged into an LL line, accesses and all, if they have touched bytes in common.
// - While nothing is collected, calls are followed, but neither counted nor charged.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/costs/events.h"
#include "scenario.h"

namespace bd::test {

using Counts = std::array<std::uint64_t, kEventCount>;

// Blocks and functions by their numbers in the scenario.
struct ContextKey {
    unsigned function = 0;
    unsigned level = 1;
    std::vector<unsigned> callers{};
    auto operator<=>(const ContextKey&) const = default;
};

struct InstructionKey {
    unsigned block;
    ContextKey context;
    unsigned instruction;
    auto operator<=>(const InstructionKey&) const = default;
};

struct ArcKey {
    unsigned block;  // of the call site
    ContextKey context;
    unsigned exit;
    unsigned callee_block;
    ContextKey callee_context;
    auto operator<=>(const ArcKey&) const = default;
};

struct JumpKey {
    unsigned block;
    ContextKey context;
    unsigned exit;
    unsigned target_block;
    auto operator<=>(const JumpKey&) const = default;
};

struct ArcCounts {
    std::uint64_t calls = 0;
    Counts inclusive{};
    bool operator==(const ArcCounts&) const = default;
};

// A path of calls: what runs, below what it was called by; the first has begun there.
struct PathStep {
    ContextKey context;
    Address site = 0;  // the calling instruction, where that is told apart
    auto operator<=>(const PathStep&) const = default;
};
struct PathKey {
    Address thread = 0;
    bool is_handler = false;
    Address signal = 0;
    std::vector<PathStep> steps{};
    auto operator<=>(const PathKey&) const = default;
};
struct PathRules {
    bool by_site = false;
    bool folded = true;  // what is called again goes back to where it is on the path
};

struct PathCounts {
    std::uint64_t calls = 0;
    Counts self{};
    bool operator==(const PathCounts&) const = default;
};

// What an instruction did to a group of data objects, which is told in words.
struct ObjectKey {
    std::string group;
    InstructionKey instruction;
    auto operator<=>(const ObjectKey&) const = default;
};

// What a run cost. Entries that are all zero are left out.
struct RunCosts {
    Counts totals{};
    std::map<InstructionKey, Counts> self;
    std::map<ArcKey, ArcCounts> arcs;
    std::map<JumpKey, std::uint64_t> jumps;
    std::map<PathKey, PathCounts> paths;  // if asked for
    std::map<ObjectKey, Counts> objects;  // if asked for
};

// The first `records` records of the scenario.
// `object_depth`: how many callers tell heap blocks apart; 0: objects are not told apart.
RunCosts run_naively(const Scenario& scenario, std::size_t records, const std::optional<PathRules>& paths = {},
                     unsigned object_depth = 0);

// The first differences in what `events` says is counted, a line each; empty if there are none.
// Jumps only if `with_jumps`.
std::string differences(const RunCosts& expected, const RunCosts& actual, const EventSet& events, bool with_jumps);

}  // namespace bd::test
