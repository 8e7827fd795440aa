// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/known_allocators.h"

#include <algorithm>
#include <iterator>

namespace bd {
namespace {

using enum AllocatorKind;

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
    {"std::allocator<", kWrapper},
    {"std::allocator_traits<", kWrapper},
    {"std::__new_allocator<", kWrapper},
    {"__gnu_cxx::new_allocator<", kWrapper},
    {"_ZNSt9allocatorI", kWrapper},
    {"_ZNSt16allocator_traitsI", kWrapper},
    {"_ZNSt15__new_allocatorI", kWrapper},
    {"_ZN9__gnu_cxx13new_allocatorI", kWrapper},
};

// C's functions have several names, of which any may be told.
std::string_view plain_name(std::string_view name) {
    name = name.substr(0, name.find('@'));
    for (const std::string_view prefix : {"__GI_", "__libc_"}) {
        if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    }
    return name;
}

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

}  // namespace

AllocatorRole known_allocator(std::string_view name, std::string_view object) {
    const auto exact = std::ranges::find(kExact, plain_name(name), &Known::name);
    if (exact != std::end(kExact)) return exact->role;
    const auto known =
        std::ranges::find_if(kBeginnings, [name](const Known& each) { return name.starts_with(each.name); });
    if (known == std::end(kBeginnings) && is_rust_allocator(name)) return kWrapper;
    if (known == std::end(kBeginnings) || is_placement(name)) return {};
    // Of the standard allocators, only this allocates: constructors and the like are called by them, too.
    if (known->role.kind == kWraps && name.find("allocate") == std::string_view::npos) return {};
    // The C++ library's own operators call C's functions, which tell all there is to know. (That saves three markers of
    // seven for a new and a delete.)
    if (is_cpp_library(object)) return known->role.kind == kFrees ? AllocatorRole{} : kWrapper;
    return known->role;
}

bool may_end_allocator(const Function& function) {
    std::string_view name = function.name;
    if (name.starts_with("0x")) {
        // Without debug information, so are the variants of memset() for the machine.
        const std::string_view object = file_name(function.object->name);
        return object.starts_with("libc.") || object.starts_with("libc-");
    }
    while (name.starts_with('_')) name.remove_prefix(1);
    return name.starts_with("memset") || name.starts_with("memcpy") || name.starts_with("memmove") ||
           name.starts_with("mid_memalign");  // which others may have called before
}

}  // namespace bd
