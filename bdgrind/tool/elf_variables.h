// SPDX-License-Identifier: GPL-2.0-or-later
//
// Variables, from the symbols of an ELF file of 32 or 64 bits. Valgrind's core tells nothing of thread-local ones, of
// those that templates and inline functions of C++ have, nor of constants that have to be relocated; and it does not
// list the others. The file may be a stranger's and damaged: then there are fewer variables, or none.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bd {

struct FileBytes {
    std::uint64_t size;
    // Fills `bytes` with what stands at `offset`, where there are so many. False if that cannot be read.
    bool (*read)(const void* file, std::uint64_t offset, std::span<unsigned char> bytes);
    const void* file;
};

struct ElfVariable {
    std::uint64_t offset;  // in a thread's block; of others, the address in the file
    std::uint64_t size;    // bytes, at least 1
    std::size_t name;      // where in the names
};

struct ElfVariables {
    std::vector<ElfVariable> variables;  // by offset; none overlaps another one
    std::vector<char> names;             // each with a zero behind it

    const char* name(const ElfVariable& variable) const { return &names[variable.name]; }
};

// With what each thread gets a copy of.
struct ThreadLocalSegment : ElfVariables {
    std::uint64_t size = 0;       // of a thread's block, in bytes; 0: there is none
    std::uint64_t alignment = 1;  // a power of two
    std::uint64_t skew = 0;       // a block begins so many bytes behind a multiple of the alignment
    bool is_interpreted = false;  // the file names its dynamic linker
};

ThreadLocalSegment read_thread_local_segment(const FileBytes& file);

// Those that there are once.
ElfVariables read_static_variables(const FileBytes& file);

}  // namespace bd
