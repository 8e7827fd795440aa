// SPDX-License-Identifier: GPL-2.0-or-later
//
// Requests to dump or to zero at a position in the trace: when a function with a trigger is entered or left, after a
// number of blocks, or at a marker. The engine does not serve them itself, as a dump writes files; it stops at the
// position, so that the result does not depend on the ends of batches. See Engine::replay.

#pragma once

#include <cstdint>

#include "engine/program/symbols.h"

namespace bd {

enum class RequestKind : std::uint8_t { kDumpBefore, kDumpAfter, kDumpEvery, kZero };

struct Request {
    RequestKind kind;
    const Function* function;  // the function entered or left; null for other requests
    std::uint32_t thread;      // whose counts to dump or zero; 0: those of all threads
};

}  // namespace bd
