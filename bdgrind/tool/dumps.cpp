// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/dumps.h"

#include <algorithm>

#include "profile/callgrind_writer.h"
#include "profile/context_tree_writer.h"
#include "profile/object_writer.h"
#include "profile/path_writer.h"
#include "profile/run_ending.h"
#include "profile/sharing_writer.h"
#include "profile/why_writer.h"
#include "tool/options.h"
#include "tool/output.h"
#include "tool/sampler.h"
#include "tool/valgrind.h"

namespace bd {
namespace {

// A profile as it is written.
class ProfileText final : public Text {
public:
    ProfileText(const RunDescription& run, const Profile& profile, const RunSample& sample)
        : run_(run), profile_(profile), sample_(sample) {}

    void write_to(TextOutput& out) const override {
        CallgrindWriter(out, {.compress_strings = options.compress_strings,
                              .compress_positions = options.compress_pos,
                              .compat_events = options.compat_events,
                              .hot_code = true,
                              .sample = sample_})
            .write(run_, profile_);
    }

private:
    const RunDescription& run_;
    const Profile& profile_;
    RunSample sample_;
};

// A context tree as it is written.
class ContextTreeText final : public Text {
public:
    ContextTreeText(const RunDescription& run, const Engine& engine) : run_(run), engine_(engine) {}

    void write_to(TextOutput& out) const override {
        ContextTreeWriter(out, engine_, options.compat_events).write(run_);
    }

private:
    const RunDescription& run_;
    const Engine& engine_;
};

// Paths within functions as they are written.
class PathsText final : public Text {
public:
    PathsText(const RunDescription& run, const Engine& engine) : run_(run), engine_(engine) {}

    void write_to(TextOutput& out) const override { PathWriter(out, engine_, options.compat_events).write(run_); }

private:
    const RunDescription& run_;
    const Engine& engine_;
};

// Data objects as they are written.
class ObjectsText final : public Text {
public:
    ObjectsText(const RunDescription& run, const Engine& engine) : run_(run), engine_(engine) {}

    void write_to(TextOutput& out) const override { ObjectWriter(out, engine_, options.compat_events).write(run_); }

private:
    const RunDescription& run_;
    const Engine& engine_;
};

// Why lines were loaded, as it is written.
class WhyText final : public Text {
public:
    WhyText(const RunDescription& run, const Engine& engine) : run_(run), engine_(engine) {}

    void write_to(TextOutput& out) const override { WhyWriter(out, engine_).write(run_); }

private:
    const RunDescription& run_;
    const Engine& engine_;
};

// What threads do to each other's lines, as it is written.
class SharingText final : public Text {
public:
    SharingText(const RunDescription& run, const Engine& engine) : run_(run), engine_(engine) {}

    void write_to(TextOutput& out) const override { SharingWriter(out, engine_).write(run_); }

private:
    const RunDescription& run_;
    const Engine& engine_;
};

}  // namespace

PositionKinds position_kinds() {
    return {.lines = options.dump_line, .instructions = options.dump_instr || options.has_structure()};
}

void write_command(TextOutput& out) {
    out << VG_(args_the_exename);
    const ::Word count = VG_(sizeXA)(VG_(args_for_client));
    for (::Word i = 0; i < count; ++i) {
        out << ' ' << *static_cast<HChar**>(VG_(indexXA)(VG_(args_for_client), i));
    }
}

Dumps::Dumps(Engine& engine, std::string_view geometry_source)
    : engine_(engine),
      geometry_source_(geometry_source),
      parts_(options.earlier_parts),
      places_{.plain = false, .numbered = parts_ != 0 && !options.combine_dumps},
      totals_(engine.events().width()),
      other_paths_(engine.events().width()) {
    if (engine.context_tree() != nullptr) tree_file_ = std::make_unique<OutFile>(OutFile::Kind::kContextTree);
    if (engine.flow() != nullptr) paths_file_ = std::make_unique<OutFile>(OutFile::Kind::kPaths);
    if (engine.objects() != nullptr) objects_file_ = std::make_unique<OutFile>(OutFile::Kind::kObjects);
    if (engine.why() != nullptr) why_file_ = std::make_unique<OutFile>(OutFile::Kind::kWhy);
    if (engine.sharing() != nullptr) sharing_file_ = std::make_unique<OutFile>(OutFile::Kind::kSharing);
}

template <class Use>
void Dumps::for_each_beside(Use use) {
    if (tree_file_ != nullptr) use(*tree_file_);
    if (paths_file_ != nullptr) use(*paths_file_);
    if (objects_file_ != nullptr) use(*objects_file_);
    if (why_file_ != nullptr) use(*why_file_);
    if (sharing_file_ != nullptr) use(*sharing_file_);
}

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
    return written && !any_is_lost_;
}

void Dumps::write_ending(TextOutput& out) const {
    const Path name = file_.known_name();
    const EngineConfig& config = engine_.config();
    std::vector<std::string_view> elsewhere;
    for (const Path& path : places_.elsewhere) elsewhere.push_back(path.view());
    const ProfileFiles files{.name = name.view(),
                             .is_there = places_.plain && !file_.is_stream(),
                             .in_parts = places_.numbered,
                             .by_thread = config.separate_threads && !options.combine_dumps,
                             .elsewhere = elsewhere,
                             .more_elsewhere = places_.more_elsewhere,
                             .is_lost = any_is_lost_};
    write_run_ending(out, config.cache_sim ? &config.caches : nullptr, &files);
}

