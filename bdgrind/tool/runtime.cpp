// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the C and C++ libraries would supply in an ordinary program. The tool is linked without either: there is no
// libc below Valgrind, and libcoregrind brings only memcpy, memmove, memset and abort. This file has the rest of what
// gcc and the headers of the C++ library refer to, and not more: a symbol that is missing here fails the link and the
// undefined-symbols gate, which is the moment to ask whether the code that wants it belongs into the tool.
//
// Deliberately absent: __cxa_atexit and __cxa_guard_* (static constructors never run here, every global is constinit)
// and everything about exceptions.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>

#include "engine/base/check.h"
#include "engine/base/zeroed_array.h"
#include "tool/engine_threads.h"
#include "tool/runtime.h"
#include "tool/valgrind.h"

namespace {

void* allocate(std::size_t size_bytes) {
    return bd::heap.allocate(size_bytes);
}

// An over-aligned block starts behind a word that holds the address to be freed.
void* allocate_aligned(std::size_t size_bytes, std::align_val_t alignment) {
    const auto align = static_cast<std::size_t>(alignment);
    char* const block = static_cast<char*>(allocate(size_bytes + align + sizeof(void*)));
    const auto first = reinterpret_cast<std::uintptr_t>(block) + sizeof(void*);
    const auto aligned = (first + align - 1) & ~(align - 1);
    void** const result = reinterpret_cast<void**>(aligned);
    result[-1] = block;
    return result;
}

void free_aligned(void* block) {
    if (block != nullptr)
        bd::heap.free(static_cast<void**>(block)[-1]);
}

[[noreturn]] void stop(const char* sentence) {
    VG_(tool_panic)(sentence);
    __builtin_unreachable();  // The declaration of tool_panic does not say that it never returns.
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t align) { return allocate_aligned(size, align); }
void* operator new[](std::size_t size, std::align_val_t align) { return allocate_aligned(size, align); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }

void operator delete(void* block) noexcept { bd::heap.free(block); }
void operator delete[](void* block) noexcept { bd::heap.free(block); }
void operator delete(void* block, std::size_t) noexcept { bd::heap.free(block); }
void operator delete[](void* block, std::size_t) noexcept { bd::heap.free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { bd::heap.free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { bd::heap.free(block); }
void operator delete(void* block, std::align_val_t) noexcept { free_aligned(block); }
void operator delete[](void* block, std::align_val_t) noexcept { free_aligned(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { free_aligned(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { free_aligned(block); }

const std::nothrow_t std::nothrow{};

// The headers say that the C++ library has it compiled, which an optimising compiler never needs, but -O0 does.
template class std::allocator<char>;

// gcc recognises hand-written loops over bytes and turns them into calls of the very functions they implement; these
// go through Valgrind's own, which were compiled with that in mind.
extern "C" {

// Valgrind's own goes byte by byte, and what is compared here is mostly names that begin alike.
int memcmp(const void* left, const void* right, std::size_t size) {
    const auto* a = static_cast<const unsigned char*>(left);
    const auto* b = static_cast<const unsigned char*>(right);
    for (; size >= sizeof(std::uint64_t); size -= sizeof(std::uint64_t)) {
        std::uint64_t of_a;
        std::uint64_t of_b;
        __builtin_memcpy(&of_a, a, sizeof of_a);
        __builtin_memcpy(&of_b, b, sizeof of_b);
        if (of_a != of_b) break;
        a += sizeof of_a;
        b += sizeof of_b;
    }
    return VG_(memcmp)(a, b, size);
}

// Under another name, as the C library's header has overloads of this one.
void* find_byte(const void* block, int byte, std::size_t size) __asm__("memchr");
void* find_byte(const void* block, int byte, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(block);
    for (std::size_t i = 0; i < size; ++i)
        if (bytes[i] == static_cast<unsigned char>(byte))
            return const_cast<unsigned char*>(bytes + i);
    return nullptr;
}

std::size_t strlen(const char* text) {
    return VG_(strlen)(text);
}

int strcmp(const char* left, const char* right) {
    return VG_(strcmp)(left, right);
}

int strncmp(const char* left, const char* right, std::size_t size) {
    return VG_(strncmp)(left, right, size);
}

[[noreturn]] void __cxa_pure_virtual() {
    stop("a pure virtual function was called");
}

}  // extern "C"

// The C++ library reports these by exceptions, which end here: each is a bug of ours or memory that cannot be had.
namespace std {

void __throw_length_error(const char* what) { stop(what); }
void __throw_logic_error(const char* what) { stop(what); }
void __throw_invalid_argument(const char* what) { stop(what); }
void __throw_out_of_range(const char* what) { stop(what); }
void __throw_out_of_range_fmt(const char* what, ...) { stop(what); }
void __throw_bad_alloc() { stop("an allocation is larger than the address space"); }
void __throw_bad_array_new_length() { stop("an array is larger than the address space"); }
void __throw_bad_function_call() { stop("an empty std::function was called"); }

}  // namespace std

namespace bd {

void* pages_or_null(std::size_t size_bytes) {
    BD_CHECK(!EngineThreads::is_here());
    return address_or_null(VG_(am_shadow_alloc)(VG_PGROUNDUP(size_bytes)));
}

namespace {

// What a thread of the engine's asks for: memory, or that it is taken back.
struct MemoryRequest {
    void* memory;
    std::size_t size_bytes;
};

void unmap(void* memory, std::size_t size_bytes) {
    BD_CHECK(!EngineThreads::is_here());
    VG_(am_munmap_valgrind)(reinterpret_cast<Addr>(memory), VG_PGROUNDUP(size_bytes));
}

// On whichever thread. Null: there is none.
void* supply(std::size_t size_bytes) {
    if (!EngineThreads::is_here()) return pages_or_null(size_bytes);
    MemoryRequest request{nullptr, size_bytes};
    const auto supply_here = [](void* argument) {
        auto* const asked = static_cast<MemoryRequest*>(argument);
        asked->memory = pages_or_null(asked->size_bytes);
    };
    EngineThreads::ask(supply_here, &request);
    return request.memory;
}

void take_back(void* memory, std::size_t size_bytes) {
    if (!EngineThreads::is_here()) return unmap(memory, size_bytes);
    MemoryRequest request{memory, size_bytes};
    const auto take = [](void* argument) {
        const auto* const given = static_cast<const MemoryRequest*>(argument);
        unmap(given->memory, given->size_bytes);
    };
    EngineThreads::ask(take, &request);
}

void end_for_want_of_memory() {
    VG_(umsg)("Out of memory. The run ends here, without a profile.\n");
    VG_(exit)(1);
}

void heap_exhausted() {
    if (EngineThreads::is_here()) EngineThreads::ask([](void*) { end_for_want_of_memory(); }, nullptr);
    end_for_want_of_memory();
}

}  // namespace

constinit Heap heap{supply, take_back, heap_exhausted};

void check_failed(const char* file, int line, const char* what, std::uint64_t left, std::uint64_t right) {
    VG_(umsg)("%s:%d: check failed: %s (left %llu, right %llu)\n", file, line, what,
              static_cast<unsigned long long>(left), static_cast<unsigned long long>(right));
    stop("a check of bdgrind's own failed, as the line above says");
}

// Pages of their own, which the kernel hands out zeroed when they are touched: VG_(calloc) would touch all of them.
void* allocate_zeroed(std::size_t size_bytes) {
    void* const memory = supply(size_bytes);
    if (memory != nullptr) return memory;
    const auto end = [](void*) {
        VG_(umsg)("There is not enough memory for the simulated caches.\n");
        VG_(exit)(1);
    };
    if (EngineThreads::is_here()) EngineThreads::ask(end, nullptr);
    end(nullptr);
    return nullptr;
}

void free_zeroed(void* memory, std::size_t size_bytes) {
    take_back(memory, size_bytes);
}

}  // namespace bd
