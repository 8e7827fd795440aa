// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who brings lines back, in the most literal way (docs/simulation.md, rules 22 to 27): all that ever happened in a
// call, and all stays of each line in D1.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "run_costs.h"

namespace bd::test {

// A call, or what a stack began with. Times are numbers of records.
struct NaiveScope {
    struct Loop {
        unsigned block;
        Address begin;
        Address end;
        unsigned long entered;

        bool has(Address address) const { return begin <= address && address <= end; }
    };
    struct Passed {
        Address address;
        unsigned long time;
    };

    unsigned long entered = 0;
    std::vector<Passed> passed{};
    std::vector<Loop> loops{};

    void jump_back(Address from, unsigned block, Address to, unsigned long now);
};

class NaiveLines {
public:
    // An absent line is loaded by `who` (nullopt if costs are not collected). Returns the history of that load.
    ReuseKey load(Address line, std::optional<Address> evicted, const std::optional<InstructionKey>& who);
    // It leaves, but for no line that is loaded in its place.
    void lose(Address line) { past_[line] = {loaded_by_[line], {}}; }
    void touch(Address line, unsigned long now) { touched_[line] = now; }
    unsigned long last_touch(Address line) const { return touched_.at(line); }

    // Bytes of a piece of 64 bytes or less that has left D1.
    void leave(Address begin, const std::string& used, const InstructionKey& loader);
    void forget_stays();
    std::map<InstructionKey, StayCounts> stays() const;

private:
    struct Past {
        std::optional<InstructionKey> loaded_by;
        std::optional<InstructionKey> evicted_by;
    };
    struct Stay {
        InstructionKey loader;
        std::string used;
        bool counts = true;
    };

    std::map<Address, unsigned long> touched_;
    std::map<Address, Past> past_;
    std::map<Address, std::optional<InstructionKey>> loaded_by_;
    std::map<Address, std::vector<Stay>> stays_;
};

}  // namespace bd::test
