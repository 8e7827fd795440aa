// SPDX-License-Identifier: GPL-2.0-or-later
//
// One run of the tool: the parts that live from the end of the command line to the end of the process, and what is
// written at the end.

#pragma once

#include <memory>
#include <string_view>

#include "engine/block.h"
#include "engine/engine.h"
#include "engine/symbols.h"
#include "tool/function_options.h"
#include "tool/instrument.h"
#include "tool/options.h"
#include "tool/symbols.h"
#include "tool/trace_recorder.h"

namespace bd {

class Profile;

// Ends the process with a sentence if the profile could not be written where it is to go: better to know that before
// the program has run for hours.
void check_out_file();

class Session {
public:
    // Takes its settings from `options`, which are complete.
    Session();

    Instrumenter& instrumenter() { return instrumenter_; }

    // The guest has ended: writes the profile and reports. The guest's exit status stays what it is, unless the
    // profile is lost altogether: then it is 1.
    void finish();

private:
    static EngineConfig make_config(std::string_view* source);

    bool write_profile(const char* path, const Profile& profile) const;

    std::string_view geometry_source_;
    EngineConfig config_;
    FunctionOptions function_options_{options};
    SymbolTable symbols_{&function_options_};
    BlockTable blocks_;
    Engine engine_;
    CodeNames names_;
    Instrumenter instrumenter_;
    std::unique_ptr<TraceRecorder> recorder_;  // null: nothing is recorded
};

}  // namespace bd
