// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/instruction_count.h"

#include <span>
#include <utility>

#include "tool/trace_feed.h"

namespace bd {

std::uint64_t instructions_run = 0;

namespace {

// In the shadow registers.
constexpr PtrdiffT kOffset = sizeof(TraceCursor);
static_assert(kOffset % sizeof instructions_run == 0);

IRExpr* assign(IRSB* block, IRExpr* value) {
    const IRTemp temporary = newIRTemp(block->tyenv, Ity_I64);
    addStmtToIRSB(block, IRStmt_WrTmp(temporary, value));
    return IRExpr_RdTmp(temporary);
}

void add_count(IRSB* block, unsigned instructions, int offset) {
    if (instructions == 0) return;
    IRExpr* const before = assign(block, IRExpr_Get(offset, Ity_I64));
    IRExpr* const more = IRExpr_Const(IRConst_U64(instructions));
    addStmtToIRSB(block, IRStmt_Put(offset, assign(block, IRExpr_Binop(Iop_Add64, before, more))));
}

}  // namespace

IRSB* count_instructions(const IRSB& block, const VexGuestLayout& layout) {
    const int offset = layout.total_sizeB + static_cast<int>(kOffset);
    IRSB* const out = deepCopyIRSBExceptStmts(&block);
    unsigned instructions = 0;
    for (IRStmt* const statement : std::span(block.stmts, static_cast<std::size_t>(block.stmts_used))) {
        if (statement->tag == Ist_Exit) add_count(out, std::exchange(instructions, 0), offset);
        addStmtToIRSB(out, statement);
        if (statement->tag == Ist_IMark) ++instructions;
    }
    add_count(out, instructions, offset);
    return out;
}

void lend_instruction_count(ThreadId thread) {
    VG_(set_shadow_regs_area)(thread, 1, kOffset, sizeof instructions_run,
                              reinterpret_cast<const UChar*>(&instructions_run));
}

void return_instruction_count(ThreadId thread) {
    VG_(get_shadow_regs_area)(thread, reinterpret_cast<UChar*>(&instructions_run), 1, kOffset,
                              sizeof instructions_run);
}

}  // namespace bd
