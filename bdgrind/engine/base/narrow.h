// SPDX-License-Identifier: GPL-2.0-or-later
//
// Narrows numbers that are stored in fewer bits than they are counted in, and checks that they fit.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/base/check.h"

namespace bd {

template <class T>
std::uint16_t narrow(T value) {
    BD_CHECK_OP(value, <=, std::numeric_limits<std::uint16_t>::max());
    return static_cast<std::uint16_t>(value);
}

// The 32-bit number of the next item if there are `count` items already. The largest number is never given, as it may
// stand for none.
inline std::uint32_t next_number(std::size_t count) {
    BD_CHECK_OP(count, <, std::numeric_limits<std::uint32_t>::max());
    return static_cast<std::uint32_t>(count);
}

}  // namespace bd
