// SPDX-License-Identifier: GPL-2.0-or-later
//
// How often D1 would miss had the main thread's stack begun elsewhere, as it does with a longer environment, or where
// the system chooses at random: several D1s side by side, the first of which has the stack where it is. They count
// misses of a part of the run only: what that tells is how far they differ. docs/simulation.md, rule 88, is the
// specification.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/base/types.h"
#include "engine/cache/cache_traits.h"
#include "engine/cache/l1_cache.h"
#include "engine/trace/trace.h"

namespace bd {

class MovedStacks {
public:
    // How many lines reads, and writes, have missed.
    using Misses = std::array<std::uint64_t, 2>;

    // `number`: how many there are, from 1. `first_seed`: the next ones are those of the others.
    MovedStacks(const CacheGeometry& d1, std::uint32_t number, std::uint64_t first_seed);

    std::size_t number() const { return caches_.size(); }
    // By how many bytes the stack of one lies lower: a multiple of kStep, and less than a page, or what a way of D1 has
    // if that is more.
    Address distance(std::size_t which) const { return caches_[which].distance; }

    // The next records. `misses`: becomes empty if this part of the run does not count, else has those of each stack.
    void run(Batch words, std::vector<Misses>* misses);

    // Empties all caches.
    void flush();

    // Stacks begin at multiples of that.
    static constexpr Address kStep = 16;
    // The main thread's stack is what lies so near to where it was when the program began.
    static constexpr Address kMostBelow = Address{8} << 20;
    static constexpr Address kMostAbove = Address{1} << 20;

    // Words of the trace: so many count from the beginning on; then, of each kPeriod, kCounted do, and kWarming before
    // these only fill the caches.
    static constexpr std::uint64_t kWhole = std::uint64_t{1} << 23;
    static constexpr std::uint64_t kPeriod = std::uint64_t{1} << 21;
    static constexpr std::uint64_t kWarming = std::uint64_t{1} << 16;
    static constexpr std::uint64_t kCounted = 3 * kWarming;

private:
    static constexpr CacheTraits kTraits{.common_lines = false, .line_use = false, .write_back = false};
    using Lines = L1Cache<kTraits, LineUse<kTraits>>;

    struct Cache {
        Cache(const CacheGeometry& geometry, Address bytes_lower) : lines(geometry), distance(bytes_lower) {}

        Lines lines;
        Address distance;
        Lines::Time clock = 0;
    };

    Misses run(Cache& cache, Batch words) const;

    std::deque<Cache> caches_;
    std::uint64_t words_ = 0;  // so far
    bool knows_stack_ = false;
    Address lowest_ = 0;  // of the stack
};

}  // namespace bd
