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

void describe_cache(TextOutput& out, std::string_view name, const CacheGeometry& cache) {
    out << name << " cache: " << cache.size_bytes << " B, " << cache.line_bytes << " B, " << cache.ways
        << "-way associative";
}

}  // namespace

EngineConfig Session::make_config(const char** geometry_source) {
    const MachineCaches machine = find_machine_caches();
    EngineConfig config{.caches = machine.caches, .cache_sim = options.cache_sim, .cache_use = options.cache_use};
    const bool all_given = options.i1.given && options.d1.given && options.ll.given;
    const bool one_given = options.i1.given || options.d1.given || options.ll.given;
    *geometry_source = all_given ? "as on the command line" : machine.source;
    if (options.i1.given) config.caches.i1 = options.i1.geometry;
    if (options.d1.given) config.caches.d1 = options.d1.geometry;
    if (options.ll.given) config.caches.ll = options.ll.geometry;
    if (!config.cache_sim) return config;

    if (!all_given && VG_(clo_verbosity) > 0) {
        VG_(umsg)("Simulated caches%s: %s\n", one_given ? " not named on the command line" : "", *geometry_source);
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
    const bool want_thread = options.engine_thread == EngineThreadChoice::kYes ||
                             (options.engine_thread == EngineThreadChoice::kAuto && EngineThread::is_useful());
    if (!start_trace(engine_, want_thread)) {
        VG_(umsg)("The engine runs on the program's own thread, as the system allows no further one.\n");
    }
}

void Session::finish() {
    drain_trace();
    leave_thread();
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
    const bool cache_sim = engine_.config().cache_sim;
    const CacheGeometries& caches = engine_.config().caches;
    TextBuffer command;
    TextBuffer i1;
    TextBuffer d1;
    TextBuffer ll;
    TextBuffer geometry;
    write_command(command);
    describe_cache(i1, "I1", caches.i1);
    describe_cache(d1, "D1", caches.d1);
    describe_cache(ll, "LL", caches.ll);
    geometry << "Geometry: " << geometry_source_;

    RunDescription run{.creator = "bdgrind-" PACKAGE_VERSION,
                       .pid = static_cast<std::uint64_t>(VG_(getpid)()),
                       .command = command.text(),
                       .descriptions = {}};
    if (cache_sim) run.descriptions = {i1.text(), d1.text(), ll.text(), geometry.text()};
    run.descriptions.push_back("Trigger: Program termination");

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
