// SPDX-License-Identifier: GPL-2.0-or-later
//
// Texts in the guest's memory, which may be anything.

#pragma once

#include <span>
#include <string_view>

#include "tool/valgrind.h"

namespace bd {

// What stands at `address` up to its end, as far as it can be read and fits into `buffer`.
std::string_view read_guest_text(Addr address, std::span<char> buffer);

}  // namespace bd
