// SPDX-License-Identifier: GPL-2.0-or-later
//
// A section of a why file: a table of numbers.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/text_output.h"
#include "profile/binary_column.h"

namespace bd {

// `title`: the section's name and those of its columns, "name: column column". The rows are in order.
template <std::size_t kColumns>
void write_section(TextOutput& out, std::string_view title,
                   const std::vector<std::array<std::uint64_t, kColumns>>& rows) {
    out << title << '\n';
    std::vector<std::uint64_t> values;
    write_in_blocks(out, rows.size(), [&](std::size_t first, std::size_t count) {
        for (std::size_t column = 0; column < kColumns; ++column) {
            values.clear();
            for (std::size_t row = first; row < first + count; ++row) values.push_back(rows[row][column]);
            write_column(out, values);
        }
    });
    write_binary(out, rows.size(), kTotalBytes);
}

}  // namespace bd
