// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a run cost, by the numbers that blocks and functions have in the scenario, whichever engine found it out.

#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/types.h"
#include "engine/costs/events.h"

namespace bd::test {

using Counts = std::array<std::uint64_t, kEventCount>;

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

// The step to what is not separated by paths.
inline const ContextKey kOtherPaths{~0u, 0};

// A path of calls: what runs, below what it was called by; the first has begun there.
struct PathStep {
    ContextKey context;
    Address site = 0;  // the calling instruction, if paths are separate by call site
    auto operator<=>(const PathStep&) const = default;
};
struct PathKey {
    Address thread = 0;
    bool is_handler = false;
    Address signal = 0;
    std::vector<PathStep> steps{};
    auto operator<=>(const PathKey&) const = default;
};

struct PathCounts {
    std::uint64_t calls = 0;
    Counts self{};
    bool operator==(const PathCounts&) const = default;
};

// A path within a function: the exits that it took, one after the other.
struct FlowStep {
    unsigned block;
    unsigned exit;
    bool is_charged = false;  // it is not shown, and charged to what called it
    auto operator<=>(const FlowStep&) const = default;
};
struct FlowKey {
    ContextKey context;
    std::vector<FlowStep> steps{};
    auto operator<=>(const FlowKey&) const = default;
};
struct FlowCounts {
    std::uint64_t times = 0;
    Counts total{};
    std::map<InstructionKey, Counts> rare{};  // without the events that happen in every block
    bool operator==(const FlowCounts&) const = default;
};

// What an instruction did to a group of data objects, which is described in words.
struct ObjectKey {
    std::string group;
    InstructionKey instruction;
    auto operator<=>(const ObjectKey&) const = default;
};

// Some bytes of a heap block that were in a line of D1 when it left, and who had loaded that.
struct PatternKey {
    std::string group;
    InstructionKey loaded_by;
    std::uint64_t offset;  // of the first one, in the block
    std::string used;      // for each byte: '#' if it was used, else '.'
    auto operator<=>(const PatternKey&) const = default;
};

// D1's misses of an instruction by LRU stack distance, docs/format.md.
struct DistanceKey {
    InstructionKey instruction;
    unsigned bucket;
    auto operator<=>(const DistanceKey&) const = default;
};
struct DistanceCounts {
    std::uint64_t misses = 0;  // lines
    std::uint64_t last_misses = 0;
    bool operator==(const DistanceCounts&) const = default;
};
// The same by group of data objects; and by function, inclusively: of all that it does, or in calls of another one.
struct ObjectDistanceKey {
    std::string group;
    unsigned bucket;
    auto operator<=>(const ObjectDistanceKey&) const = default;
};
struct InclusiveDistanceKey {
    ContextKey function;
    std::optional<ContextKey> callee;
    unsigned bucket;
    auto operator<=>(const InclusiveDistanceKey&) const = default;
};
// A scope, and what reuse is summed up by: see docs/simulation.md.
struct ScopeKey {
    ContextKey context;
    std::optional<Address> loop;  // where it begins; none: a call
    auto operator<=>(const ScopeKey&) const = default;
};
struct ReuseKey {
    InstructionKey missed{};
    std::optional<InstructionKey> loaded_by{};
    std::optional<InstructionKey> evicted_by{};
    std::optional<ScopeKey> scope{};
    std::string cause{};
    auto operator<=>(const ReuseKey&) const = default;
};
struct ReuseCounts {
    std::uint64_t misses = 0;
    std::uint64_t ll_misses = 0;
    std::uint64_t distance = 0;
    bool operator==(const ReuseCounts&) const = default;
};
// Lines in D1, by who had loaded them.
inline const InstructionKey kManyLoaders{~0u, {}, 0};
struct StayCounts {
    std::uint64_t stays = 0;
    std::uint64_t unused = 0;
    std::uint64_t late = 0;
    std::uint64_t never = 0;
    bool operator==(const StayCounts&) const = default;
};

// Lines of LL that were some core's: how many were put there; and how many were there, added up over all times that a
// line was put there.
struct ShareCounts {
    std::uint64_t puts = 0;
    std::uint64_t held = 0;
    bool operator==(const ShareCounts&) const = default;
};
// Lines of one core that one has evicted from LL, and of these, those that the first core was the next to load.
struct LostCounts {
    std::uint64_t lines = 0;
    std::uint64_t again = 0;
    bool operator==(const LostCounts&) const = default;
};

// What a run cost. Entries that are all zero are left out.
struct RunCosts {
    Counts totals{};
    std::map<InstructionKey, Counts> self;
    std::map<std::size_t, Counts> cores;  // by core, if there are several: what belongs to one
    std::map<std::size_t, ShareCounts> shares;  // the same
    std::map<std::pair<std::size_t, std::size_t>, LostCounts> lost;  // by the core that evicts, and whose lines
    std::map<ArcKey, ArcCounts> arcs;
    std::map<JumpKey, std::uint64_t> jumps;
    std::map<PathKey, PathCounts> paths;                                 // if asked for
    std::map<FlowKey, FlowCounts> flows;                                 // if asked for
    std::map<ObjectKey, Counts> objects;                                 // if asked for
    std::map<DistanceKey, DistanceCounts> distances;                     // if it was asked why
    std::map<ObjectDistanceKey, DistanceCounts> object_distances;        // and objects are asked for
    std::map<InclusiveDistanceKey, DistanceCounts> inclusive_distances;  // and paths are
    std::map<DistanceKey, DistanceCounts> hits;                          // the same for hits of D1
    std::map<InclusiveDistanceKey, DistanceCounts> inclusive_hits;
    std::map<PatternKey, std::uint64_t> patterns;                        // as objects
    // Those of blocks that are looked at in part, with the block's size. An engine that chooses the part counts what it
    // has chosen in `patterns`, and of all else there how many lines it was, as a pattern without bytes at offset 0.
    std::map<std::pair<std::uint64_t, PatternKey>, std::uint64_t> large_patterns;
    // Those of what is left of a freed block in which another one has been put. An engine may have forgotten it.
    std::map<PatternKey, std::uint64_t> forgettable_patterns;
    // Whether a block was allocated where another one still was, of no pool. Engines may then differ in what is there.
    bool blocks_overlap = false;
    std::map<ReuseKey, ReuseCounts> reuses;  // if asked for
    // The same. If there is kManyLoaders, a line was loaded by more than an engine distinguishes.
    std::map<InstructionKey, StayCounts> stays;
};

// The first differences in what `events` says is counted, a line each; empty if there are none.
// Jumps only if `with_jumps`, patterns only if `with_patterns`.
std::string differences(const RunCosts& expected, const RunCosts& actual, const EventSet& events, bool with_jumps,
                        bool with_patterns = false);
// The same in what is said of reuse.
std::string reuse_differences(const RunCosts& expected, const RunCosts& actual);

}  // namespace bd::test
