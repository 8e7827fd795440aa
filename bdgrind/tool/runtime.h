// SPDX-License-Identifier: GPL-2.0-or-later
//
// The heap behind operator new.

#pragma once

#include "tool/heap.h"

namespace bd {

extern Heap heap;

}  // namespace bd
