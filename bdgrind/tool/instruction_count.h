// SPDX-License-Identifier: GPL-2.0-or-later
//
// How many instructions have run, in all code, whether it is observed or not. Only with --sample=bursts: what a part of
// the run stands for is known better by its instructions than by its blocks alone.
//
// While a thread's code runs, the number is in its first shadow registers, behind the trace's cursor. A block adds to
// it there with a short instruction, and without accesses to memory: VEX brings the stack pointer up to date before
// each of these, as it may fault.

#pragma once

#include <cstdint>

#include "tool/valgrind.h"

namespace bd {

// Each repetition of a `rep` instruction is one. Up to date while no guest code runs.
extern std::uint64_t instructions_run;

// A superblock, instrumented or not, that adds to the number what it executes up to the exit that it takes.
IRSB* count_instructions(const IRSB& block, const VexGuestLayout& layout);

// A thread's code is about to run; it no longer does.
void lend_instruction_count(ThreadId thread);
void return_instruction_count(ThreadId thread);

}  // namespace bd
