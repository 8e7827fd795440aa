// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/session.h"

#include <algorithm>
#include <utility>

#include "profile/misnamed_allocators.h"
#include "profile/run_report.h"
#include "tool/machine_caches.h"
#include "tool/output.h"
#include "tool/runtime.h"
#include "tool/trace_buffer.h"
#include "tool/valgrind.h"

namespace bd {

constinit Session* session = nullptr;

namespace {

// For the profile, where bd_annotate finds the level in it.
std::string_view source_without_l2(const MachineCaches& machine) {
    static HChar text[160];
    const UInt size = VG_(snprintf)(text, sizeof text, "%s; its L2 of %llu B, %u B, %u-way is not simulated",
                                    machine.source, static_cast<ULong>(machine.l2.size_bytes), machine.l2.line_bytes,
                                    machine.l2.ways);
    return {text, std::min<std::size_t>(size, sizeof text - 1)};
}

// Whatever says itself what is to count, and when, or needs to see the whole run.
void check_sample_options() {
    const struct {
        const char* name;
        bool is_given;
    } kOthers[]{
        {"--instr-atstart=no", !options.instr_atstart},
        {"--collect-atstart", options.collect_atstart != Choice::kAuto},
        {"--toggle-collect", !options.toggle_collect.empty()},
        {"--dump-every-bb", options.dump_every_bb != 0},
        {"--dump-before", !options.dump_before.empty()},
        {"--dump-after", !options.dump_after.empty()},
        {"--zero-before", !options.zero_before.empty()},
        {"--separate-threads=yes", options.separate_threads},
        {"--context-tree", options.context_tree != TreeChoice::kNo},
        {"--paths", options.paths.follows},
        {"--objects=yes", options.objects},
        {"--why", options.why != WhyChoice::kNo},
        {"--cores", options.cores.count != 0},
        {"--tlb", options.tlb.simulates},
        {"--placements", options.placements.count != 0},
    };
    for (const auto& other : kOthers) {
        if (!other.is_given) continue;
        VG_(umsg)("--sample=bursts cannot be combined with %s: leave one of them out.\n", other.name);
        VG_(exit)(1);
    }
}

void say_how_much_is_sampled(const Sampler& sampler) {
    const RunSample sample = sampler.sample();
    const BurstSums& sums = *sample.sums;
    VG_(umsg)("\n");
    VG_(umsg)("Estimates from %u bursts and the first blocks: %llu of %llu blocks were counted.\n", sums.bursts(),
              static_cast<ULong>(sums.blocks()), static_cast<ULong>(sample.length.blocks));
    if (sums.bursts() >= BurstSums::kFewest || sums.blocks() >= sample.length.blocks) return;
    VG_(umsg)("%s: use shorter periods (--sample=bursts,<length>,<period>), or no --sample.\n",
              sums.bursts() == 0 ? "Only the start of the program was counted"
                                 : "These are too few bursts to say how good the estimates are");
}

}  // namespace

EngineConfig Session::make_config(std::string_view* source) {
    const MachineCaches machine = find_machine_caches();
    CacheGeometries own = machine.caches;
    if (options.machine.is_native) {
        own.l2 = machine.l2;
        options.machine.like = preset_of_this_machine();
    }
    const EngineConfig config = engine_config(options, own);
    const char* error = config.cache_sim ? caches_error(config.caches) : nullptr;
    if (error == nullptr) error = placements_error(config);
    if (error == nullptr) error = curve_error(options, config);
    if (error != nullptr) {
        VG_(umsg)("%s\n", error);
        VG_(exit)(1);
    }
    const bool all_given = options.i1.given && options.d1.given && options.ll.given;
    const bool one_given = options.i1.given || options.d1.given || options.l2.given || options.ll.given;
    // What stands in LL's place is known where that is named.
    const bool lacks_l2 = machine.l2.size_bytes != 0 && !options.ll.given && !options.l2.given &&
                          !options.machine.is_native && options.machine.preset == nullptr;
    *source = geometry_source(options, lacks_l2 ? source_without_l2(machine) : machine.source);
    if (options.objects && !config.objects && VG_(clo_verbosity) > 0) {
        VG_(umsg)("Warning: --objects does nothing with --cache-sim=no or --cacheuse=no.\n");
    }
    if (options.why != WhyChoice::kNo && !config.why && VG_(clo_verbosity) > 0) {
        VG_(umsg)("Warning: --why does nothing with --cache-sim=no.\n");
    }
    if (options.curve_from != 0 && !config.why && VG_(clo_verbosity) > 0) {
        VG_(umsg)("Warning: --curve-from does nothing without --why.\n");
    }
    if (options.cores.count != 0 && config.cores == 0 && VG_(clo_verbosity) > 0) {
        VG_(umsg)("Warning: --cores does nothing with --cache-sim=no, or with D1 lines of more than 64 bytes.\n");
    }
    if (config.cores > 1 && config.why && VG_(clo_verbosity) > 0) {
        VG_(umsg)("Note: with --why, all cores share one set of caches.\n");
    }
    if (options.placements.count != 0 && config.placements == 0 && VG_(clo_verbosity) > 0) {
        VG_(umsg)("Warning: --placements does nothing with --cache-sim=no.\n");
    }
    if (options.tlb.simulates && !config.tlbs.any() && VG_(clo_verbosity) > 0) {
        VG_(umsg)("Warning: --tlb does nothing with --cache-sim=no.\n");
    }
    const bool chooses_in_l2 =
        options.l2_replacement.replacement != Replacement{} || options.l2_index.index != SetIndex::kBits;
    if (chooses_in_l2 && !config.caches.has_l2() && VG_(clo_verbosity) > 0) {
        VG_(umsg)("Warning: --L2-replacement and --L2-index do nothing without an L2.\n");
    }
    if (config.l2_prefetchers.any() && !config.caches.has_l2() && VG_(clo_verbosity) > 0) {
        VG_(umsg)("Warning: --L2-prefetch does nothing without an L2.\n");
    }
    const bool names_allocators = !options.alloc_fn.empty() || !options.alloc_fn_of.empty() ||
                                  !options.free_fn.empty() || !options.free_fn_of.empty();
    if (!options.objects && names_allocators && VG_(clo_verbosity) > 0) {
        VG_(umsg)("Warning: --alloc-fn and --free-fn do nothing without --objects=yes.\n");
    }
    if (!config.cache_sim) {
        const bool prefetches = config.callgrind_prefetcher || config.prefetchers.any() || config.l2_prefetchers.any();
        if ((config.write_back || prefetches) && VG_(clo_verbosity) > 0) {
            VG_(umsg)("Warning: --simulate-wb, --simulate-hwpref, --prefetch and --L2-prefetch do nothing without "
                      "--cache-sim=yes.\n");
        }
        return config;
    }

    if (!all_given && VG_(clo_verbosity) > 0) {
        const char* const from = options.machine.preset != nullptr ? options.machine.preset->source : machine.source;
        VG_(umsg)("Simulated caches%s: %s\n", one_given ? " not named on the command line" : "", from);
        if (const MachinePreset* const like = options.machine.like; like != nullptr) {
            VG_(umsg)("Of its kind of processor (%s): D1 replacement, LL inclusion, coherence, TLBs\n", like->name);
        }
        if (lacks_l2) {
            const ULong size = machine.l2.size_bytes;
            const bool is_mebi = size % (ULong{1} << 20) == 0;
            VG_(umsg)("Not simulated: its L2 of %llu %s (--machine=native simulates it)\n",
                      size >> (is_mebi ? 20 : 10), is_mebi ? "MiB" : "KiB");
        }
    }
    if (config.tlbs.any() && VG_(clo_verbosity) > 0) {
        TextBuffer whose;
        write_tlb_source(whose, options);
        VG_(umsg)("Simulated TLBs: %s\n", whose.c_str());
    }
    for (const CacheGeometry& first : {config.caches.i1, config.caches.d1}) {
        if (config.caches.ll.size_bytes < first.size_bytes) {
            VG_(umsg)("Warning: the LL cache is smaller than an L1 cache in front of it.\n");
            break;
        }
    }
    if (config.caches.ll.size_bytes < config.caches.l2.size_bytes) {
        VG_(umsg)("Warning: the LL cache is smaller than the L2 cache in front of it.\n");
    }
    return config;
}

Session::Session()
    : config_(make_config(&geometry_source_)),
      blocks_(config_.caches.i1.line_bits()),
      engine_(config_),
      names_(symbols_),
      instrumenter_(blocks_, names_, config_.cache_sim || options.record_trace != nullptr),
      dumps_(engine_, geometry_source_),
      instruments_(options.instr_atstart) {
    if (options.record_trace != nullptr) {
        TextBuffer command;
        write_command(command);
        recorder_ = std::make_unique<TraceRecorder>(
            options.record_trace, TraceRun{.pid = static_cast<std::uint64_t>(VG_(getpid)()),
                                           .command = command.view(),
                                           .geometry_source = geometry_source_,
                                           .caches = config_.caches});
    }
    const auto serve = [](const Request& request) { session->serve(request); };
    if (config_.cores != 0) {
        order_ = std::make_unique<VirtualOrder>(
            OrderRules{.cores = config_.cores,
                       .slice = options.thread_slice,
                       .is_virtual = options.thread_order == ThreadOrder::kVirtual,
                       .line_bits = config_.caches.d1.line_bits(),
                       .coherence = config_.coherence});
    }
    const bool samples = options.sample.bursts.length != 0;
    // Bursts are short: another thread would take more processor time, for its part of the caches, than it saves.
    const bool has_no_threads = samples && options.engine_threads.is_auto;
    start_trace(engine_, order_.get(), recorder_.get(), serve,
                has_no_threads ? EngineThreadCount{.is_auto = false, .count = 0} : options.engine_threads);
    if (samples) {
        check_sample_options();
        const OpenCalls calls(blocks_, names_, config_.cache_sim || options.record_trace != nullptr);
        sampler_ = std::make_unique<Sampler>(options.sample.bursts, engine_, calls, position_kinds(),
                                             [](bool on) { session->observe(on); });
        dumps_.set_sampler(*sampler_);
        sampler_->start();
    }
}

IRSB* Session::instrument(IRSB* block, const VexGuestLayout& layout, IRType word_type) {
    IRSB* const observed = instruments_ ? instrumenter_.instrument(block, layout, word_type) : block;
    return sampler_ != nullptr ? count_instructions(*observed, layout) : observed;
}

// What the program or the user asks for in mid-run would make bursts something else than a sample.
bool Session::samples_itself() {
    if (sampler_ == nullptr) return false;
    static bool is_said = false;
    if (!std::exchange(is_said, true) && VG_(clo_verbosity) > 0) {
        VG_(umsg)("Warning: with --sample, requests to dump, to zero, or to start or stop counting do nothing.\n");
    }
    return true;
}

bool Session::dump(std::string_view trigger, ThreadId thread) {
    if (samples_itself()) return false;
    drain_trace();
    return dumps_.write(trigger, config_.separate_threads ? thread : 0);
}

// The part of the trace before the request has been replayed, and no more.
void Session::serve(const Request& request) {
    const char* const name = request.function == nullptr ? "" : request.function->name;
    TextBuffer trigger;
    switch (request.kind) {
        case RequestKind::kDumpBefore:
            trigger << "--dump-before=" << name;
            break;
        case RequestKind::kDumpAfter:
            trigger << "--dump-after=" << name;
            break;
        case RequestKind::kDumpEvery:
            trigger << "--dump-every-bb=" << options.dump_every_bb;
            break;
        case RequestKind::kZero:
            engine_.zero(request.thread);
            dumps_.zeroed(request.thread);
            return;
    }
    dumps_.write(trigger.view(), request.thread);
}

void Session::zero(ThreadId thread) {
    if (samples_itself()) return;
    mark_now(Marker::kZero, thread);
}

void Session::toggle_collect(ThreadId thread) {
    if (samples_itself()) return;
    mark_trace(Marker::kToggleCollect, thread);
}

void Session::set_instrumentation(bool on) {
    if (!samples_itself()) observe(on);
}

// What is translated is thrown away, as it does, or does not, write the trace.
void Session::observe(bool on) {
    if (on == instruments_ || (on && heap.runs_out())) return;
    instruments_ = on;
    if (!on) mark_now(Marker::kStop, 0);
    VG_(discard_translations)(0x1000, ~Addr{0xfff}, "bdgrind");
}

// What is left of the heap is for the profile.
void Session::check_memory() {
    if (!instruments_ || !heap.runs_out()) return;
    VG_(umsg)("Out of memory for counting: the program continues unobserved, and its profile ends here.\n");
    if (sampler_ != nullptr) sampler_->end();
    observe(false);
}

const Engine& Session::settled_engine() {
    drain_trace();
    engine_.settle();
    return engine_;
}

void Session::start_in_child(ThreadId thread) {
    trace_in_child();
    engine_.start_in_child(thread);
    if (sampler_ != nullptr) sampler_->start_in_child();
    dumps_.start_in_child();
    is_child_ = true;
    blocks_at_fork_ = blocks_run();
}

void Session::before_exec(const char* path) {
    // A shell's child needs some thousand blocks, one of an interpreter some ten thousand.
    constexpr std::uint64_t kFewBlocks = 100'000;
    drain_trace();
    if (is_child_ && blocks_run() - blocks_at_fork_ < kFewBlocks) {
        dumps_.begin_exec(false);
        return;
    }
    if (recorder_ != nullptr) recorder_->finish();
    engine_.evict_all();
    if (sampler_ != nullptr) {
        engine_.settle();
        sampler_->note_last_burst();
    }
    if (dumps_.begin_exec(true) && VG_(clo_verbosity) > 0) {
        VG_(umsg)("The profile up to the execution of %s is part %u.\n", path, dumps_.parts());
    }
}

void Session::exec_failed() {
    dumps_.exec_failed();
}

void Session::finish() {
    drain_trace();
    leave_threads();
    if (recorder_ != nullptr) recorder_->finish();
    engine_.finish();
    if (sampler_ != nullptr) sampler_->note_last_burst();
    const bool written = dumps_.write_last();

    LogOutput log;
    if (VG_(clo_verbosity) > 0) {
        if (sampler_ != nullptr) say_how_much_is_sampled(*sampler_);
        write_unmatched(log, options);
        if (engine_.objects() != nullptr) write_misnamed_allocators(log, engine_.objects()->named_allocators(), "");
        log << '\n';
        const auto write_report = VG_(clo_stats) ? write_whole_run_report : write_run_report;
        const EventSet events = sampler_ != nullptr ? sampled_events(engine_.events()) : engine_.events();
        write_report(log, events, dumps_.totals());
        if (engine_.context_tree() != nullptr) {
            write_other_paths(log, *engine_.context_tree(), engine_.events(), dumps_.totals(), dumps_.other_paths());
        }
        dumps_.write_ending(log);
    }
    if (VG_(clo_stats)) {
        if (engine_.context_tree() != nullptr) write_context_tree_report(log, *engine_.context_tree());
        log << '\n';
        write_engine_stats(log, engine_.stats(), symbols_.functions().size(), blocks_.blocks().size());
    }
    log.finish();
    if (!written) VG_(exit)(1);
}

}  // namespace bd
