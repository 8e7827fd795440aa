// SPDX-License-Identifier: GPL-2.0-or-later
//
// Columns of numbers as context trees have them: each block of a column in the shortest of the forms that
// docs/format.md describes.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/text_output.h"

namespace bd {

inline constexpr std::size_t kMostColumnValues = 65535;

// Of a number that stands alone, as totals and counts of rows do.
inline constexpr unsigned kTotalBytes = 8;

// Writes a number in so many bytes, the lowest first.
void write_binary(TextOutput& out, std::uint64_t number, unsigned bytes);

// At most kMostColumnValues values.
void write_column(TextOutput& out, std::span<const std::uint64_t> values);

// The blocks of a table of `size` rows: calls write(first, count) for the columns of each.
template <class Write>
void write_in_blocks(TextOutput& out, std::size_t size, Write write) {
    constexpr std::size_t kBlockRows = 4096;
    static_assert(kBlockRows <= kMostColumnValues);
    for (std::size_t done = 0; done < size;) {
        const std::size_t count = std::min(kBlockRows, size - done);
        write_binary(out, count, 2);
        write(done, count);
        done += count;
    }
    write_binary(out, 0, 2);
}

}  // namespace bd
