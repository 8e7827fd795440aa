// SPDX-License-Identifier: GPL-2.0-or-later
//
// A guest program and what it executed, as plain lists: what the engine and the naive engine are both run on.

#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/cache/prefetchers.h"
#include "engine/program/block.h"
#include "engine/trace/trace.h"
#include "program.h"

namespace bd::test {

struct Scenario {
    struct Function {
        unsigned object = 0;
        bool skipped = false;
        bool left_by_jump = false;
        unsigned recursion_levels = 1;
        unsigned caller_count = 0;
        FunctionTriggers triggers{};
        AllocatorRole allocator{};
        bool wraps_allocators = false;
        bool is_named = true;  // else it is called by its address
    };
    struct Access {
        unsigned instruction;
        std::uint32_t size;
        AccessKind kind;
        bool guarded;
        // Whether it lies at a fixed distance from the latest access that does not.
        bool joins = false;
        std::int64_t distance = 0;
    };
    struct Exit {
        unsigned instructions;  // executed on the way to it
        unsigned accesses;
        JumpKind jump;
        Branch branch;
    };
    struct Block {
        Address address;
        unsigned function;  // by index
        unsigned section;
        bool is_entry;
        std::vector<std::uint32_t> instruction_sizes;
        std::vector<Access> accesses;
        std::vector<Exit> exits;

        Address instruction_address(unsigned index) const {
            Address at = address;
            for (unsigned i = 0; i < index; ++i) at += instruction_sizes[i];
            return at;
        }
    };
    // A block run to one of its exits, or a marker.
    struct Record {
        bool is_marker = false;
        unsigned block = 0;
        unsigned exit = 0;
        Address stack_pointer = 0;
        std::vector<Address> addresses;
        Marker marker{};
        Address values[3] = {};
    };

    CacheGeometries caches{};
    TlbGeometries tlbs{};
    bool callgrind_prefetcher = false;
    PrefetchRules prefetchers{};
    PrefetchRules l2_prefetchers{};  // nothing without an L2
    std::uint32_t cores = 0;  // 0: not simulated
    bool skip_direct_recursion = false;
    std::vector<Function> functions;
    std::vector<Block> blocks;
    std::vector<Record> records;
};

inline Scenario::Record marker_record(Marker marker, Address a = 0, Address b = 0, Address c = 0) {
    Scenario::Record record;
    record.is_marker = true;
    record.marker = marker;
    record.values[0] = a;
    record.values[1] = b;
    record.values[2] = c;
    return record;
}

// A scenario in the engine's terms. Blocks have the scenario's numbers as ids, functions likewise.
class BuiltScenario {
public:
    explicit BuiltScenario(const Scenario& scenario);

    const Trace& trace() const { return trace_; }

private:
    Program program_;
    Trace trace_;
};

// Chosen at random, the same for the same seed: calls, returns, jumps and stack pointers that make sense most
// of the time and none at all sometimes, several threads, signal handlers left in every way, coroutines, skipped
// functions, separate levels of recursion and callers; stops and starts of collection, by markers and functions,
// functions that ask for dumps and zeroing, system calls, times of not being observed; and small caches of odd shapes.
Scenario random_scenario(unsigned seed);

// The same, with an L2 of a random shape.
Scenario with_l2(Scenario plain, unsigned seed);

// The same, with other policies of L2, if there is one, and LL than LRU, and maybe a hashed index and pages elsewhere.
Scenario with_policies(Scenario plain, unsigned seed);

// The same with an L2, and an LL that is exclusive of it.
Scenario with_exclusive_ll(Scenario plain, unsigned seed);

// The same with an LL that includes the others, and an L2 or none.
Scenario with_inclusive_ll(Scenario plain, unsigned seed);

// The same, with prefetchers for LL, and mostly for an L2, if there is one or comes later.
Scenario with_prefetchers(Scenario plain, unsigned seed);

// The same, with TLBs of random shapes for pages that are shorter than on any machine.
Scenario with_tlbs(Scenario plain, unsigned seed);

// The same, in which some functions allocate and free heap blocks where the scenario's data is, as an allocator may: no
// two of them overlap, but for those of a pool. And some memory is mapped. Unless `reuse`, what has been freed stays
// free, and no block is larger than 64 KiB.
Scenario with_objects(const Scenario& plain, unsigned seed, bool reuse = true);

// The same with some cores, which have to do with some accesses of others, at random.
Scenario with_cores(const Scenario& plain, unsigned seed);

}  // namespace bd::test
