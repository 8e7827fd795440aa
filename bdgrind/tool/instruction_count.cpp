// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/instruction_count.h"

#include <span>
#include <utility>

namespace bd {

std::uint64_t instructions_run = 0;

namespace {

IRTemp assign(IRSB* block, IRExpr* value) {
    const IRTemp temporary = newIRTemp(block->tyenv, Ity_I64);
    addStmtToIRSB(block, IRStmt_WrTmp(temporary, value));
    return temporary;
}

void add_count(IRSB* block, unsigned instructions) {
    if (instructions == 0) return;
    IRExpr* const place = mkIRExpr_HWord(reinterpret_cast<HWord>(&instructions_run));
    const IRTemp before = assign(block, IRExpr_Load(Iend_LE, Ity_I64, place));
    const IRTemp sum =
        assign(block, IRExpr_Binop(Iop_Add64, IRExpr_RdTmp(before), IRExpr_Const(IRConst_U64(instructions))));
    addStmtToIRSB(block, IRStmt_Store(Iend_LE, place, IRExpr_RdTmp(sum)));
}

}  // namespace

IRSB* count_instructions(const IRSB& block) {
    IRSB* const out = deepCopyIRSBExceptStmts(&block);
    unsigned instructions = 0;
    for (IRStmt* const statement : std::span(block.stmts, static_cast<std::size_t>(block.stmts_used))) {
        if (statement->tag == Ist_Exit) add_count(out, std::exchange(instructions, 0));
        addStmtToIRSB(out, statement);
        if (statement->tag == Ist_IMark) ++instructions;
    }
    add_count(out, instructions);
    return out;
}

}  // namespace bd
