// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/dumps.h"

#include <algorithm>
#include <span>
#include <utility>

#include "profile/callgrind_writer.h"
#include "tool/options.h"
#include "tool/valgrind.h"

namespace bd {
namespace {

// What the option says, with the process id and the like put in.
std::vector<char> out_file() {
    HChar* const path = VG_(expand_file_name)("--bdgrind-out-file", options.out_file);
    const std::vector<char> result(path, path + VG_(strlen)(path));
    VG_(free)(path);
    return result;
}

std::string_view view(const std::vector<char>& text) {
    return {text.data(), text.size()};
}

}  // namespace

void check_out_file() {
    TextBuffer path;
    path << view(out_file());
    vg_stat before;
    const bool existed = !sr_isError(VG_(stat)(path.c_str(), &before));
    // What is there stays as it is until there is something new to write.
    if (const int error = FileOutput(path.c_str(), FileOutput::Mode::kAppend).error(); error != 0) {
        VG_(umsg)("The profile could not be written to %s (--bdgrind-out-file): %s.\n", path.c_str(),
                  error_text(error));
        VG_(exit)(1);
    }
    if (!existed) VG_(unlink)(path.c_str());
}

void write_command(TextOutput& out) {
    out << VG_(args_the_exename);
    const Word count = VG_(sizeXA)(VG_(args_for_client));
    for (Word i = 0; i < count; ++i) {
        out << ' ' << *static_cast<HChar**>(VG_(indexXA)(VG_(args_for_client), i));
    }
}

Dumps::Dumps(Engine& engine, std::string_view geometry_source)
    : engine_(engine), geometry_source_(geometry_source), path_(out_file()), totals_(engine.events().width()) {}

bool Dumps::write(std::string_view trigger, std::uint32_t thread) {
    engine_.settle();
    ++parts_;
    const Part part{.trigger = trigger, .is_last = false};
    const std::vector<std::uint32_t> threads = thread == 0 ? threads_with_counts() : std::vector{thread};
    bool all_written = true;
    for (const std::uint32_t each : threads) {
        if (!write(part, each)) {
            all_written = false;
            continue;
        }
        engine_.zero(each);
        zeroed(each);
    }
    return all_written;
}

bool Dumps::write_last() {
    ++parts_;
    const Part part{.trigger = "Program termination", .is_last = true};
    bool written = true;
    for (const std::uint32_t thread : threads_with_counts()) {
        written &= write(part, thread);
    }
    return written;
}

// Where there is nothing at all to write, a file that says so is still better than none.
std::vector<std::uint32_t> Dumps::threads_with_counts() const {
    std::vector<std::uint32_t> threads = engine_.threads();
    if (!engine_.config().separate_threads) return threads;
    std::erase_if(threads, [this](std::uint32_t thread) {
        return std::ranges::all_of(engine_.totals(thread), [](std::uint64_t count) { return count == 0; });
    });
    if (threads.empty()) threads.push_back(1);
    return threads;
}

bool Dumps::write(const Part& part, std::uint32_t thread) {
    const Profile profile(engine_, {.lines = options.dump_line, .instructions = options.dump_instr}, thread);
    TextBuffer ending;
    if (is_parents_) ending << ".pid" << VG_(getpid)();
    if (!options.combine_dumps) {
        if (!part.is_last) ending << '.' << parts_;
        if (thread != 0) ending << (thread < 10 ? "-0" : "-") << thread;
    }
    const auto mode = options.combine_dumps && std::exchange(file_begun_, true) ? FileOutput::Mode::kAppend
                                                                               : FileOutput::Mode::kReplace;
    TextBuffer path;
    path << view(path_) << ending.view();
    if (!write_file(path.c_str(), mode, part, profile, thread)) {
        TextBuffer elsewhere;
        elsewhere << VG_(tmpdir)() << "/bdgrind.out." << VG_(getpid)() << ending.view();
        if (!write_file(elsewhere.c_str(), mode, part, profile, thread)) return false;
        VG_(umsg)("The profile is in %s instead.\n", elsewhere.c_str());
    }
    add(totals_, profile.totals());
    return true;
}

bool Dumps::write_file(const char* path, FileOutput::Mode mode, const Part& part, const Profile& profile,
                       std::uint32_t thread) {
    TextBuffer command;
    TextBuffer range;
    TextBuffer trigger;
    write_command(command);
    range << "Timerange: Basic block " << counted_from(thread) << " - " << engine_.blocks_run();
    trigger << "Trigger: " << part.trigger;
    const EngineConfig& config = engine_.config();
    RunDescription run{.creator = "bdgrind-" PACKAGE_VERSION,
                       .pid = static_cast<std::uint64_t>(VG_(getpid)()),
                       .command = command.view(),
                       .part = parts_,
                       .thread = thread,
                       .caches = config.cache_sim ? &config.caches : nullptr,
                       .geometry_source = geometry_source_,
                       .descriptions = {range.view(), trigger.view()}};
    if (const char* const unit = unit_description(options.collect_systime)) run.descriptions.push_back(unit);
    FileOutput file(path, mode);
    if (file.error() == 0) {
        CallgrindWriter(file, {.compress_strings = options.compress_strings,
                               .compress_positions = options.compress_pos,
                               .compat_events = options.compat_events})
            .write(run, profile);
        file.finish();
    }
    if (file.error() == 0) return true;
    VG_(umsg)("The profile could not be written to %s: %s.\n", path, error_text(file.error()));
    return false;
}

std::uint64_t& Dumps::counted_from(std::uint32_t thread) {
    if (counted_from_.size() <= thread) counted_from_.resize(thread + 1, all_counted_from_);
    return counted_from_[thread];
}

void Dumps::zeroed(std::uint32_t thread) {
    if (thread != 0) {
        counted_from(thread) = engine_.blocks_run();
    } else {
        all_counted_from_ = engine_.blocks_run();
        counted_from_.clear();
    }
}

void Dumps::start_in_child() {
    parts_ = 0;
    file_begun_ = false;
    std::ranges::fill(totals_, 0);
    is_parents_ = path_ == out_file();
    path_ = out_file();
    zeroed(0);
}

}  // namespace bd
