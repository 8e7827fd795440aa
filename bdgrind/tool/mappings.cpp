// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/mappings.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/objects/object_groups.h"
#include "tool/session.h"
#include "tool/thread_locals.h"
#include "tool/trace_buffer.h"
#include "tool/valgrind.h"

namespace bd {
namespace {

// A variable, as the core knows it.
struct Variable {
    Addr begin;
    const HChar* name;  // in the core's buffer, until it is asked again; null: none
};

Variable variable_at(Addr address) {
    const HChar* name = nullptr;
    PtrdiffT offset = 0;
    if (!VG_(get_datasym_and_offset)(VG_(current_DiEpoch)(), address, &name, &offset)) return {0, nullptr};
    return {address - static_cast<Addr>(offset), name};
}

bool is_still(const Variable& variable, Addr address) {
    const Variable there = variable_at(address);
    return there.name != nullptr && there.begin == variable.begin;
}

// The core tells which variable has an address, but not how long it is: so the end is looked for,
// from an address that it has.
Addr end_of(const Variable& variable, Addr address) {
    Addr known = address;
    Addr step = 4;
    while (step < ~known && is_still(variable, known + step)) {
        known += step;
        step *= 2;
    }
    Addr end = known + std::min(step, ~known);
    while (end - known > 1) {
        const Addr middle = known + (end - known) / 2;
        (is_still(variable, middle) ? known : end) = middle;
    }
    return end;
}

const char* kept(const HChar* name) {
    const std::string_view text(name);
    char* const copy = new char[text.size() + 1];
    *std::copy(text.begin(), text.end(), copy) = '\0';
    return copy;
}

using List = std::vector<MappedObject>;

// What is not a variable belongs to the file. Nothing is ever freed: the engine's groups point there.
void add_variables(Addr begin, Addr end, const ObjectFile& file, List* list) {
    constexpr Addr kStep = 8;  // where there is no variable: they are aligned mostly
    Addr file_begin = begin;
    const auto add_file = [&](Addr until) {
        if (file_begin < until) list->push_back({file_begin, until, ObjectKind::kFile, nullptr, &file});
    };
    for (Addr at = begin; at < end;) {
        const Variable variable = variable_at(at);
        if (variable.name == nullptr) {
            at = (at / kStep + 1) * kStep;
            continue;
        }
        const char* const name = kept(variable.name);
        const Addr variable_end = end_of(variable, at);
        const Addr end_here = std::min(variable_end, end);
        add_file(at);
        const SizeT size = variable_end - variable.begin;
        list->push_back({at, end_here, ObjectKind::kStatic, name, &file, variable.begin, size});
        at = file_begin = end_here;
    }
    add_file(end);
}

// The object file whose uninitialized data lies there.
const HChar* file_of_bss(Addr begin, Addr end) {
    for (const DebugInfo* info = VG_(next_DebugInfo)(nullptr); info != nullptr; info = VG_(next_DebugInfo)(info)) {
        const Addr bss = VG_(DebugInfo_get_bss_avma)(info);
        const SizeT size = VG_(DebugInfo_get_bss_size)(info);
        if (size != 0 && bss < end && bss + size > begin) return VG_(DebugInfo_get_filename)(info);
    }
    return nullptr;
}

void mark_mapped(Addr begin, Addr end, const List* list) {
    mark_trace(Marker::kMapped, begin, end, reinterpret_cast<std::uintptr_t>(list));
}

void describe(Addr begin, Addr end, bool executable) {
    const NSegment* const segment = VG_(am_find_nsegment)(begin);
    const HChar* name = segment != nullptr && segment->kind == SkFileC ? VG_(am_get_filename)(segment) : nullptr;
    const bool is_file = name != nullptr;
    if (!is_file) name = file_of_bss(begin, end);
    if (name == nullptr) {
        mark_mapped(begin, end, nullptr);
        return;
    }
    const ObjectFile& file = session->object_file(name);
    auto* const list = new List;
    if (executable) {
        list->push_back({begin, end, ObjectKind::kFile, nullptr, &file});
    } else {
        add_variables(begin, end, file, list);
    }
    mark_mapped(begin, end, list);
}

// Symbols become known when the last part of an object file is mapped.
void describe_file_again(Addr mapped) {
    const NSegment* const segment = VG_(am_find_nsegment)(mapped);
    if (segment == nullptr || segment->kind != SkFileC) return;
    const std::string_view name = VG_(am_get_filename)(segment);
    std::vector<Addr> starts(64);
    Int count = 0;
    while ((count = VG_(am_get_segment_starts)(SkFileC, starts.data(), static_cast<Int>(starts.size()))) < 0) {
        starts.resize(2 * starts.size());
    }
    starts.resize(static_cast<std::size_t>(count));
    for (const Addr start : starts) {
        const NSegment& other = *VG_(am_find_nsegment)(start);
        const HChar* const file = VG_(am_get_filename)(&other);
        if (file != nullptr && name == file) describe(other.start, other.end + 1, other.hasX);
    }
}

void memory_is_mapped(Addr begin, SizeT size, Bool, Bool, Bool executable, ULong debug_info) {
    if (size == 0) return;
    if (debug_info != 0) {
        describe_file_again(begin);
    } else {
        describe(begin, begin + size, executable);
    }
}

void memory_is_unmapped(Addr begin, SizeT size) {
    thread_locals_unmapped(begin, begin + size);
    mark_trace(Marker::kUnmapped, begin, begin + size);
}

void memory_has_moved(Addr, Addr to, SizeT size) {
    mark_mapped(to, to + size, nullptr);
}

void heap_grows(Addr begin, SizeT size, ThreadId) {
    auto* const list = new List{{begin, begin + size, ObjectKind::kUnused, nullptr, nullptr}};
    mark_mapped(begin, begin + size, list);
}

}  // namespace

void watch_mappings() {
    VG_(track_new_mem_startup)(memory_is_mapped);
    VG_(track_new_mem_mmap)(memory_is_mapped);
    VG_(track_new_mem_brk)(heap_grows);
    VG_(track_copy_mem_remap)(memory_has_moved);
    VG_(track_die_mem_munmap)(memory_is_unmapped);
    VG_(track_die_mem_brk)(memory_is_unmapped);
    watch_thread_locals();
}

}  // namespace bd
