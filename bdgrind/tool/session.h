// SPDX-License-Identifier: GPL-2.0-or-later
//
// One run of the tool: the parts that live from the end of the command line to the end of the process, and what is
// written at the end.

#pragma once

#include <memory>
#include <string_view>

#include "engine/program/block.h"
#include "engine/program/block_builder.h"
#include "engine/program/block_table.h"
#include "engine/program/symbols.h"
#include "engine/replay/engine.h"
#include "engine/sharing/virtual_order.h"
#include "tool/dumps.h"
#include "tool/function_options.h"
#include "tool/instruction_count.h"
#include "tool/instrument.h"
#include "tool/options.h"
#include "tool/sampler.h"
#include "tool/symbols.h"
#include "tool/trace_recorder.h"
#include "tool/valgrind.h"

namespace bd {

class Session {
public:
    // Takes its settings from `options`, which are complete.
    Session();

    // The block with all that observes it, if the program is observed.
    IRSB* instrument(IRSB* block, const VexGuestLayout& layout, IRType word_type);

    // Writes what has been counted since the latest dump, and counts from zero again. `thread` is meant if threads are
    // separated and it is not 0, else all are. False if it cannot be written: the counts go on then.
    bool dump(std::string_view trigger, ThreadId thread);
    // Forgets what has been counted since then.
    void zero(ThreadId thread);

    void toggle_collect(ThreadId thread);

    bool instruments() const { return instruments_; }
    bool tells_objects_apart() const { return config_.objects; }
    // Of the object file or other file of this name.
    const ObjectFile& object_file(std::string_view name) { return symbols_.object(name); }
    void set_instrumentation(bool on);
    // A thread's code is about to run; it no longer does, and so many blocks have run since the program's start.
    void before_code(ThreadId thread) {
        if (sampler_ == nullptr) return;
        sampler_->before_code(thread);
        lend_instruction_count(thread);
    }
    void after_code(ThreadId thread, std::uint64_t blocks) {
        if (sampler_ == nullptr) return;
        return_instruction_count(thread);
        sampler_->after_code({blocks, instructions_run});
    }
    // Observes no more if memory is about to end. To be called now and then, while no code runs.
    void check_memory();

    // For a look at what has been counted so far.
    const Engine& settled_engine();
    std::uint32_t parts() const { return dumps_.parts(); }

    // This process is a new child, in which only `thread` runs. All that was traced in the parent has been drained.
    void start_in_child(ThreadId thread);

    // The process is about to go on with the program at `path`. What has been counted is written, as if the guest had
    // ended, unless this is a child that has hardly begun: most only come to execute something.
    void before_exec(const char* path);
    // It has not come to that: the guest goes on. (With cold caches; the core has been asked before whether it would.)
    void exec_failed();

    // The guest has ended: writes the profile and reports. The guest's exit status stays what it is, unless the
    // profile is lost altogether: then it is 1.
    void finish();

private:
    static EngineConfig make_config(std::string_view* source);

    void serve(const Request& request);
    void observe(bool on);
    // Of this process and, as it has been forked, its parent.
    std::uint64_t blocks_run() const {
        return sampler_ != nullptr ? sampler_->sample().length.blocks : engine_.blocks_run();
    }
    bool samples_itself();

    std::string_view geometry_source_;
    EngineConfig config_;
    FunctionOptions function_options_{options};
    SymbolTable symbols_{&function_options_};
    BlockTable blocks_;
    Engine engine_;
    CodeNames names_;
    Instrumenter instrumenter_;
    std::unique_ptr<VirtualOrder> order_;      // null: threads stay in Valgrind's
    std::unique_ptr<TraceRecorder> recorder_;  // null: nothing is recorded
    std::unique_ptr<Sampler> sampler_;         // null: all is observed
    Dumps dumps_;
    bool instruments_;
    std::uint64_t blocks_at_fork_ = 0;  // in a child
    bool is_child_ = false;
};

// The one of this process; null before the command line has been read.
extern Session* session;

}  // namespace bd
