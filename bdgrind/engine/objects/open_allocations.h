// SPDX-License-Identifier: GPL-2.0-or-later
//
// Calls of functions that allocate, from when they are entered until they are left.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/types.h"
#include "engine/objects/object_groups.h"
#include "engine/program/symbols.h"

namespace bd {

struct OpenAllocation {
    std::size_t call;       // among the open calls of its stack
    Address stack_pointer;  // where it began
    Address return_address;
    ArcId arc;
    const Function* function;
    std::uint64_t size;     // of the block that it was asked for, in bytes
    std::uint64_t element;  // of one of its elements
    Address before;         // the block that it reallocates
    GroupId group;          // of the blocks that it allocates
    Address allocated;      // the latest of them; 0: none
    // Of functions that the user says allocate: whether one is open around it, and the first of the stack's inner
    // blocks that was allocated since this call began.
    bool in_named;
    std::size_t first_inner;
};

// A block that was allocated while a function was open that the user says allocates. It may be what that returns, or
// what a pool gets to hand out parts of: that is seen when the function returns. Until then its size is not noted.
struct InnerBlock {
    Address base;
    std::uint64_t size;     // bytes
    std::uint64_t element;  // of one of its elements
    GroupId group;
};

// Those of a call stack.
struct OpenAllocations {
    std::vector<OpenAllocation> calls;  // the outermost first
    std::vector<InnerBlock> inner;      // in the order of time
};

}  // namespace bd
