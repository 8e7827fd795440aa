// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where a thread's copies of thread-local variables are. amd64 and x86 have variant II of ELF's thread-local storage:
//
//     ...  block of module 2   block of module 1 | thread pointer: its own address, then a table of blocks
//                                                        by the number of the module
//
// and arm64 has variant I, in which the table of musl lies one word before:
//
//     thread pointer: a table of blocks, then a word | block of module 1   block of module 2  ...
//
// The program's own block, if there is one, lies next to the thread pointer whatever the C library. The table is the C
// library's: that of glibc and of musl are known. Nothing says which one it is, nor whether the thread pointer is used
// for something else: so what is read is believed only if all of it fits together.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/types.h"
#include "tool/elf_variables.h"

namespace bd {

// An object file that has thread-local variables.
struct ThreadLocalModule {
    const ThreadLocalSegment* segment;
    std::uint32_t number;  // the C library's, from 1
    bool is_program;       // the file that was executed
};

struct ThreadLocalBlock {
    const ThreadLocalModule* module;
    Address begin;
};

struct GuestWords {
    unsigned bytes;         // of a word, 4 or 8
    bool has_blocks_above;  // the thread pointer: variant I
    // Whether all of this memory may be read.
    bool (*is_readable)(const void* memory, Address begin, std::uint64_t size);
    // The word there, which may be read.
    Address (*word)(const void* memory, Address at);
    const void* memory;
};

// What changes if a thread's blocks do; all 0 if there is no such thing.
struct ThreadPointers {
    Address table = 0;
    Address generation = 0;  // of the table

    bool operator==(const ThreadPointers&) const = default;
};
ThreadPointers thread_pointers(Address thread_pointer, const GuestWords& words);

// Without those that are not there yet, and those that the C library has allocated when they were first used.
std::vector<ThreadLocalBlock> thread_local_blocks(Address thread_pointer, std::span<const ThreadLocalModule> modules,
                                                  const GuestWords& words);

}  // namespace bd
