// SPDX-License-Identifier: GPL-2.0-or-later
//
// --record-trace: writes to a file what the engine gets to see, so that bdreplay can do the same again. A recording
// that fails is given up with one sentence; the run goes on.
//
// The file is open only while it is written to: the guest must not find one more file descriptor than it has.

#pragma once

#include <memory>
#include <string_view>

#include "engine/trace/trace.h"
#include "engine/trace/trace_file.h"
#include "engine/trace/trace_writer.h"

namespace bd {

class TraceRecorder {
public:
    // Begins the file that `format` names, as in --bdgrind-out-file. Ends the process with a sentence if it cannot be
    // written: better to know that before the program has run for hours.
    TraceRecorder(const char* format, const TraceRun& run);
    ~TraceRecorder();

    // Whole records. All of them are in the file when it returns, for the case that the engine fails on them.
    void write(Batch batch);

    // The end of the trace; what comes later is left out.
    void finish();

private:
    class Output;

    // Whether there still is something to write to. A forked child, which has a copy of the recorder, has not: the file
    // is its parent's, and a trace begins with a program's start.
    bool is_open();
    // Gives up if anything could not be written.
    void check();

    std::unique_ptr<Output> output_;  // null: given up
    TraceWriter writer_;
    int pid_;
};

}  // namespace bd
