// SPDX-License-Identifier: GPL-2.0-or-later
//
// The buffer between instrumented code and the engine, see TraceFeed. Generated code knows the cursor alone: it writes
// there and moves it, and calls pass_on_trace() at the start of a block if the cursor has passed the limit. Behind the
// limit there is room for the longest record.
//
// While a thread's code runs, the cursor is in its first shadow registers, next to its own, where a short
// instruction reaches them. (--cache-sim=no: 0.95 of the time.)

#pragma once

#include "engine/replay/engine.h"
#include "engine/trace/trace.h"
#include "tool/options.h"
#include "tool/trace_feed.h"
#include "tool/valgrind.h"

namespace bd {

// No record may be longer, in words.
inline constexpr std::size_t kMaxRecordWords = 8192;

class TraceRecorder;
class VirtualOrder;

// To be called once, before any code runs. `engine` gets the trace, on so many threads of its own. `order`, if not
// null, gets it first, and `recorder`, if not null, before the engine. What the engine asks for on the way is served by
// `serve`, which is called on Valgrind's own thread while the engine waits; it may look at the engine, but not call
// anything of this file.
void start_trace(Engine& engine, VirtualOrder* order, TraceRecorder* recorder, void (*serve)(const Request&),
                 EngineThreadCount threads);

// To be called when a thread's code begins to run, and when it no longer does.
void enter_code(ThreadId thread);
void leave_code();

// Lets the engine have what is in the buffer, and goes on with an empty one. Returns at once if the engine has threads
// of its own. Called by generated code.
void pass_on_trace();

// Waits until all records written so far have been replayed: the engine may be looked at then. May be called at any
// time, also while a block is writing its record, as the cursor stays where it is: gdb stops within blocks.
void drain_trace();

// The same, and the engine has seen a marker record behind them.
void mark_now(Marker marker, Word first, Word second = 0, Word third = 0);

// Ends the engine's threads, if there are any, with all done. They are started again with a later batch, but not as
// long as there are holds.
void leave_threads();
void hold_threads();
void unhold_threads();

// In a forked child, whose parent had drained the trace.
void trace_in_child();

// The order of threads, if there is one, with all that has been written so far; else null. Not while code runs.
VirtualOrder* up_to_date_order();

// Appends the record of a block without accesses. Not while code runs.
void trace_step(const TracedExit& exit, Address stack_pointer);

// Appends a marker record. If code runs, it will not go on: the block that is writing its record is left.
void mark_trace(Marker marker, Word first, Word second = 0, Word third = 0);

}  // namespace bd
