// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is asked for at a place in the trace: dumps and zeroing, when certain functions are entered or left, after so
// many blocks, or by a marker. The engine cannot serve them, as a dump means writing files; it stops there, so that
// the result does not depend on where batches end. See Engine::replay.

#pragma once

#include <cstdint>

#include "engine/program/symbols.h"

namespace bd {

enum class RequestKind : std::uint8_t { kDumpBefore, kDumpAfter, kDumpEvery, kZero };

struct Request {
    RequestKind kind;
    const Function* function;  // that is entered or left; null if it is not that
    std::uint32_t thread;      // whose counts are meant; 0: all
};

}  // namespace bd
