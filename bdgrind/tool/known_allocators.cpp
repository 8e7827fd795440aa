// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/known_allocators.h"

#include <algorithm>
#include <iterator>

#include "tool/name_pattern.h"

namespace bd {
namespace {

using AllocatorKind::kAllocates;
using AllocatorKind::kForwards;
using AllocatorKind::kFrees;
using AllocatorKind::kReallocates;
using AllocatorKind::kWraps;

struct Known {
    std::string_view name;
    AllocatorRole role;
};

constexpr Known kExact[]{
    {"malloc", {.kind = kAllocates, .size = 1}},
    {"calloc", {.kind = kAllocates, .size = 2, .count = 1}},
    {"realloc", {.kind = kReallocates, .block = 1, .size = 2}},
    {"reallocarray", {.kind = kReallocates, .block = 1, .size = 3, .count = 2}},
    {"memalign", {.kind = kAllocates, .size = 2}},
    {"aligned_alloc", {.kind = kAllocates, .size = 2}},
    {"posix_memalign", {.kind = kAllocates, .size = 3, .stored_at = 1}},
    {"valloc", {.kind = kAllocates, .size = 1}},
    {"pvalloc", {.kind = kAllocates, .size = 1}},
    {"free", {.kind = kFrees, .block = 1}},
    {"cfree", {.kind = kFrees, .block = 1}},
    {"free_sized", {.kind = kFrees, .block = 1}},
    {"free_aligned_sized", {.kind = kFrees, .block = 1}},
    // jemalloc's own; they take flags, too.
    {"mallocx", {.kind = kAllocates, .size = 1}},
    {"rallocx", {.kind = kReallocates, .block = 1, .size = 2}},
    {"dallocx", {.kind = kFrees, .block = 1}},
    {"sdallocx", {.kind = kFrees, .block = 1}},
    // What these return comes from one of the above, or is memory that is mapped.
    {"strdup", {.kind = kWraps}},
    {"__strdup", {.kind = kWraps}},
    {"strndup", {.kind = kWraps}},
    {"__strndup", {.kind = kWraps}},
    {"wcsdup", {.kind = kWraps}},
    {"asprintf", {.kind = kWraps}},
    {"vasprintf", {.kind = kWraps}},
    {"getline", {.kind = kWraps}},
    {"getdelim", {.kind = kWraps}},
};

constexpr AllocatorRole kNew{.kind = kAllocates, .size = 1};
constexpr AllocatorRole kDelete{.kind = kFrees, .block = 1};
constexpr AllocatorRole kWrapper{.kind = kWraps};
constexpr AllocatorRole kForwarder{.kind = kForwards};

// What libraries put before the names above, where they do not take the place of C's: jemalloc (as configured with
// --with-jemalloc-prefix=je_, and as Rust's crate has it), mimalloc, tcmalloc, rpmalloc, snmalloc, dlmalloc.
constexpr std::string_view kPrefixes[]{"je_", "_rjem_", "mi_", "tc_", "rp", "sn_", "dl"};

// Functions of mimalloc and tcmalloc that are none of C's. Where C++'s operators are other names for the same code, the
// core may tell any of them.
constexpr Known kOfLibraries[]{
    {"mi_zalloc", kNew},
    {"mi_malloc_small", kNew},
    {"mi_zalloc_small", kNew},
    {"mi_malloc_aligned", kNew},
    {"mi_zalloc_aligned", kNew},
    {"mi_mallocn", {.kind = kAllocates, .size = 2, .count = 1}},
    {"mi_calloc_aligned", {.kind = kAllocates, .size = 2, .count = 1}},
    {"mi_reallocf", {.kind = kReallocates, .block = 1, .size = 2}},
    {"mi_rezalloc", {.kind = kReallocates, .block = 1, .size = 2}},
    {"mi_realloc_aligned", {.kind = kReallocates, .block = 1, .size = 2}},
    {"mi_reallocn", {.kind = kReallocates, .block = 1, .size = 3, .count = 2}},
    {"mi_recalloc", {.kind = kReallocates, .block = 1, .size = 3, .count = 2}},
    {"mi_heap_malloc", {.kind = kAllocates, .size = 2}},
    {"mi_heap_malloc_small", {.kind = kAllocates, .size = 2}},
    {"mi_heap_zalloc", {.kind = kAllocates, .size = 2}},
    {"mi_heap_malloc_aligned", {.kind = kAllocates, .size = 2}},
    {"mi_heap_calloc", {.kind = kAllocates, .size = 3, .count = 2}},
    {"mi_heap_realloc", {.kind = kReallocates, .block = 2, .size = 3}},
    {"mi_new", kNew},
    {"mi_new_aligned", kNew},
    {"mi_new_nothrow", kNew},
    {"mi_new_aligned_nothrow", kNew},
    {"mi_new_n", {.kind = kAllocates, .size = 2, .count = 1}},
    {"mi_free_size", kDelete},
    {"mi_free_aligned", kDelete},
    {"mi_free_size_aligned", kDelete},
    {"tc_malloc_skip_new_handler", kNew},
    {"tc_new", kNew},
    {"tc_new_nothrow", kNew},
    {"tc_new_aligned", kNew},
    {"tc_new_aligned_nothrow", kNew},
    {"tc_newarray", kNew},
    {"tc_newarray_nothrow", kNew},
    {"tc_newarray_aligned", kNew},
    {"tc_newarray_aligned_nothrow", kNew},
    {"tc_delete", kDelete},
    {"tc_delete_nothrow", kDelete},
    {"tc_delete_sized", kDelete},
    {"tc_delete_aligned", kDelete},
    {"tc_delete_aligned_nothrow", kDelete},
    {"tc_delete_sized_aligned", kDelete},
    {"tc_deletearray", kDelete},
    {"tc_deletearray_nothrow", kDelete},
    {"tc_deletearray_sized", kDelete},
    {"tc_deletearray_aligned", kDelete},
    {"tc_deletearray_aligned_nothrow", kDelete},
    {"tc_deletearray_sized_aligned", kDelete},
};

// What the name begins with.
constexpr Known kBeginnings[]{
    {"operator new(", kNew},
    {"operator new[](", kNew},
    {"operator delete(", kDelete},
    {"operator delete[](", kDelete},
    {"_Znw", kNew},
    {"_Zna", kNew},
    {"_Zdl", kDelete},
    {"_Zda", kDelete},
    // Not inlined without optimization. Their names have the type of the elements.
    {"std::allocator<", kForwarder},
    {"std::allocator_traits<", kForwarder},
    {"std::__new_allocator<", kForwarder},
    {"__gnu_cxx::new_allocator<", kForwarder},
    {"_ZNSt9allocatorI", kForwarder},
    {"_ZNSt16allocator_traitsI", kForwarder},
    {"_ZNSt15__new_allocatorI", kForwarder},
    {"_ZN9__gnu_cxx13new_allocatorI", kForwarder},
};

// C's functions have several names, of which any may be told.
std::string_view plain_name(std::string_view name) {
    name = name.substr(0, name.find('@'));
    for (const std::string_view prefix : {"__GI_", "__libc_"}) {
        if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    }
    return name;
}

template <std::size_t kSize>
const Known* find_name(const Known (&all)[kSize], std::string_view name) {
    const Known* const found = std::ranges::find(all, name, &Known::name);
    return found == std::end(all) ? nullptr : found;
}

// C's functions, with a library's prefix, too, and those of libraries that have no other name.
const Known* find_exact(std::string_view name) {
    name = plain_name(name);
    if (const Known* const known = find_name(kExact, name)) return known;
    if (const Known* const known = find_name(kOfLibraries, name)) return known;
    for (const std::string_view prefix : kPrefixes) {
        if (!name.starts_with(prefix)) continue;
        if (const Known* const known = find_name(kExact, name.substr(prefix.size()))) return known;
    }
    return nullptr;
}

// A member of that name; what constructs and frees objects are members, too.
bool is_allocate(std::string_view name) {
    return name.find(">::allocate") != std::string_view::npos || name.find("E8allocate") != std::string_view::npos;
}

// Object files whose code without a name may be the end of an allocator.
constexpr std::string_view kEndingLibraries[]{
    "libc.", "libc-", "libjemalloc", "libmimalloc", "libtcmalloc", "librpmalloc", "libsnmalloc",
};

// Of Rust's: what its functions for allocation begin with. Each calls the next one, through several crates and files of
// its library, before one of C's is called.
constexpr std::string_view kRustBeginnings[]{
    "__rustc::__r", "__rust_", "__rdl_", "__rg_", "alloc::alloc::", "alloc::raw_vec::",
};

// Without its parameters, and those of what it belongs to: of a::b::c::<d::e>, c.
std::string_view last_part(std::string_view name) {
    while (name.ends_with('>')) {
        std::size_t depth = 0;
        std::size_t at = name.size();
        do {
            --at;
            if (name[at] == '>') ++depth;
            if (name[at] == '<') --depth;
        } while (at != 0 && depth != 0);
        name = name.substr(0, at);
        while (name.ends_with(':')) name.remove_suffix(1);
    }
    return name.substr(name.rfind(':') + 1);
}

// Others of the same crates are called all the time.
bool is_rust_allocator(std::string_view name) {
    if (name.starts_with('<')) name.remove_prefix(1);
    if (std::ranges::none_of(kRustBeginnings, [name](std::string_view each) { return name.starts_with(each); })) {
        return false;
    }
    const std::string_view part = last_part(name);
    const auto has = [part](std::string_view text) { return part.find(text) != std::string_view::npos; };
    return (has("alloc") && !has("dealloc") && !has("no_alloc")) || has("grow") || has("reserve") ||
           has("with_capacity");
}

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

bool is_cpp_library(std::string_view object) {
    const std::string_view name = file_name(object);
    return name.starts_with("libstdc++.so") || name.starts_with("libc++.so") || name.starts_with("libc++abi.so");
}

// Places an object where it is told to, and neither allocates nor frees.
bool is_placement(std::string_view name) {
    return name.ends_with("(unsigned long, void*)") || name.ends_with("(unsigned int, void*)") ||
           name.ends_with("(void*, void*)") || name == "_ZnwmPv" || name == "_ZnamPv" || name == "_ZnwjPv" ||
           name == "_ZnajPv" || name == "_ZdlPvS_" || name == "_ZdaPvS_";
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// In letters of any case.
bool contains(std::string_view text, std::string_view what) {
    return !std::ranges::search(text, what, {}, lower).empty();
}

// Without the type of the result, which functions made of templates have before their names.
std::string_view without_result(std::string_view name) {
    std::size_t depth = 0;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (name[at] == '<') ++depth;
        if (name[at] == '>' && depth != 0) --depth;
        if (name[at] == ' ' && depth == 0) begin = at + 1;
    }
    return name.substr(begin);
}

}  // namespace

bool is_named_as_wrapper(std::string_view name) {
    name = without_result(without_parameters(name));
    for (const std::string_view library : {"std::", "__gnu_cxx::", "_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx"}) {
        if (name.starts_with(library)) return true;
    }
    const std::string_view part = last_part(name);
    return (contains(part, "alloc") && !contains(part, "dealloc")) || contains(part, "strdup") ||
           contains(part, "strndup") || contains(part, "memdup");
}

AllocatorRole known_allocator(std::string_view name, std::string_view object) {
    if (const Known* const exact = find_exact(name)) return exact->role;
    const auto known =
        std::ranges::find_if(kBeginnings, [name](const Known& each) { return name.starts_with(each.name); });
    if (known == std::end(kBeginnings) && is_rust_allocator(name)) return kWrapper;
    if (known == std::end(kBeginnings) || is_placement(name)) return {};
    // Of the standard allocators, only this allocates: constructors and the like are called by them, too.
    if (known->role.kind == kForwards && !is_allocate(name)) return {};
    // The C++ library's own operators call C's functions, which tell all there is to know: three markers for a new and
    // a delete, not six.
    if (is_cpp_library(object)) return known->role.kind == kFrees ? AllocatorRole{} : kForwarder;
    return known->role;
}

bool may_end_allocator(const Function& function) {
    std::string_view name = function.name;
    if (name.starts_with("0x")) {
        // Without debug information, so are the variants of memset() for the machine, and what an allocator does if its
        // first attempt fails.
        const std::string_view object = file_name(function.object->name);
        return std::ranges::any_of(kEndingLibraries,
                                   [object](std::string_view each) { return object.starts_with(each); });
    }
    // Mangled or not.
    if (name.find("tcmalloc") != name.npos &&
        (name.find("allocate_full_") != name.npos || name.find("FetchFromCentralCache") != name.npos)) {
        return true;
    }
    while (name.starts_with('_')) name.remove_prefix(1);
    return name.starts_with("memset") || name.starts_with("memcpy") || name.starts_with("memmove") ||
           name.starts_with("mid_memalign");  // which others may have called before
}

}  // namespace bd
