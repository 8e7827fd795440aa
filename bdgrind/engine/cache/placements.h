// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the levels behind L1 would have missed had pages lain elsewhere in memory: several placements of pages at
// random, side by side, in one run. The first is the one that is profiled, in a Hierarchy. Of each other one there are
// the lines of its L2 and LL, without their use and without charges, and all share the misses of I1 and D1, which do
// not depend on pages. They do depend on where the stack is, which differs from one placement to the next, too: see
// MovedStacks. docs/simulation.md, rules 78, 79 and 88, is the specification.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/base/level.h"
#include "engine/base/types.h"
#include "engine/cache/cache_traits.h"
#include "engine/cache/moved_stacks.h"
#include "engine/cache/next_level_config.h"

namespace bd {

class Placements {
public:
    static constexpr std::uint32_t kLeast = 2;
    static constexpr std::uint32_t kMost = 32;

    // The kinds of accesses that are counted separately: fetches, reads and writes.
    static constexpr std::size_t kKinds = 3;
    // By kind: how many accesses missed a level. For L1, all have those of the first placement.
    using Misses = ByLevel<std::array<std::uint64_t, kKinds>>;

    // `caches`: with pages at random, as in the first placement; each further one has the next seed. `number`: how many
    // there are, from kLeast to kMost. Of `config`, prefetchers count, but not write-backs.
    Placements(const CacheGeometries& caches, std::uint32_t number, const NextLevelConfig& config);
    ~Placements();
    Placements(const Placements&) = delete;
    Placements& operator=(const Placements&) = delete;

    // Whether load() of data must be told which instruction makes the access.
    bool follows_instructions() const { return follows_instructions_; }

    // L1 misses a line, of which these bytes are accessed, and the next level is asked for them.
    void load(Reference reference, Address address, std::uint32_t size, Address instruction) {
        steps_.push_back({address, instruction, size, reference});
    }

    // The D1s of moved stacks, which run ahead; and what they have missed before what comes next: nothing if that does
    // not count.
    MovedStacks& stacks() { return stacks_; }
    void note_stacks(const std::vector<MovedStacks::Misses>& misses);

    // Ends an access of that kind, for which load() has been called once or more. `first`: what it missed in the first
    // placement. `counts`: whether its costs are collected.
    void end_access(std::size_t kind, Outcome first, bool counts) {
        if (counts) count(&misses_[0], kind, first);
        steps_.back().end = static_cast<std::uint8_t>(counts ? kind : kUncounted);
        if (steps_.size() >= kManySteps) settle();
    }

    // Simulates what waits for that. To be called behind the end of an access, before misses() is.
    void settle();

    // All lines leave, as in Hierarchy::flush().
    void flush();

    void clear_counts();

    std::uint32_t number() const { return static_cast<std::uint32_t>(misses_.size()); }
    std::uint64_t first_seed() const { return first_seed_; }
    bool has_l2() const { return has_l2_; }
    // Of a placement, from 0 on.
    const Misses& misses(std::uint32_t placement) const { return misses_[placement]; }
    // The same of D1, by reads or writes: an estimate, but for the first. That of the whole run is what it has missed
    // times the ratio of what stacks have missed; clear_counts() leaves the rest of that for later.
    std::uint64_t d1_misses(std::uint32_t placement, std::size_t kind) const;

private:
    class Levels;
    template <CacheTraits kTraits>
    class LevelsOf;

    // A call of load(). Several of these wait, and are simulated placement by placement: so the host's caches have a
    // placement's lines when they are needed, or have been told of them in time. (A fifth of the added time.)
    struct Step {
        Address address;
        Address instruction;
        std::uint32_t size;
        Reference reference;
        std::uint8_t end = kNoEnd;  // the kind of the access that ends here
    };
    static constexpr std::uint8_t kNoEnd = kKinds;
    static constexpr std::uint8_t kUncounted = kKinds + 1;
    static constexpr std::size_t kManySteps = 1024;

    std::uint64_t d1_misses_so_far(std::uint32_t placement, std::size_t kind) const;

    static void count(Misses* misses, std::size_t kind, Outcome outcome) {
        for (const Level level : {Level::kL1, Level::kL2, Level::kLL}) {
            if (bd::misses(outcome, level)) ++(*misses)[level][kind];
        }
    }

    std::uint64_t first_seed_;
    bool has_l2_;
    bool follows_instructions_;
    std::vector<std::unique_ptr<Levels>> others_;  // all but the first
    std::vector<Misses> misses_;                   // of all placements
    MovedStacks stacks_;
    std::vector<MovedStacks::Misses> missed_;     // of all stacks, in what counts of the whole run
    std::vector<MovedStacks::Misses> told_;       // what had been estimated of D1 when counts were last cleared
    std::array<std::uint64_t, kKinds> before_{};  // what the first has missed until then
    std::vector<Step> steps_;                     // that wait
};

}  // namespace bd
