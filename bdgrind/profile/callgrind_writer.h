// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes a profile in callgrind format, as its readers really read it: docs/format.md.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/text_output.h"
#include "profile/file_head.h"
#include "profile/profile.h"
#include "profile/run_sample.h"

namespace bd {

struct WriteOptions {
    bool compress_strings = true;    // names once, then "(number)"
    bool compress_positions = true;  // positions relative to the one before
    bool compat_events = false;      // only events that Callgrind has
    bool hot_code = false;           // addresses and costs of a few instructions, in comments
    RunSample sample{};              // all numbers are estimates from that, and how good they are is told in comments
};

class CallgrindWriter {
public:
    CallgrindWriter(TextOutput& out, const WriteOptions& how) : out_(out), options_(how) {}

    // Writes a whole file. Whether that worked, `out` knows when it is finished.
    void write(const RunDescription& run, const Profile& profile);

private:
    // The numbers of one kind of names in this file: dense, in the order of their first use.
    class Names {
    public:
        // The number of the name with this id, and whether it is written for the first time.
        std::pair<std::uint32_t, bool> number(std::uint32_t id);

    private:
        std::vector<std::uint32_t> numbers_;  // by id; 0: not used yet
        std::uint32_t used_ = 0;
    };

    void write_header(const RunDescription& run, const Profile& profile);
    void write_function(const FunctionProfile& function);
    void write_origin(const ThreadOrigin& origin);
    void write_hot_code(const Profile& profile);
    void write_intervals();
    void write_call(const FunctionProfile& function, const CallRow& call);
    void write_jump(const JumpRow& jump);
    // Writes the number of a name. Returns whether the name is to follow.
    bool begin_name(std::string_view key, Names& names, std::uint32_t id);
    void write_name(std::string_view key, Names& names, std::uint32_t id, std::string_view name);
    void write_file(std::string_view key, const SourceFile& file);
    void write_object(std::string_view key, const ObjectFile& object);
    void write_context(std::string_view key, const Context& context);
    void write_position(const Position& position);
    void write_target(const Position& target);
    void write_counts(ConstCosts counts);
    void write_totals(ConstCosts totals);
    // Of `in_start`, which may be empty, the start of a sampled run has counted a part.
    void write_costs(ConstCosts costs, ConstCosts in_start);
    void write_self_costs(ConstCosts costs, ConstCosts in_start);
    std::uint64_t estimate_times(std::uint64_t count, std::uint64_t in_start) const {
        return options_.sample.estimate_times(count, in_start);
    }
    // Null if it has none of that.
    const FunctionProfile* in_start(const Context& context, PositionKinds kinds) const;

    TextOutput& out_;
    WriteOptions options_;
    FileEvents events_;
    PositionKinds kinds_;

    Names objects_;
    Names files_;
    Names functions_;
    // As the reader has it:
    const ObjectFile* object_ = nullptr;
    const SourceFile* file_ = nullptr;
    Position last_{};
    // Of a sample: the function in the start; the self costs so far, as bursts counted them; and estimates that are
    // being written.
    const FunctionProfile* start_ = nullptr;
    std::vector<std::uint64_t> counted_;
    std::vector<std::uint64_t> estimates_;
};

}  // namespace bd