bool Dumps::begin_exec(bool with_part) {
    file_.begin_attempt();
    for_each_beside([](OutFile& file) { file.begin_attempt(); });
    other_paths_before_exec_ = other_paths_;
    totals_before_exec_ = totals_;
    parts_before_exec_ = parts_;
    places_before_exec_ = places_;
    bool written = true;
    if (with_part) {
        engine_.settle();
        ++parts_;
        const Part part{.trigger = "Execution of another program", .is_last = false};
        for (const std::uint32_t thread : threads_with_counts()) written &= write(part, thread);
    }
    file_.hand_over(parts_);
    return written;
}

void Dumps::exec_failed() {
    for_each_beside([](OutFile& file) { file.take_back(); });
    if (file_.take_back()) {
        totals_ = totals_before_exec_;
        other_paths_ = other_paths_before_exec_;
        parts_ = parts_before_exec_;
        places_ = places_before_exec_;
    } else if (parts_ != parts_before_exec_) {
        engine_.zero(0);
        zeroed(0);
    }
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
    const Profile profile(engine_, position_kinds(), thread);
    TextBuffer command;
    TextBuffer range;
    TextBuffer trigger;
    TextBuffer tlb_source;
    write_command(command);
    write_tlb_source(tlb_source, options);
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
                       .tlbs = config.tlbs.any() ? &config.tlbs : nullptr,
                       .tlb_source = tlb_source.view(),
                       .placements = engine_.placements(),
                       .descriptions = {range.view(), trigger.view()},
                       .named_allocators =
                           engine_.objects() != nullptr ? &engine_.objects()->named_allocators() : nullptr};
    if (const char* const unit = unit_description(options.collect_systime)) run.descriptions.push_back(unit);
    TextBuffer rank;
    TextBuffer host;
    if (job_rank_.is_known()) {
        job_rank_.write_rank(rank);
        job_rank_.write_host(host);
        run.descriptions.push_back(rank.view());
        run.descriptions.push_back(host.view());
    }
    RunSample sample;
    TextBuffer sampled;
    if (sampler_ != nullptr) {
        sample = sampler_->sample();
        const BurstRules& rules = sampler_->rules();
        sampled << "Sample: bursts of " << rules.length << " blocks in " << rules.period << ", seed " << rules.seed
                << ", margins of " << rules.margin() << "; counted " << sample.sums->blocks() << " of "
                << sample.length.blocks << " blocks, in " << sample.sums->bursts() << " bursts and the first "
                << sample.sums->start_blocks();
        run.descriptions.push_back(sampled.view());
    }
    TextBuffer order;
    if (engine_.sharing() != nullptr) {
        write_thread_order(order, options);
        run.descriptions.push_back(order.view());
    }
    TextBuffer ending;
    if (!options.combine_dumps) {
        if (!part.is_last) ending << '.' << parts_;
        if (thread != 0) ending << (thread < 10 ? "-0" : "-") << thread;
    }
    const ProfileText profile_text(run, profile, sample);
    const ContextTreeText tree_text(run, engine_);
    const PathsText paths_text(run, engine_);
    const ObjectsText objects_text(run, engine_);
    const WhyText why_text(run, engine_);
    const SharingText sharing_text(run, engine_);
    std::vector<PartFile> files{{&file_, &profile_text}};
    if (tree_file_ != nullptr) files.push_back({tree_file_.get(), &tree_text});
    if (paths_file_ != nullptr) files.push_back({paths_file_.get(), &paths_text});
    if (objects_file_ != nullptr) files.push_back({objects_file_.get(), &objects_text});
    if (why_file_ != nullptr) files.push_back({why_file_.get(), &why_text});
    if (sharing_file_ != nullptr) files.push_back({sharing_file_.get(), &sharing_text});
    const PartPlace place = write_part(files, ending.view());
    // What is written nowhere is kept for the next part, if there is one.
    const bool is_kept = place.where == PartPlace::Where::kNowhere && !part.is_last;
    if (!place.is_whole && !is_kept) any_is_lost_ = true;
    if (place.where == PartPlace::Where::kNowhere) return false;
    note_place(place, part.is_last || options.combine_dumps);
    for (std::size_t i = 0; i < totals_.size(); ++i) {
        const std::uint64_t in_start = sample.start != nullptr ? sample.start->totals()[i] : 0;
        totals_[i] += sample.estimate(i, profile.totals()[i], in_start);
    }
    if (tree_file_ != nullptr) add(other_paths_, costs_of_other_paths(engine_, thread));
    return true;
}

void Dumps::note_place(const PartPlace& place, bool has_plain_name) {
    if (place.where == PartPlace::Where::kInPlace) {
        (has_plain_name ? places_.plain : places_.numbered) = true;
    } else if (places_.elsewhere.size() < kMostElsewhere) {
        places_.elsewhere.push_back(place.profile);
    } else {
        ++places_.more_elsewhere;
    }
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
    places_ = {};
    std::ranges::fill(totals_, 0);
    std::ranges::fill(other_paths_, 0);
    file_.start_in_child();
    for_each_beside([](OutFile& file) { file.start_in_child(); });
    zeroed(0);
}

}  // namespace bd
