// SPDX-License-Identifier: GPL-2.0-or-later
//
// How many instructions have run, in all code, whether it is observed or not. Only with --sample=bursts: what a part of
// the run stands for is known better by its instructions than by its blocks alone.

#pragma once

#include <cstdint>

#include "tool/valgrind.h"

namespace bd {

// Each repetition of a `rep` instruction is one. Up to date while no guest code runs.
extern std::uint64_t instructions_run;

// A superblock, instrumented or not, that adds to it what it executes up to the exit that it takes.
IRSB* count_instructions(const IRSB& block);

}  // namespace bd
