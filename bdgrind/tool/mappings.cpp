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
#include "tool/variable_search.h"

namespace bd {
namespace {

// As the core knows it.
FoundVariable variable_at(Address address) {
    const HChar* name = nullptr;
    PtrdiffT offset = 0;
    const auto at = static_cast<Addr>(address);
    if (!VG_(get_datasym_and_offset)(VG_(current_DiEpoch)(), at, &name, &offset)) return {};
    return {at - static_cast<Addr>(offset), 0, name};
}

const char* kept(const char* name) {
    const std::string_view text(name);
    char* const copy = new char[text.size() + 1];
    *std::copy(text.begin(), text.end(), copy) = '\0';
    return copy;
}

// Of a file that is loaded, as its own symbols say.
class FileVariables {
public:
    FileVariables(const ElfVariables& all, Addr bias) : all_(all), bias_(bias) {}

    // The first that ends behind the address; without a name if there is none.
    FoundVariable first(Address address) const {
        const auto found = std::ranges::partition_point(
            all_.variables, [&](const ElfVariable& each) { return begin_of(each) + each.size <= address; });
        if (found == all_.variables.end()) return {};
        return {begin_of(*found), found->size, all_.name(*found)};
    }

private:
    Address begin_of(const ElfVariable& variable) const { return static_cast<Addr>(variable.offset) + bias_; }

    const ElfVariables& all_;
    Addr bias_;
};

// Of a file, read once.
const ElfVariables& static_variables(const ObjectFile& file) {
    static constinit std::vector<const ElfVariables*>* known = nullptr;
    if (known == nullptr) known = new std::vector<const ElfVariables*>;
    if (known->size() <= file.id) known->resize(file.id + 1);
    const ElfVariables*& variables = (*known)[file.id];
    if (variables == nullptr) variables = new ElfVariables(read_static_variables(InputFile(file.name).bytes()));
    return *variables;
}

// Null: the core has read nothing in it, as it is no object file, or not all of it has been mapped.
const DebugInfo* debug_info_of(const ObjectFile& file) {
    const std::string_view name = file.name;
    for (const DebugInfo* info = VG_(next_DebugInfo)(nullptr); info != nullptr; info = VG_(next_DebugInfo)(info)) {
        if (name == VG_(DebugInfo_get_filename)(info)) return VG_(DebugInfo_get_text_size)(info) != 0 ? info : nullptr;
    }
    return nullptr;
}

using List = std::vector<MappedObject>;

// What is not a variable belongs to the file. Nothing is ever freed: the engine's groups point there.
void add_variables(Address begin, Address end, const ObjectFile& file, List* list) {
    Address file_begin = begin;
    const auto add_file = [&](Address until) {
        if (file_begin < until) list->push_back({file_begin, until, ObjectKind::kFile, nullptr, &file});
    };
    if (const DebugInfo* const info = debug_info_of(file)) {
        const VariableSearch core(variable_at);
        const FileVariables files(static_variables(file), static_cast<Addr>(VG_(DebugInfo_get_text_bias)(info)));
        while (file_begin < end) {
            FoundVariable next = files.first(file_begin);
            if (next.begin >= end) next = {};
            const Address stop = next.name == nullptr ? end : std::max(next.begin, file_begin);
            // What the core says of a byte counts, as it may have read a file with more symbols.
            FoundVariable variable = core.first(file_begin, stop);
            if (variable.name == nullptr && stop != end) variable = core.first(stop, stop + 1);
            if (variable.name != nullptr) {
                variable.name = kept(variable.name);
            } else if (next.name != nullptr) {
                variable = next;
            } else {
                break;
            }
            const Address at = std::max(variable.begin, file_begin);
            const Address end_here = std::min(variable.begin + variable.size, end);
            add_file(at);
            list->push_back({at, end_here, ObjectKind::kStatic, variable.name, &file, variable.begin, variable.size});
            file_begin = end_here;
        }
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

// What was there before is gone.
void mark_unmapped(Addr begin, SizeT size) {
    mark_trace(Marker::kUnmapped, begin, begin + size);
}

void memory_is_mapped(Addr begin, SizeT size, Bool, Bool, Bool executable, ULong debug_info) {
    if (size == 0) return;
    mark_unmapped(begin, size);
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

// What it is now part of, the core has noted already.
void memory_has_moved(Addr, Addr to, SizeT size) {
    const NSegment* const segment = VG_(am_find_nsegment)(to);
    mark_unmapped(to, size);
    describe(to, to + size, segment != nullptr && segment->hasX);
}

void heap_grows(Addr begin, SizeT size, ThreadId) {
    mark_unmapped(begin, size);
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
