// SPDX-License-Identifier: GPL-2.0-or-later
//
// The open calls of functions that allocate.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/types.h"
#include "engine/objects/object_groups.h"
#include "engine/program/symbols.h"

namespace bd {

struct OpenAllocation {
    std::size_t call;       // index among the open calls of its stack, of which SpecialCall::allocates
    Address stack_pointer;  // when it began
    const Function* function;
    std::uint64_t size;     // bytes asked for
    std::uint64_t element;  // bytes of an element of the block
    Address before;         // the block that is reallocated
    GroupId group;          // of the blocks that are allocated
    Address allocated;      // the latest block; 0: none
    // Whether a call of a function that --alloc-fn names is open around it; and the index of the first inner block of
    // the stack that was allocated since this call began.
    bool in_named;
    std::size_t first_inner;
};

// A block that was allocated during a call of a function that --alloc-fn names. It may be the block that the function
// returns, or one that refills a pool, of which parts are handed out: that is known when the function returns. Until
// then, its size is not counted.
struct InnerBlock {
    Address base;
    std::uint64_t size;     // bytes
    std::uint64_t element;  // bytes of an element
    GroupId group;
};

// Of one call stack.
struct OpenAllocations {
    std::vector<OpenAllocation> calls;  // outermost first
    std::vector<InnerBlock> inner;      // in the order of their allocation
};

}  // namespace bd
