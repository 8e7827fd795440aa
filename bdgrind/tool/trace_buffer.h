// SPDX-License-Identifier: GPL-2.0-or-later
//
// The buffer between instrumented code and the engine. Generated code knows two variables, the cursor and the limit:
// it writes at the cursor and moves it, and calls drain_trace() at the start of a block if the cursor has passed the
// limit. Behind the limit there is room for the longest record.

#pragma once

#include "engine/engine.h"
#include "engine/trace.h"

namespace bd {

extern Word* trace_cursor;
extern Word* trace_limit;

// No record may be longer, in words.
inline constexpr std::size_t kMaxRecordWords = 8192;

// To be called once, before any code runs. `engine` gets the trace.
void start_trace(Engine& engine);

// Replays what is in the buffer and empties it.
void drain_trace();

// Appends a marker record.
void mark_trace(Marker marker, Word first, Word second = 0, Word third = 0);

}  // namespace bd
