// SPDX-License-Identifier: GPL-2.0-or-later
//
// The command line. One table holds all options: fields, defaults, parser, --help and the manual expand from it.

#pragma once

#include <cstdint>
#include <string_view>

#include "engine/geometry.h"

namespace bd {

// A cache named on the command line.
struct CacheOption {
    bool given = false;
    CacheGeometry geometry{};
};

enum class EngineThreadChoice : std::uint8_t { kNo, kYes, kAuto };

// kind, field, option, default, value, help. Kinds:
//   Flag   yes or no; Auto   auto, yes or no; Text   a string; Cache   <size>,<ways>,<line size>
// BD_OPTION_GROUP(title) begins a group in --help.
#define BD_OPTIONS(BD_OPTION, BD_OPTION_GROUP)                                                          \
    BD_OPTION_GROUP("output")                                                                           \
    BD_OPTION(Text, out_file, "bdgrind-out-file", "bdgrind.out.%p", "<file>",                           \
              "write the profile to <file>; %p is the process id,\n%q{VAR} the environment variable VAR") \
    BD_OPTION(Flag, dump_line, "dump-line", true, "no|yes", "tell source lines apart")                  \
    BD_OPTION(Flag, dump_instr, "dump-instr", false, "no|yes", "tell instructions apart")               \
    BD_OPTION(Flag, compress_strings, "compress-strings", true, "no|yes",                               \
              "write each name once and a number from then on")                                         \
    BD_OPTION(Flag, compress_pos, "compress-pos", true, "no|yes",                                       \
              "write positions as differences from the one before")                                     \
    BD_OPTION_GROUP("caches")                                                                           \
    BD_OPTION(Flag, cache_sim, "cache-sim", true, "no|yes", "simulate the caches")                      \
    BD_OPTION(Flag, cache_use, "cacheuse", true, "no|yes",                                              \
              "watch how each cache line is used, and charge what\n"                                    \
              "was wasted to all calls that were open when it was\nloaded")                              \
    BD_OPTION(Cache, i1, "I1", {}, "<size>,<ways>,<line size>", "the L1 instruction cache, in bytes")   \
    BD_OPTION(Cache, d1, "D1", {}, "<size>,<ways>,<line size>", "the L1 data cache, in bytes")          \
    BD_OPTION(Cache, ll, "LL", {}, "<size>,<ways>,<line size>", "the last-level cache, in bytes")       \
    BD_OPTION_GROUP("speed")                                                                            \
    BD_OPTION(Auto, engine_thread, "engine-thread", EngineThreadChoice::kAuto, "auto|yes|no",           \
              "run the simulation on a thread of its own; auto: if\n"                                   \
              "more than one processor is available")                                                   \
    BD_OPTION_GROUP("for those who work on bdgrind")                                                    \
    BD_OPTION(Text, record_trace, "record-trace", nullptr, "<file>",                                    \
              "write all that the engine gets to see to <file>, for\nbdreplay")

namespace option_type {
using Flag = bool;
using Auto = EngineThreadChoice;
using Text = const char*;
using Cache = CacheOption;
}  // namespace option_type

struct Options {
#define BD_OPTION_FIELD(kind, field, name, initial, value, help) option_type::kind field = initial;
#define BD_NO_GROUP(title)
    BD_OPTIONS(BD_OPTION_FIELD, BD_NO_GROUP)
#undef BD_NO_GROUP
#undef BD_OPTION_FIELD
};

// The options of this run.
extern Options options;

// Takes one argument of the command line. False if it is not an option of ours; a wrong value ends the process with
// a sentence that says what is wrong.
bool take_option(const char* argument);

void print_usage();
void print_debug_usage();

}  // namespace bd
