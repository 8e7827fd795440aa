// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tells the engine what is mapped where: files, variables with symbols, the heap.

#pragma once

namespace bd {

// To be called before the program starts, with --objects=yes.
void watch_mappings();

}  // namespace bd
