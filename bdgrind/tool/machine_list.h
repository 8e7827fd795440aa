// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "engine/base/text_output.h"

namespace bd {

// For people: all presets, with their caches.
void write_machine_list(TextOutput& out);

}  // namespace bd
