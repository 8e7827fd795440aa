// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/file_head.h"

#include "engine/costs/level_events.h"
#include "profile/misnamed_allocators.h"

namespace bd {
namespace {

void write_cache(TextOutput& out, std::string_view name, const CacheGeometry& cache) {
    out << "desc: " << name << " cache: " << cache.size_bytes << " B, " << cache.line_bytes << " B, " << cache.ways
        << "-way associative\n";
}

// How the cache chooses places, if that is not what all of them do by default.
void write_policy(TextOutput& out, std::string_view name, const CacheGeometry& cache) {
    const bool is_hashed = cache.index == SetIndex::kHash;
    if (cache.replacement == Replacement{} && !is_hashed) return;
    out << "desc: " << name << " policy: ";
    write_replacement(out, cache.replacement);
    out << (is_hashed ? ", sets by a hash\n" : "\n");
}

void write_tlbs(TextOutput& out, std::string_view name, const PageTlbs& tlbs) {
    constexpr unsigned kMebiBits = 20;
    out << "desc: " << name << ": pages of ";
    if (tlbs.page_bits >= kMebiBits) {
        out << (tlbs.page_bytes() >> kMebiBits) << " MiB";
    } else {
        out << (tlbs.page_bytes() >> 10) << " KiB";
    }
    const auto write = [&](std::string_view level, const TlbGeometry& tlb) {
        out << level << tlb.entries << " entries " << tlb.ways << "-way";
    };
    write("; I1 ", tlbs.i1);
    write(", D1 ", tlbs.d1);
    write(tlbs.has_i2() ? ", D2 " : ", L2 ", tlbs.d2);
    if (tlbs.has_i2()) write(", I2 ", tlbs.i2);
    out << '\n';
}

void write_placements(TextOutput& out, const Placements& placements) {
    const std::uint64_t first = placements.first_seed();
    out << "desc: Placements: " << placements.number() << ", seeds " << first << " to "
        << first + (placements.number() - 1) << '\n';
    for (const Level level : {Level::kL1, Level::kL2, Level::kLL}) {
        if (level == Level::kL2 && !placements.has_l2()) continue;
        // No code is on the stack.
        for (std::size_t kind = level == Level::kL1 ? 1 : 0; kind < Placements::kKinds; ++kind) {
            out << "desc: Placements of " << kEvents[column(kLevelEvents[level].misses[kind])].name << ':';
            for (std::uint32_t i = 0; i < placements.number(); ++i) {
                out << ' ' << (level == Level::kL1 ? placements.d1_misses(i, kind) : placements.misses(i)[level][kind]);
            }
            out << '\n';
        }
    }
}

}  // namespace

void write_process(TextOutput& out, const RunDescription& run) {
    out << "creator: " << run.creator << "\npid: " << run.pid << "\ncmd: ";
    write_text(out, run.command);
    out << "\npart: " << run.part << '\n';
    if (run.thread != 0) out << "thread: " << run.thread << '\n';
}

void write_descriptions(TextOutput& out, const RunDescription& run) {
    if (run.caches != nullptr) {
        write_cache(out, "I1", run.caches->i1);
        write_cache(out, "D1", run.caches->d1);
        if (run.caches->has_l2()) write_cache(out, "L2", run.caches->l2);
        write_cache(out, "LL", run.caches->ll);
        write_policy(out, "I1", run.caches->i1);
        write_policy(out, "D1", run.caches->d1);
        if (run.caches->has_l2()) write_policy(out, "L2", run.caches->l2);
        write_policy(out, "LL", run.caches->ll);
        if (run.caches->is_exclusive()) out << "desc: LL inclusion: exclusive\n";
        if (run.caches->is_inclusive()) out << "desc: LL inclusion: inclusive\n";
        const PageRules& pages = run.caches->pages;
        if (pages.frames == PageFrames::kContiguous) out << "desc: Placement: contiguous pages\n";
        if (pages.frames == PageFrames::kRandom) out << "desc: Placement: pages at random, seed " << pages.seed << '\n';
        out << "desc: Geometry: " << run.geometry_source << '\n';
    }
    if (run.tlbs != nullptr) {
        write_tlbs(out, "TLBs", run.tlbs->base);
        write_tlbs(out, "Huge TLBs", run.tlbs->huge);
        out << "desc: TLB geometry: " << run.tlb_source << '\n';
    }
    if (run.placements != nullptr) write_placements(out, *run.placements);
    for (const std::string_view description : run.descriptions) out << "desc: " << description << '\n';
    if (run.named_allocators != nullptr) write_misnamed_allocators(out, *run.named_allocators, "desc: Objects: ");
}

void write_events(TextOutput& out, const FileEvents& events) {
    const std::size_t width = events.events.width();
    for (std::size_t i = 0; i < width; ++i) {
        if (!events.has(i) || kEvents[i].known_to_viewers()) continue;
        out << "event: " << kEvents[i].name << " : " << kEvents[i].description << '\n';
    }
    for (const DerivedEvent& event : kDerivedEvents) {
        if (events.compat_events || !events.events.has(event.group)) continue;
        out << "event: " << event.name << " = " << event.formula << " : " << event.description << '\n';
    }
    out << "events:";
    for (std::size_t i = 0; i < width; ++i) {
        if (events.has(i)) out << ' ' << kEvents[i].name;
    }
    out << '\n';
}

void write_text(TextOutput& out, std::string_view text) {
    for (const char c : text) out << (static_cast<unsigned char>(c) < ' ' ? ' ' : c);
}

void write_context_name(TextOutput& out, const Context& context) {
    write_text(out, context.function().name);
    if (context.level() > 1) out << '\'' << context.level();
    for (const Function* caller : context.callers()) {
        out << '\'';
        write_text(out, caller->name);
    }
}

}  // namespace bd
