// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/thread_locals.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/objects/object_groups.h"
#include "tool/input_file.h"
#include "tool/session.h"
#include "tool/thread_local_blocks.h"
#include "tool/elf_variables.h"
#include "tool/trace_buffer.h"

namespace bd {
namespace {

// Where the thread's own data begins, or what the program uses that register for; 0 if that is not known.
Addr thread_pointer(ThreadId thread) {
    [[maybe_unused]] const auto get = [thread](std::size_t offset, auto* value) {
        VG_(get_shadow_regs_area)(thread, reinterpret_cast<UChar*>(value), 0, static_cast<PtrdiffT>(offset),
                                  sizeof *value);
    };
#if defined(VGA_amd64)
    Addr base = 0;
    get(offsetof(VexGuestAMD64State, guest_FS_CONST), &base);
    return base;
#elif defined(VGA_x86)
    // The selector of a segment, whose base lies in several bytes of its descriptor. The table is the core's own.
    using State = VexGuestX86State;
    UShort selector = 0;
    decltype(State::guest_GDT) table = 0;
    get(offsetof(State, guest_GS), &selector);
    if ((selector & 4) != 0) {
        get(offsetof(State, guest_LDT), &table);
    } else {
        get(offsetof(State, guest_GDT), &table);
    }
    if (selector == 0 || table == 0) return 0;
    const auto* const descriptor = reinterpret_cast<const UChar*>(static_cast<Addr>(table)) + (selector & ~7u);
    return Addr{descriptor[7]} << 24 | Addr{descriptor[4]} << 16 | Addr{descriptor[3]} << 8 | descriptor[2];
#elif defined(VGA_arm64)
    ULong base = 0;
    get(offsetof(VexGuestARM64State, guest_TPIDR_EL0), &base);
    return base;
#else
    return 0;
#endif
}

bool is_readable(const void*, Address begin, std::uint64_t size) {
    return begin + size >= begin && begin + size <= ~Addr{0} &&
           VG_(am_is_valid_for_client)(static_cast<Addr>(begin), static_cast<SizeT>(size), VKI_PROT_READ);
}

Address word_at(const void*, Address at) {
    return *reinterpret_cast<const Addr*>(static_cast<Addr>(at));
}

#if defined(VGA_arm64)
constexpr bool kHasBlocksAbove = true;
#else
constexpr bool kHasBlocksAbove = false;
#endif
constexpr GuestWords kGuestWords{sizeof(Addr), kHasBlocksAbove, is_readable, word_at, nullptr};

// --- Object files

// Kept for ever, as the engine's groups have names in there.
struct File {
    ThreadLocalSegment segment;
    const ObjectFile* object;
};

// An object file that is loaded.
struct Loaded {
    Addr code;
    const File* file;  // null: it has no thread-local variables
    std::uint32_t number;
    bool is_program;
};

using List = std::vector<MappedObject>;

struct Watch {
    std::vector<Loaded> loaded;
    std::vector<ThreadLocalModule> modules;  // of those with variables
    std::uint32_t version = 1;               // another one whenever something is loaded or unloaded
    bool has_begun = false;
    UInt epoch = 0;  // of the core's knowledge

    // What a block at this address is made of. Threads come and go in the same places.
    boost::unordered_flat_map<std::pair<const void*, Address>, List*, boost::hash<std::pair<const void*, Address>>>
        lists;

