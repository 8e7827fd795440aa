// SPDX-License-Identifier: GPL-2.0-or-later
//
// The lines that the levels behind L1 have, without their use, as far as L1 has run. Only an inclusive LL needs that:
// what it evicts, I1 and D1 lose, and these run ahead of the levels that the replay simulates (L1Stage). Both are told
// the same things in the same order, so they have the same lines.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/base/types.h"
#include "engine/cache/next_level_config.h"

namespace bd {

class TagsAhead {
public:
    // `caches`: with an inclusive LL. Of `config`, prefetchers count.
    TagsAhead(const CacheGeometries& caches, const NextLevelConfig& config);
    ~TagsAhead();
    TagsAhead(const TagsAhead&) = delete;
    TagsAhead& operator=(const TagsAhead&) = delete;

    // From now on, this core runs.
    void run_on(std::uint32_t core);

    // L1 misses a line, of which these bytes are accessed. `instruction`: whose access to data that is.
    void load(Reference reference, Address address, std::uint32_t size, Address instruction);

    // A core loses its copy of a line of 1 << `bits` bytes to another one.
    void lose(std::uint32_t core, unsigned bits, LineNumber line);

    void flush();

    // Calls function(line) for each line that LL has evicted since this was last called, and that it does not have.
    template <class Function>
    void for_each_lost(Function function) {
        for (const LineNumber line : lost_) {
            if (!has(line)) function(line);
        }
        lost_.clear();
    }

private:
    class Levels;
    template <bool kHasL2>
    class LevelsOf;

    bool has(LineNumber line) const;

    std::vector<LineNumber> lost_;
    std::unique_ptr<Levels> levels_;
};

}  // namespace bd
