// SPDX-License-Identifier: GPL-2.0-or-later
//
// For tests of what is written in Callgrind's format: the file of a run as text.

#pragma once

#include <string>

#include "profile/callgrind_writer.h"
#include "text.h"

namespace bd::test {

inline constexpr PositionKinds kLines{.lines = true, .instructions = false};

inline std::string write(const Engine& engine, const WriteOptions& options, PositionKinds kinds) {
    const Profile profile(engine, kinds);
    Text text;
    RunDescription run;
    run.creator = "bdgrind-1.0";
    run.pid = 4711;
    run.command = "./app -x";
    run.descriptions = {"Options: --cache-sim=no", "Trigger: Program termination"};
    CallgrindWriter(text, options).write(run, profile);
    return text.finished();
}

}  // namespace bd::test
