// SPDX-License-Identifier: GPL-2.0-or-later

#include "profile/binary_column.h"

#include <algorithm>
#include <limits>

#include "engine/base/check.h"

namespace bd {
namespace {

constexpr unsigned kSparse = 0x10;  // in the form, with the bytes of a value
constexpr unsigned kPositionBytes = 2;

unsigned bytes_for(std::uint64_t number) {
    if (number <= std::numeric_limits<std::uint8_t>::max()) return 1;
    if (number <= std::numeric_limits<std::uint16_t>::max()) return 2;
    return number <= std::numeric_limits<std::uint32_t>::max() ? 4 : 8;
}

}  // namespace

void write_binary(TextOutput& out, std::uint64_t number, unsigned bytes) {
    char text[sizeof number];
    for (unsigned i = 0; i < bytes; ++i) text[i] = static_cast<char>(number >> 8 * i & 0xff);
    out << std::string_view(text, bytes);
}

void write_column(TextOutput& out, std::span<const std::uint64_t> values) {
    BD_CHECK_OP(values.size(), <=, kMostColumnValues);
    const auto filled = values.size() - static_cast<std::size_t>(std::ranges::count(values, 0u));
    if (filled == 0) {
        write_binary(out, 0, 1);
        return;
    }
    const unsigned bytes = bytes_for(std::ranges::max(values));
    const bool is_sparse = kPositionBytes + filled * (kPositionBytes + bytes) < values.size() * bytes;
    write_binary(out, is_sparse ? kSparse | bytes : bytes, 1);
    if (!is_sparse) {
        for (const std::uint64_t value : values) write_binary(out, value, bytes);
        return;
    }
    write_binary(out, filled, kPositionBytes);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] != 0) write_binary(out, i, kPositionBytes);
    }
    for (const std::uint64_t value : values) {
        if (value != 0) write_binary(out, value, bytes);
    }
}

}  // namespace bd
