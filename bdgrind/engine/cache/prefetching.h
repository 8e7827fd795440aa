// SPDX-License-Identifier: GPL-2.0-or-later
//
// The prefetchers of a level, and which of the lines that they have loaded there have not been looked for since.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/base/geometry.h"
#include "engine/base/types.h"
#include "engine/base/zeroed_array.h"
#include "engine/cache/prefetchers.h"

namespace bd {

class Prefetching {
public:
    Prefetching(const CacheGeometry& cache, const PrefetchRules& rules)
        : prefetchers_(rules, cache.line_bits()), is_unused_(static_cast<std::size_t>(cache.lines())) {}

    // A line has been looked for because of `address` in it, and loaded if it was absent. Calls load(LineNumber) for
    // each line that is to be there as well. instruction(): the address of what makes the access, if that is one to
    // data.
    template <class Instruction, class Load>
    void after(Reference reference, LineNumber line, bool missed, Address address, Instruction instruction, Load load) {
        prefetchers_.after(line, missed, load);
        if (!prefetchers_.follows_instructions() || reference == Reference::kFetch) return;
        prefetchers_.after_instruction(instruction(), address, load);
    }
    // Such a line was absent, and is at this index now.
    void note_loaded(std::uint32_t index) { is_unused_[index] = true; }

    // The line at this index is looked for, or leaves: whether it was prefetched, and not looked for before.
    bool settle(std::uint32_t index) { return std::exchange(is_unused_[index], false); }

    // The level has been emptied.
    void clear() { prefetchers_.clear(); }

private:
    Prefetchers prefetchers_;
    ZeroedArray<bool> is_unused_;  // by the index of a line in the level
};

}  // namespace bd
