// SPDX-License-Identifier: GPL-2.0-or-later
//
// For numbers that are stored in 16 bits: they must fit.

#pragma once

#include <cstdint>
#include <limits>

#include "engine/base/check.h"

namespace bd {

template <class T>
std::uint16_t narrow(T value) {
    BD_CHECK_OP(value, <=, std::numeric_limits<std::uint16_t>::max());
    return static_cast<std::uint16_t>(value);
}

}  // namespace bd
