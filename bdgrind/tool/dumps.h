// SPDX-License-Identifier: GPL-2.0-or-later
//
// The files that the profile goes into: a part for each dump in mid-run, and what is left at the end. They are named as
// Callgrind names them: <file>.<part>, the last one <file>; and -<thread> behind that with --separate-threads=yes. All
// parts together are the profile. With --combine-dumps=yes they stand one behind the other in <file>. When the process
// goes on with another program, what has been counted so far is a part, too, and that program's numbers follow. Each
// part has its context tree and its data objects beside it, if there are any.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/replay/engine.h"
#include "profile/profile.h"
#include "tool/job_rank.h"
#include "tool/out_file.h"
#include "tool/out_files.h"

namespace bd {

// The guest's command line.
void write_command(TextOutput& out);

class Sampler;

// Of what profiles give the costs.
PositionKinds position_kinds();

class Dumps {
public:
    // Ends the process with a sentence if the profile could not be written. `geometry_source`: where the geometry of
    // the caches is known from. Both must stay.
    Dumps(Engine& engine, std::string_view geometry_source);

    // What is counted is a sample from here on. It must stay.
    void set_sampler(const Sampler& sampler) { sampler_ = &sampler; }

    // Writes what has been counted since the latest dump as the next part, and makes the engine forget it; of guest
    // thread `thread`, or of all (0). False if something cannot be written anywhere: it is kept for the next part.
    bool write(std::string_view trigger, std::uint32_t thread);

    // Writes what the engine, which is finished, still has. False if it cannot be written anywhere.
    bool write_last();

    // The process is about to go on with another program, which is told what it must not overwrite. As write(), but
    // nothing is forgotten yet; without `with_part`, nothing is written. False: see there.
    bool begin_exec(bool with_part);
    // It has not come to that: as if nothing had been written, or if that cannot be undone, as after write().
    void exec_failed();

    // How many there are.
    std::uint32_t parts() const { return parts_; }

    // Says where all is that was written, and how to read it.
    void write_ending(TextOutput& out) const;

    // What all of them add up to, by event; and of that, the paths that the context tree does not separate.
    ConstCosts totals() const { return totals_; }
    ConstCosts other_paths() const { return other_paths_; }

    // The engine has forgotten what `thread` (0: every thread) has counted so far.
    void zeroed(std::uint32_t thread);

    // This process is a child of the one that the parts so far are about.
    void start_in_child();

private:
    // One of them, which may be a file for each thread.
    struct Part {
        std::string_view trigger;
        bool is_last;
    };

    // Where parts are: under the profile's own name, under that with a part's number, and elsewhere.
    struct Places {
        bool plain = false;
        bool numbered = false;
        std::vector<Path> elsewhere{};
        std::uint32_t more_elsewhere = 0;
    };
    static constexpr std::size_t kMostElsewhere = 16;  // are named at the end; each is named when it is written

    void note_place(const PartPlace& place, bool has_plain_name);
    template <class Use>
    void for_each_beside(Use use);
    std::vector<std::uint32_t> threads_with_counts() const;
    bool write(const Part& part, std::uint32_t thread);
    std::uint64_t& counted_from(std::uint32_t thread);

    Engine& engine_;
    const Sampler* sampler_ = nullptr;  // null: all is counted
    std::string_view geometry_source_;
    JobRank job_rank_;
    OutFile file_{OutFile::Kind::kProfile};
    std::unique_ptr<OutFile> tree_file_;     // null: there is no context tree
    std::unique_ptr<OutFile> objects_file_;  // null: without data objects
    std::unique_ptr<OutFile> paths_file_;    // null: paths within functions are not followed
    std::unique_ptr<OutFile> why_file_;      // null: it is not asked why lines are loaded
    std::unique_ptr<OutFile> sharing_file_;  // null: there is but one core
    bool any_is_lost_ = false;               // a part of these, at least
    std::uint32_t parts_;
    Places places_;
    std::vector<std::uint64_t> totals_;
    std::vector<std::uint64_t> other_paths_;
    std::uint32_t parts_before_exec_ = 0;
    Places places_before_exec_;
    std::vector<std::uint64_t> totals_before_exec_;
    std::vector<std::uint64_t> other_paths_before_exec_;
    // Engine::blocks_run() when the counts were last 0: of each thread, and of those not mentioned.
    std::vector<std::uint64_t> counted_from_;
    std::uint64_t all_counted_from_ = 0;
};

}  // namespace bd
