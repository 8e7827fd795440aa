// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/mappings.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/objects/object_groups.h"
#include "tool/elf_variables.h"
#include "tool/input_file.h"
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

// Of a file that is loaded: those that the core does not know.
class UniqueVariables {
public:
    UniqueVariables(const ElfVariables& all, Addr bias) : all_(all), bias_(bias) {}

    // The variable that has the address, without a name if there is none; and its size in bytes.
    Variable at(Addr address, SizeT* size) const {
        const auto behind = first_behind(address);
        if (behind == all_.variables.begin()) return {0, nullptr};
        const ElfVariable& variable = behind[-1];
        *size = static_cast<SizeT>(variable.size);
        if (address - begin_of(variable) >= variable.size) return {0, nullptr};
        return {begin_of(variable), all_.name(variable)};
    }

    // Where the next one begins.
    Addr next(Addr address) const {
        const auto behind = first_behind(address);
        return behind == all_.variables.end() ? ~Addr{0} : begin_of(*behind);
    }

private:
    Addr begin_of(const ElfVariable& variable) const { return static_cast<Addr>(variable.offset) + bias_; }
    std::vector<ElfVariable>::const_iterator first_behind(Addr address) const {
        return std::ranges::partition_point(all_.variables,
                                            [&](const ElfVariable& variable) { return begin_of(variable) <= address; });
    }

    const ElfVariables& all_;
    Addr bias_;
};

// Of a file, read once.
const ElfVariables& unique_variables(const ObjectFile& file) {
    static constinit std::vector<const ElfVariables*>* known = nullptr;
    if (known == nullptr) known = new std::vector<const ElfVariables*>;
    if (known->size() <= file.id) known->resize(file.id + 1);
    const ElfVariables*& variables = (*known)[file.id];
    if (variables == nullptr) variables = new ElfVariables(read_unique_variables(InputFile(file.name).bytes()));
    return *variables;
}

// By how much a file lies above the addresses that it was linked for.
Addr bias_of(const ObjectFile& file) {
    const std::string_view name = file.name;
    for (const DebugInfo* info = VG_(next_DebugInfo)(nullptr); info != nullptr; info = VG_(next_DebugInfo)(info)) {
        if (name == VG_(DebugInfo_get_filename)(info)) return static_cast<Addr>(VG_(DebugInfo_get_text_bias)(info));
    }
    return 0;
}

using List = std::vector<MappedObject>;

// What is not a variable belongs to the file. Nothing is ever freed: the engine's groups point there.
void add_variables(Addr begin, Addr end, const ObjectFile& file, List* list) {
    constexpr Addr kStep = 8;  // where there is no variable: they are aligned mostly
    const UniqueVariables unique(unique_variables(file), bias_of(file));
    Addr file_begin = begin;
    const auto add_file = [&](Addr until) {
        if (file_begin < until) list->push_back({file_begin, until, ObjectKind::kFile, nullptr, &file});
    };
    for (Addr at = begin; at < end;) {
        SizeT size = 0;
        Variable variable = variable_at(at);
        if (variable.name != nullptr) {
            variable.name = kept(variable.name);
            size = end_of(variable, at) - variable.begin;
        } else {
            variable = unique.at(at, &size);
        }
        if (variable.name == nullptr) {
            at = std::min((at / kStep + 1) * kStep, unique.next(at));
            continue;
        }
        const Addr end_here = std::min(variable.begin + size, end);
        add_file(at);
        list->push_back({at, end_here, ObjectKind::kStatic, variable.name, &file, variable.begin, size});
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
