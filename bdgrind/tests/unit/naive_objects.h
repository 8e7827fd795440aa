// SPDX-License-Identifier: GPL-2.0-or-later
//
// Data objects in the most literal way: docs/simulation.md, rules 41 to 46. Blocks do not overlap, unless one
// lies within another.

#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "naive_execution.h"
#include "scenario.h"

namespace bd::test {

class NaiveObjects {
public:
    // `depth`: how many callers tell heap blocks apart; 0: the run has no data objects.
    NaiveObjects(const Scenario& scenario, unsigned depth) : scenario_(scenario), depth_(depth) {}

    // `now` has entered a function that allocates, or has left it, as `record` says.
    void on_allocator(NaiveExecution& now, const Scenario::Record& record);
    // The block that begins there; nothing if there is none.
    void free(Address base);

    // `now`: the execution that maps it; null: none has run yet.
    void map(Address begin, Address end, const NaiveExecution* now);
    void unmap(Address begin, Address end);

    // Whose byte of data it is that `now` accesses; `loads`: it loads a line for it.
    std::string group_at(Address address, const NaiveExecution& now, const Executions& all, bool loads = true);
    // How the bytes of heap blocks were used that a line has which leaves D1, 64 bytes of it at most at once, by
    // group, offset and `used`, as PatternKey has them. `loaded_for`: the group that the line was loaded for.
    struct Pattern {
        std::string group;
        Address offset;
        std::string used;
        Address block_size;
        bool may_be_forgotten;
    };
    std::vector<Pattern> patterns_of(Address begin, Address bytes, const std::function<bool(Address)>& is_used,
                                     const std::string& loaded_for) const;
    // Whose code `block` is.
    std::string group_of_code(const Scenario::Block& block) const;
    // Whether a block has been allocated where another one still was, but for those of pools.
    bool blocks_overlap() const { return blocks_overlap_; }

private:
    struct Range {
        Address base;
        Address size;
        std::string group;
        bool is_new = false;     // a block, but no large one: its first line has not been loaded since
        bool has_other = false;  // it is free, and something else has been put there since

        bool has(Address address) const { return address - base < size; }
    };

    void allocate(NaiveExecution& now, Allocation& call, Address result);
    void allocate_named(NaiveExecution& now, Allocation& call, Address result, Address size);
    void add(NaiveExecution& now, Allocation& call, Address result, Address size);
    bool is_named(unsigned function) const { return scenario_.functions[function].allocator.may_be_within; }
    bool is_part(const Range& block) const;
    Range* block_at(Address address);
    bool fits(const NaiveExecution& now, const Allocation& call, Address result, Address size);
    bool is_memory(const NaiveExecution& now, Address begin, Address size) const;
    bool shrink(Address base, Address size, const std::string& group, Address asked);
    bool is_mapped(Address begin, Address end) const;
    void remove_mapping(Address begin, Address end);
    void forget_blocks(Address begin, Address end);
    std::string mapping_group(const NaiveExecution& now) const;
    std::string name_of_instruction(const Site& site) const;
    bool is_nameless_jump(const Call& call) const;
    std::string place_of(const NaiveExecution& now, bool is_heap) const;
    static const Range* innermost(const std::vector<Range>& ranges, Address address);

    const Scenario& scenario_;
    const unsigned depth_;
    std::vector<Range> heap_;
    std::vector<Range> freed_;  // what lies there until something else does
    std::vector<Range> mapped_;
    bool blocks_overlap_ = false;

    // What the user says allocates, by function: whether it has handed out parts of something; and blocks that others
    // have allocated for it, and that it has returned as if they were smaller.
    struct Asked {
        Address base;
        Address size;
        std::string group;
        Address asked;
    };
    std::set<unsigned> pools_;
    std::map<unsigned, std::vector<Asked>> doubtful_;
};

}  // namespace bd::test
