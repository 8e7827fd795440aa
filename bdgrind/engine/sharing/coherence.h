// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which cores hold a line, by the MESI protocol: any number of them until one writes, then that one alone.
// Caches are as large as memory here, so a line that a core has touched is there until another core writes to it, and
// everything that is counted is due to sharing.
//
// Lines that cores take from each other again and again are followed: which bytes each of them uses.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/line_table.h"
#include "engine/base/types.h"
#include "engine/sharing/coherence_marks.h"

namespace bd {

// What one access did to one line. Nothing: no other core has to do with it.
struct CoherenceOutcome {
    bool transferred = false;
    bool lost = false;
    std::uint8_t invalidated = 0;
    bool is_followed = false;  // the line is

    bool is_nothing() const { return !transferred && !lost && invalidated == 0; }
};

class Coherence {
public:
    // Lines are followed from the time on when something has happened to them as often: what is handed over once, like
    // an array that one thread has filled for others, is not worth it. So many lines at most.
    static constexpr unsigned kFollowedFrom = 4;
    static constexpr std::size_t kMostFollowed = std::size_t{1} << 16;

    // `line_bits`: lines have 16 to 64 bytes.
    explicit Coherence(unsigned line_bits, std::size_t most_followed = kMostFollowed)
        : line_bits_(line_bits), most_followed_(most_followed) {}

    unsigned line_bits() const { return line_bits_; }

    // `core` accesses these bytes of a line. What it takes from others is appended to `ends`.
    [[gnu::always_inline]] CoherenceOutcome access(std::uint8_t core, LineNumber line, std::uint64_t bytes, bool writes,
                                                   std::vector<CoreUseMark>* ends) {
        Line& state = lines_[line];
        const std::uint64_t bit = std::uint64_t{1} << core;
        if (state.followed == 0) {
            if (state.holders == bit) {
                state.modified |= writes;
                return {};
            }
            if (!writes && (state.holders & bit) != 0) return {};
        }
        return access_shared(state, core, line, bytes, writes, ends);
    }

    // Whether `core` may write to a line without a change that other cores see, and nothing has to be noted.
    [[gnu::always_inline]] bool is_own(std::uint8_t core, LineNumber line) {
        const Line& state = lines_[line];
        return state.followed == 0 && state.modified && state.holders == std::uint64_t{1} << core;
    }

    // All caches are empty.
    void clear() {
        lines_.clear();
        followed_.clear();
    }

private:
    struct Line {
        std::uint64_t holders = 0;   // a bit for each core
        std::uint64_t losers = 0;    // cores that have lost it to a write, and not come back
        std::uint32_t followed = 0;  // 1 + where in followed_; 0: it is not
        bool modified = false;       // by its only holder
        std::uint8_t taken = 0;      // how often something has happened to it, until it is followed

        bool operator==(const Line&) const = default;
    };

    // From when a core gets a line until it loses it.
    struct Stay {
        std::uint8_t core = 0;
        bool is_known = false;      // what others have written since
        std::uint64_t foreign = 0;  // bytes that others have written since it lost the line
        std::uint64_t read = 0;
        std::uint64_t written = 0;
    };
    struct Followed {
        std::vector<Stay> stays;  // one for each core that has ever been here

        Stay& of(std::uint8_t core);
    };

    CoherenceOutcome access_shared(Line& state, std::uint8_t core, LineNumber line, std::uint64_t bytes, bool writes,
                                   std::vector<CoreUseMark>* ends);
    void follow(Line& state, std::uint8_t core, LineNumber line, std::uint64_t bytes, bool writes,
                std::vector<CoreUseMark>* ends);
    CoreUseMark end(Stay* stay, LineNumber line) const;

    unsigned line_bits_;
    std::size_t most_followed_;
    LineTable<Line> lines_;
    std::vector<Followed> followed_;
};

}  // namespace bd