    struct Thread {
        bool may_have_changed = true;
        Addr pointer = 0;
        ThreadPointers pointers;
        std::uint32_t version = 0;
        std::vector<std::pair<const void*, Address>> told;
    };
    std::unique_ptr<Thread[]> threads{new Thread[VG_N_THREADS]};
};

// Null: not wanted.
constinit Watch* watch = nullptr;

const File* read_file(const HChar* path, bool* is_interpreted) {
    const InputFile file(path);
    ThreadLocalSegment segment = read_thread_local_segment(file.bytes());
    *is_interpreted = segment.is_interpreted;
    if (segment.size == 0) return nullptr;
    return new File{std::move(segment), &session->object_file(path)};
}

bool is_code(Addr address) {
    const NSegment* const segment = VG_(am_find_nsegment)(address);
    return segment != nullptr && segment->kind == SkFileC && segment->hasX;
}

// glibc gives each object file that has thread-local variables the lowest number that is free.
std::uint32_t free_number() {
    std::uint32_t number = 1;
    while (std::ranges::find(watch->modules, number, &ThreadLocalModule::number) != watch->modules.end()) ++number;
    return number;
}

void number_modules() {
    watch->modules.clear();
    for (const Loaded& each : watch->loaded) {
        if (each.file != nullptr) watch->modules.push_back({&each.file->segment, each.number, each.is_program});
    }
}

// Object files come one at a time; but the program and its dynamic linker are there from the beginning.
void look_for_files() {
    const UInt epoch = VG_(current_DiEpoch)().n;
    if (watch->has_begun && epoch == watch->epoch) return;
    struct New {
        Loaded loaded;
        bool is_interpreted;
    };
    std::vector<New> found;
    for (const DebugInfo* info = VG_(next_DebugInfo)(nullptr); info != nullptr; info = VG_(next_DebugInfo)(info)) {
        const Addr code = VG_(DebugInfo_get_text_avma)(info);
        const bool is_known = std::ranges::find(watch->loaded, code, &Loaded::code) != watch->loaded.end();
        if (is_known || !is_code(code)) continue;
        bool is_interpreted = false;
        const File* const file = read_file(VG_(DebugInfo_get_filename)(info), &is_interpreted);
        found.push_back({{code, file, 0, false}, is_interpreted});
    }
    if (!watch->has_begun) {
        std::ranges::stable_sort(found, {}, [](const New& each) { return !each.is_interpreted; });
        if (!found.empty()) found.front().loaded.is_program = true;
    }
    watch->has_begun = true;
    watch->epoch = epoch;
    for (const New& each : found) {
        watch->loaded.push_back(each.loaded);
        if (each.loaded.file == nullptr) continue;
        watch->loaded.back().number = free_number();
        number_modules();
        ++watch->version;
    }
}

// --- Blocks

// What is not a variable belongs to the file.
List* make_list(const File& file, Address block) {
    auto* const list = new List;
    Address at = block;
    const auto add_file = [&](Address until) {
        if (at < until) list->push_back({at, until, ObjectKind::kFile, nullptr, file.object});
    };
    for (const ElfVariable& variable : file.segment.variables) {
        const Address begin = block + variable.offset;
        add_file(begin);
        at = begin + variable.size;
        list->push_back({begin, at, ObjectKind::kThreadLocal, file.segment.name(variable), file.object, begin,
                         variable.size, variable.offset});
    }
    add_file(block + file.segment.size);
    return list;
}

}  // namespace

void watch_thread_locals() {
    watch = new Watch;
}

void thread_locals_may_change(ThreadId thread) {
    if (watch != nullptr) watch->threads[thread].may_have_changed = true;
}

void forget_thread_locals(ThreadId thread) {
    if (watch != nullptr) watch->threads[thread] = {};
}

void thread_locals_unmapped(Addr begin, Addr end) {
    const auto is_there = [&](const Loaded& each) { return begin <= each.code && each.code < end; };
    if (watch == nullptr || std::erase_if(watch->loaded, is_there) == 0) return;
    number_modules();
    ++watch->version;
}

// Only where a system call has been, or at the beginning: no call is half done there.
void tell_thread_locals(ThreadId thread) {
    if (watch == nullptr || !std::exchange(watch->threads[thread].may_have_changed, false)) return;
    look_for_files();
    Watch::Thread& known = watch->threads[thread];
    const Addr pointer = thread_pointer(thread);
    const ThreadPointers pointers = thread_pointers(pointer, kGuestWords);
    if (known.pointer == pointer && known.pointers == pointers && known.version == watch->version) return;
    if (known.pointer != pointer) known.told.clear();
    known.pointer = pointer;
    known.pointers = pointers;
    known.version = watch->version;
    for (const ThreadLocalBlock& block : thread_local_blocks(pointer, watch->modules, kGuestWords)) {
        const auto of_segment = [&](const Loaded& each) {
            return each.file != nullptr && &each.file->segment == block.module->segment;
        };
        const File& file = *std::ranges::find_if(watch->loaded, of_segment)->file;
        const std::pair<const void*, Address> key{&file, block.begin};
        if (std::ranges::find(known.told, key) != known.told.end()) continue;
        known.told.push_back(key);
        List*& list = watch->lists[key];
        if (list == nullptr) list = make_list(file, block.begin);
        mark_trace(Marker::kMapped, block.begin, block.begin + file.segment.size,
                   reinterpret_cast<std::uintptr_t>(list));
    }
}

}  // namespace bd
