// SPDX-License-Identifier: GPL-2.0-or-later
//
// The caches and TLBs of well-known processors, by name. Where each number is from stands in docs/machines.md; a gate
// looks.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/base/geometry.h"
#include "engine/sharing/coherence_marks.h"

namespace bd {

struct MachinePreset {
    const char* name;
    const char* processor;
    const char* last_level;  // what LL is there, and whose
    const char* source;      // all of that, for the profile
    CacheGeometries caches;
    TlbGeometries tlbs;
    CoherenceProtocol coherence = CoherenceProtocol::kMesi;
};

std::span<const MachinePreset> machine_presets();

// Null: there is none of that name.
const MachinePreset* find_machine_preset(std::string_view name);

// What a processor says of itself.
struct ProcessorModel {
    enum class Vendor : std::uint8_t { kOther, kAmd, kIntel, kArm, kApple };

    Vendor vendor = Vendor::kOther;
    std::uint32_t family = 0;  // x86 only
    std::uint32_t model = 0;   // on arm64, the part number
};

// Null: there is none for such a processor.
const MachinePreset* preset_of_processor(const ProcessorModel& model);

// Whose TLBs are taken if those of the machine are not known.
const MachinePreset& preset_of_typical_tlbs();

}  // namespace bd
