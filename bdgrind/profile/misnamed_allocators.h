// SPDX-License-Identifier: GPL-2.0-or-later
//
// Says of functions that the user takes for allocators that what they return is no block.

#pragma once

#include <string_view>

#include "engine/base/text_output.h"
#include "engine/objects/named_allocators.h"

namespace bd {

// A line for each of the first five, and how many more there are; `before` begins each line.
void write_misnamed_allocators(TextOutput& out, const NamedAllocators& all, std::string_view before);

}  // namespace bd
