// SPDX-License-Identifier: GPL-2.0-or-later
//
// The heap behind operator new, and what it takes its memory from.

#pragma once

#include "tool/heap.h"

namespace bd {

extern Heap heap;

// Whole pages of zeros, for ever; null if there are none. To be called on Valgrind's own thread.
void* pages_or_null(std::size_t size_bytes);

}  // namespace bd
