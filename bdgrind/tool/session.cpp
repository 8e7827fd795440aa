// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/session.h"

#include "profile/callgrind_writer.h"
#include "profile/profile.h"
#include "profile/run_report.h"
#include "tool/engine_thread.h"
#include "tool/machine_caches.h"
#include "tool/output.h"
#include "tool/trace_buffer.h"
#include "tool/valgrind.h"

namespace bd {
namespace {

// A text in memory, to be handed around.
class TextBuffer final : public TextOutput {
public:
    std::string_view text() {
        finish();
        return {text_.data(), text_.size()};
    }

private:
    bool write(std::string_view text) override {
        text_.insert(text_.end(), text.begin(), text.end());
        return true;
    }
    std::vector<char> text_;
};

// Where the profile goes if it cannot go where it should.
void fallback_path(HChar (&path)[512]) {
    VG_(snprintf)(path, sizeof path, "%s/bdgrind.out.%d", VG_(tmpdir)(), VG_(getpid)());
}

void write_command(TextOutput& out) {
    out << VG_(args_the_exename);
    const Word count = VG_(sizeXA)(VG_(args_for_client));
    for (Word i = 0; i < count; ++i) {
        out << ' ' << *static_cast<HChar**>(VG_(indexXA)(VG_(args_for_client), i));
    }
}

}  // namespace

EngineConfig Session::make_config(std::string_view* source) {
    const MachineCaches machine = find_machine_caches();
    const EngineConfig config = engine_config(options, machine.caches);
    const bool all_given = options.i1.given && options.d1.given && options.ll.given;
    const bool one_given = options.i1.given || options.d1.given || options.ll.given;
    *source = geometry_source(options, machine.source);
    if (!config.cache_sim) return config;

    if (!all_given && VG_(clo_verbosity) > 0) {
        VG_(umsg)("Simulated caches%s: %s\n", one_given ? " not named on the command line" : "", machine.source);
    }
    for (const CacheGeometry& first : {config.caches.i1, config.caches.d1}) {
        if (config.caches.ll.size_bytes < first.size_bytes) {
            VG_(umsg)("Warning: the LL cache is smaller than an L1 cache in front of it.\n");
            break;
        }
    }
    return config;
}

void check_out_file() {
    HChar* const path = VG_(expand_file_name)("--bdgrind-out-file", options.out_file);
    vg_stat before;
    const bool existed = !sr_isError(VG_(stat)(path, &before));
    // What is there stays as it is until there is something new to write.
    if (const int error = FileOutput(path, FileOutput::Mode::kAppend).error(); error != 0) {
        VG_(umsg)("The profile could not be written to %s (--bdgrind-out-file): %s.\n", path, error_text(error));
        VG_(exit)(1);
    }
    if (!existed) VG_(unlink)(path);
    VG_(free)(path);
}

Session::Session()
    : config_(make_config(&geometry_source_)),
      blocks_(config_.caches.i1.line_bits()),
      engine_(config_),
      names_(symbols_),
      instrumenter_(blocks_, names_) {
    if (options.record_trace != nullptr) {
        TextBuffer command;
        write_command(command);
        recorder_ = std::make_unique<TraceRecorder>(
            options.record_trace, TraceRun{.pid = static_cast<std::uint64_t>(VG_(getpid)()),
                                           .command = command.text(),
                                           .geometry_source = geometry_source_,
                                           .caches = config_.caches});
    }
    const bool want_thread = options.engine_thread == EngineThreadChoice::kYes ||
                             (options.engine_thread == EngineThreadChoice::kAuto && EngineThread::is_useful());
    if (!start_trace(engine_, recorder_.get(), want_thread)) {
        VG_(umsg)("The engine runs on the program's own thread, as the system allows no further one.\n");
    }
}

void Session::finish() {
    drain_trace();
    leave_thread();
    if (recorder_ != nullptr) recorder_->finish();
    engine_.finish();
    const Profile profile(engine_, {.lines = options.dump_line, .instructions = options.dump_instr});

    HChar* const path = VG_(expand_file_name)("--bdgrind-out-file", options.out_file);
    bool written = write_profile(path, profile);
    if (!written) {
        HChar fallback[512];
        fallback_path(fallback);
        written = write_profile(fallback, profile);
        if (written) VG_(umsg)("The profile is in %s instead.\n", fallback);
    }
    VG_(free)(path);

    LogOutput log;
    if (VG_(clo_verbosity) > 0) {
        log << '\n';
        write_run_report(log, profile.events(), profile.totals());
    }
    if (VG_(clo_stats)) {
        log << '\n';
        write_engine_stats(log, engine_.stats(), symbols_.functions().size(), blocks_.blocks().size());
    }
    log.finish();
    if (!written) VG_(exit)(1);
}

bool Session::write_profile(const char* path, const Profile& profile) const {
    const EngineConfig& config = engine_.config();
    TextBuffer command;
    write_command(command);
    const RunDescription run{.creator = "bdgrind-" PACKAGE_VERSION,
                             .pid = static_cast<std::uint64_t>(VG_(getpid)()),
                             .command = command.text(),
                             .caches = config.cache_sim ? &config.caches : nullptr,
                             .geometry_source = geometry_source_,
                             .descriptions = {"Trigger: Program termination"}};

    FileOutput file(path);
    if (file.error() == 0) {
        CallgrindWriter(file, {.compress_strings = options.compress_strings,
                               .compress_positions = options.compress_pos})
            .write(run, profile);
        file.finish();
    }
    if (file.error() == 0) return true;
    VG_(umsg)("The profile could not be written to %s: %s.\n", path, error_text(file.error()));
    return false;
}

}  // namespace bd
