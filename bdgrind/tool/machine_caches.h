// SPDX-License-Identifier: GPL-2.0-or-later
//
// The caches of the machine that we run on, for the simulation's default.

#pragma once

#include "engine/base/geometry.h"
#include "tool/machine_presets.h"

namespace bd {

struct MachineCaches {
    CacheGeometries caches;
    const char* source;  // where they are known from, for the user
    // The level between L1 and LL, which is not simulated; of no bytes if there is none.
    CacheGeometry l2{};
};

// Asks the kernel, then the processor, then takes the preset of this processor, and else a typical machine. Always
// legal geometries; without policies and rules.
MachineCaches find_machine_caches();

// Which of the presets this machine's processor is, whatever its caches; null: none of them, or it is not known.
const MachinePreset* preset_of_this_machine();

}  // namespace bd
