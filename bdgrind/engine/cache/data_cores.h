// SPDX-License-Identifier: GPL-2.0-or-later
//
// The D1s of cores that have caches of their own: where a core looks for copies of a line in the others. Threads run
// one after the other, so only one of these caches is in use at a time.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/line_table.h"
#include "engine/base/types.h"

namespace bd {

// `Data`: a DataCache.
template <class Data>
class DataCores {
public:
    // `has_l2`: whether each has an L2 of its own, too.
    explicit DataCores(bool has_l2) : has_l2_(has_l2) {}

    // `cache`, which must live as long, is that of a core that has none yet; there are at most 64.
    void add(std::size_t core, Data* cache) {
        const auto behind = std::ranges::find_if(caches_, [core](const Cache& each) { return each.core > core; });
        caches_.insert(behind, {core, cache});
    }

    // Notes that `core` touches a line that its D1 does not have. Returns whether L2s of other cores may have it.
    bool note_load(std::size_t core, LineNumber line) {
        std::uint64_t& touched = touched_by_[line];
        const bool is_shared = (touched & ~bit(core)) != 0;
        touched |= bit(core);
        return has_l2_ && is_shared;
    }
    // Notes that only `core` has copies of the line from here on.
    void note_taken(std::size_t core, LineNumber line) { touched_by_[line] = bit(core); }

    // Calls function(core, D1 of it) for all other cores that may have a copy of the line: those that have touched it
    // since it was last taken from them. In the order of their numbers.
    template <class Function>
    void for_each_other(std::size_t core, LineNumber line, Function function) {
        const std::uint64_t asked = touched_by_[line] & ~bit(core);
        if (asked == 0) return;
        for (const Cache& other : caches_) {
            if ((asked & bit(other.core)) != 0) function(other.core, *other.data);
        }
    }

    bool has_l2() const { return has_l2_; }

    // Notes that all caches are empty.
    void clear() { touched_by_.clear(); }

private:
    static std::uint64_t bit(std::size_t core) { return std::uint64_t{1} << core; }

    struct Cache {
        std::size_t core;
        Data* data;
    };

    std::vector<Cache> caches_;  // of the cores that something has run on, by their numbers
    bool has_l2_;
    // A bit for each core that has touched the line since it was last taken from it. D1 does not know what L2 has; and
    // hardly any lines are touched by several cores, so that looking here saves looking through their D1s.
    LineTable<std::uint64_t> touched_by_;
};

}  // namespace bd
