// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where a function begins that has no symbol: by the index of call frame information (.eh_frame_hdr, as the Linux
// Standard Base describes it) of the ELF file that it is mapped from. Stripped files have it, too, as exceptions need
// it. What is mapped there may be a stranger's and damaged: then nothing is known.

#pragma once

#include <cstdint>
#include <span>

namespace bd {

// Fills `bytes` with what lies at `address`; false if that cannot be read.
using ReadMemory = bool (*)(std::uint64_t address, std::span<unsigned char> bytes);

// The first address of the function that the code at `address` belongs to; 0 if it is not known. `base`: where the
// first byte of its ELF file is mapped, whose class (32 or 64 bits) is that of this program.
std::uint64_t function_start(std::uint64_t base, std::uint64_t address, ReadMemory read);

}  // namespace bd
