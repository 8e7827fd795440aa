// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which cores hold a line, by the MESI or the MOESI protocol: any number of cores until one writes, then that core
// alone. The caches of cores are as large as memory here: a core keeps a line that it has touched until another core
// writes to it, so everything that is counted is due to sharing.
//
// Lines that move between cores again and again are followed: which bytes does each core use?

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/line_table.h"
#include "engine/base/types.h"
#include "engine/base/zeroed_array.h"
#include "engine/sharing/coherence_marks.h"

namespace bd {

// What one access did to one line, as far as other cores are concerned.
struct CoherenceOutcome {
    bool transferred = false;      // another core had modified the line
    bool lost = false;             // this core had held it until another core wrote to it
    std::uint8_t invalidated = 0;  // copies in other cores that this write invalidated
    bool is_followed = false;      // whether the line is followed

    bool is_nothing() const { return !transferred && !lost && invalidated == 0; }
};

class Coherence {
public:
    // A line is followed from its kFollowedFrom-th outcome on, as lines that move once, such as those of an array that
    // one thread fills for others, are not worth it. At most kMostFollowed lines are.
    static constexpr unsigned kFollowedFrom = 4;
    static constexpr std::size_t kMostFollowed = std::size_t{1} << 16;

    // `line_bits`: log2 of the line size in bytes, 4 to 6.
    explicit Coherence(unsigned line_bits, CoherenceProtocol protocol = CoherenceProtocol::kMesi,
                       std::size_t most_followed = kMostFollowed)
        : line_bits_(line_bits), protocol_(protocol), most_followed_(most_followed), known_(kMostCores * kKnownLines) {}

    unsigned line_bits() const { return line_bits_; }

    // `core` reads or writes `bytes` (by bit) of a line. For each core that loses a followed line, a mark is appended
    // to `ends`.
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

    // Whether accesses of `core` to the line change nothing and need no note: it has modified the line, or holds it and
    // writes() is false.
    template <class Writes>
    bool change_nothing(std::uint8_t core, LineNumber line, Writes writes) {
        const Line& state = lines_[line];
        const std::uint64_t bit = std::uint64_t{1} << core;
        if (state.followed != 0 || (state.holders & bit) == 0) return false;
        const bool is_own = state.modified && state.holders == bit;
        known_of(core, line) = known_as(line, is_own);
        return is_own || !writes();
    }

    // Whether that is known without a look into the table, as it mostly is.
    template <class Writes>
    [[gnu::always_inline]] bool knows(std::uint8_t core, LineNumber line, Writes writes) {
        const Known known = known_of(core, line);
        return known == known_as(line, true) || (known == known_as(line, false) && !writes());
    }

    // Empties all caches.
    void clear() {
        lines_.clear();
        followed_.clear();
        for (Known& known : known_) known = {};
    }

private:
    struct Line {
        std::uint64_t holders = 0;   // a bit for each core
        std::uint64_t losers = 0;    // cores that lost it to a write and have not touched it since
        std::uint32_t followed = 0;  // 1 + its index in followed_; 0: it is not followed
        bool modified = false;       // by its only holder; with kMoesi, by one of them
        std::uint8_t taken = 0;      // outcomes so far, up to kFollowedFrom

        bool operator==(const Line&) const = default;
    };

    // The use of a line by a core, from when it gets the line until it loses it.
    struct Stay {
        std::uint8_t core = 0;
        bool is_known = false;      // whether `foreign` is complete
        std::uint64_t foreign = 0;  // bytes that others have written since this core last lost the line, by bit
        std::uint64_t read = 0;
        std::uint64_t written = 0;
    };
    struct Followed {
        std::vector<Stay> stays;  // one for each core that has ever held the line

        Stay& of(std::uint8_t core);
    };

    // For each core, of the lines that share a place, that which was accessed last, if it is not followed and the core
    // holds it; and whether the core has modified it.
    using Known = std::uint64_t;
    static constexpr std::size_t kKnownLines = 2048;
    static Known known_as(LineNumber line, bool is_own) {
        return (static_cast<std::uint64_t>(line) << 1 | (is_own ? 1 : 0)) + 2;
    }
    [[gnu::always_inline]] Known& known_of(std::uint8_t core, LineNumber line) {
        return known_[core * kKnownLines + static_cast<std::uint64_t>(line) % kKnownLines];
    }
    void forget_known(LineNumber line, std::uint64_t cores);

    CoherenceOutcome access_shared(Line& state, std::uint8_t core, LineNumber line, std::uint64_t bytes, bool writes,
                                   std::vector<CoreUseMark>* ends);
    void follow(Line& state, std::uint8_t core, LineNumber line, std::uint64_t bytes, bool writes,
                std::vector<CoreUseMark>* ends);
    CoreUseMark end(Stay* stay, LineNumber line) const;

    unsigned line_bits_;
    CoherenceProtocol protocol_;
    std::size_t most_followed_;
    LineTable<Line> lines_;
    std::vector<Followed> followed_;
    ZeroedArray<Known> known_;
};

}  // namespace bd
