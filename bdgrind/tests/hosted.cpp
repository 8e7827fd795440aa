// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the engine needs from the program that links it, for an ordinary program; in the tool it is tool/runtime.cpp.

#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "engine/base/check.h"
#include "engine/base/spin_lock.h"
#include "engine/base/zeroed_array.h"

namespace bd {

void check_failed(const char* file, int line, const char* what, std::uint64_t left, std::uint64_t right) {
    std::fprintf(stderr, "%s:%d: check failed: %s (left %" PRIu64 ", right %" PRIu64 ")\n", file, line, what, left,
                 right);
    std::abort();
}

void nap() {
    usleep(1000);
}

void* allocate_zeroed(std::size_t size_bytes) {
    void* const memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    return memory;
}

void free_zeroed(void* memory, std::size_t size_bytes) {
    munmap(memory, size_bytes);
}

}  // namespace bd
