// SPDX-License-Identifier: GPL-2.0-or-later
//
// The calls that are open when the program begins to be observed in mid-run, as far as Valgrind can unwind a thread's
// stack: the trace gets them as if they were made then, each by a block of one instruction, the calling one. So the
// engine needs to know nothing of it. What these blocks cost must not count.

#pragma once

#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/program/block.h"
#include "engine/program/block_builder.h"
#include "engine/program/block_table.h"
#include "tool/symbols.h"
#include "tool/valgrind.h"

namespace bd {

class OpenCalls {
public:
    // Both must outlive it. `trace_all`: see BlockBuilder.
    OpenCalls(BlockTable& blocks, CodeNames& names, bool trace_all)
        : blocks_(blocks), names_(names), builder_(trace_all) {}

    // To be called before code of the thread runs.
    void trace(ThreadId thread);

private:
    // More callers, as deep recursion has them, are left out.
    static constexpr UInt kMostFrames = 2048;

    Addr entry_of(Addr running);
    const TracedExit& exit_at(Addr address, std::uint32_t size, JumpKind jump);

    BlockTable& blocks_;
    CodeNames& names_;
    BlockBuilder builder_;
    std::vector<Addr> instructions_;
    std::vector<Addr> stack_pointers_;
};

}  // namespace bd
