// SPDX-License-Identifier: GPL-2.0-or-later
//
// VEX IR in, VEX IR out: adds to each superblock the few stores that write its trace record, and describes the block
// to the engine. All that touches memory is seen here: loads, stores, their guarded forms, compare-and-swap,
// load-linked and store-conditional, and helpers that say so (dirty calls).

#pragma once

#include "engine/program/block.h"
#include "engine/program/block_builder.h"
#include "engine/program/block_table.h"
#include "tool/symbols.h"
#include "tool/valgrind.h"

namespace bd {

class Instrumenter {
public:
    // Both must outlive it. `trace_all`: see BlockBuilder.
    Instrumenter(BlockTable& blocks, CodeNames& names, bool trace_all)
        : blocks_(blocks), names_(names), builder_(trace_all) {}

    IRSB* instrument(IRSB* in, const VexGuestLayout& layout, IRType address_type);

private:
    BlockTable& blocks_;
    CodeNames& names_;
    BlockBuilder builder_;
};

}  // namespace bd
