// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/machine_presets.h"

#include <algorithm>

namespace bd {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr CacheGeometry kNoCache{};
constexpr CacheGeometry k32KiB8Ways{32 * kKiB, 8, 64};
constexpr CacheGeometry k32KiBTree{32 * kKiB, 8, 64, {ReplacementPolicy::kTreePlru}};
constexpr CacheGeometry k48KiB12Ways{48 * kKiB, 12, 64};
constexpr CacheGeometry k48KiBTrees{48 * kKiB, 12, 64, {ReplacementPolicy::kLru3Plru4}};
constexpr CacheGeometry k64KiB4Ways{64 * kKiB, 4, 64};
constexpr Inclusion kVictim = Inclusion::kExclusive;
constexpr Inclusion kIncludes = Inclusion::kInclusive;

// With pages of 4 KiB, then of 2 MiB: the TLBs of instructions and of data, the second level, and that of instructions
// alone where there is one.
constexpr TlbGeometries kZen2Tlbs{{12, {64, 64}, {64, 64}, {2048, 16}, {512, 8}},
                                  {21, {64, 64}, {64, 64}, {2048, 16}, {512, 8}}};
constexpr TlbGeometries kZen4Tlbs{{12, {64, 64}, {72, 72}, {3072, 24}, {512, 8}},
                                  {21, {64, 64}, {72, 72}, {3072, 24}, {512, 8}}};
constexpr TlbGeometries kZen5Tlbs{{12, {64, 64}, {96, 96}, {4096, 16}, {2048, 8}},
                                  {21, {64, 64}, {96, 96}, {4096, 16}, {2048, 8}}};
constexpr TlbGeometries kSkylakeTlbs{{12, {128, 8}, {64, 4}, {1536, 12}, {}},
                                     {21, {8, 8}, {32, 4}, {1536, 12}, {}}};
constexpr TlbGeometries kSunnyCoveTlbs{{12, {128, 8}, {64, 4}, {2048, 16}, {}},
                                       {21, {16, 8}, {32, 4}, {1024, 8}, {}}};
constexpr TlbGeometries kGoldenCoveTlbs{{12, {256, 8}, {96, 6}, {2048, 16}, {}},
                                        {21, {32, 8}, {32, 4}, {1024, 8}, {}}};
constexpr TlbGeometries kNeoverseN1Tlbs{{12, {48, 48}, {48, 48}, {1280, 5}, {}},
                                        {21, {48, 48}, {48, 48}, {1280, 5}, {}}};
constexpr TlbGeometries kNeoverseV1Tlbs{{12, {48, 48}, {40, 40}, {2048, 8}, {}},
                                        {21, {48, 48}, {40, 40}, {2048, 8}, {}}};
constexpr TlbGeometries kNeoverseV2Tlbs{{12, {48, 48}, {48, 48}, {2048, 8}, {}},
                                        {21, {48, 48}, {48, 48}, {2048, 8}, {}}};
constexpr TlbGeometries kAppleM1Tlbs{{14, {192, 192}, {160, 160}, {3072, 12}, {}},
                                     {25, {192, 192}, {160, 160}, {3072, 12}, {}}};
constexpr TlbGeometries kCortexA72Tlbs{{12, {48, 48}, {32, 32}, {1024, 4}, {}},
                                       {21, {48, 48}, {32, 32}, {1024, 4}, {}}};

#define BD_PRESET(name, processor, last_level, ...) \
    {name, processor, last_level, "--machine=" name ", " processor "; LL is " last_level, __VA_ARGS__}

// LL is what one core can use of the last level.
constexpr MachinePreset kPresets[]{
    BD_PRESET("zen2", "AMD Zen 2", "the L3 of a CCX of 4 cores",
              {k32KiB8Ways, k32KiB8Ways, {16 * kMiB, 16, 64}, {512 * kKiB, 8, 64}, {}, kVictim}, kZen2Tlbs,
              CoherenceProtocol::kMoesi),
    BD_PRESET("zen3", "AMD Zen 3", "the L3 of a CCX of 8 cores",
              {k32KiB8Ways, k32KiB8Ways, {32 * kMiB, 16, 64}, {512 * kKiB, 8, 64}, {}, kVictim}, kZen2Tlbs,
              CoherenceProtocol::kMoesi),
    BD_PRESET("zen4", "AMD Zen 4", "the L3 of a CCX of 8 cores",
              {k32KiB8Ways, k32KiB8Ways, {32 * kMiB, 16, 64}, {1 * kMiB, 8, 64}, {}, kVictim}, kZen4Tlbs,
              CoherenceProtocol::kMoesi),
    BD_PRESET("zen5", "AMD Zen 5", "the L3 of a CCX of 8 cores",
              {k32KiB8Ways, k48KiB12Ways, {32 * kMiB, 16, 64}, {1 * kMiB, 16, 64}, {}, kVictim}, kZen5Tlbs,
              CoherenceProtocol::kMoesi),
    BD_PRESET("skylake-client", "Intel Skylake, client, Core i7-6700K", "the whole L3 of 4 cores",
              {k32KiB8Ways, k32KiBTree, {8 * kMiB, 16, 64}, {256 * kKiB, 4, 64}, {}, kIncludes}, kSkylakeTlbs),
    BD_PRESET("skylake-sp", "Intel Skylake-SP, Xeon Gold 6148", "the whole L3 of 20 cores",
              {k32KiB8Ways, k32KiBTree, {28160 * kKiB, 11, 64}, {1 * kMiB, 16, 64}, {}, kVictim}, kSkylakeTlbs),
    BD_PRESET("icelake-sp", "Intel Ice Lake-SP", "the whole L3 of 36 slices",
              {k32KiB8Ways, k48KiBTrees, {54 * kMiB, 12, 64}, {1280 * kKiB, 20, 64}, {}, kVictim}, kSunnyCoveTlbs),
    BD_PRESET("sapphire-rapids", "Intel Sapphire Rapids", "the whole L3 of 60 cores",
              {k32KiB8Ways, k48KiB12Ways, {115200 * kKiB, 15, 64}, {2 * kMiB, 16, 64}, {}, kVictim}, kGoldenCoveTlbs),
    BD_PRESET("golden-cove", "Intel Golden Cove, client", "the whole L3 of ten slices",
              {k32KiB8Ways, k48KiB12Ways, {30 * kMiB, 12, 64}, {1280 * kKiB, 10, 64}}, kGoldenCoveTlbs),
    BD_PRESET("neoverse-n1", "Arm Neoverse N1, Graviton2", "the whole system cache of 64 cores",
              {k64KiB4Ways, k64KiB4Ways, {32 * kMiB, 16, 64}, {1 * kMiB, 8, 64}}, kNeoverseN1Tlbs),
    BD_PRESET("neoverse-v1", "Arm Neoverse V1, Graviton3", "the whole system cache of 64 cores",
              {k64KiB4Ways, k64KiB4Ways, {32 * kMiB, 16, 64}, {1 * kMiB, 8, 64}}, kNeoverseV1Tlbs),
    BD_PRESET("neoverse-v2", "Arm Neoverse V2, Graviton4", "the whole system cache of 96 cores",
              {k64KiB4Ways, k64KiB4Ways, {36 * kMiB, 16, 64}, {2 * kMiB, 8, 64}}, kNeoverseV2Tlbs),
    BD_PRESET("apple-m1", "Apple M1, performance cores", "the L2 of 4 cores; what is behind it is not simulated",
              {{192 * kKiB, 6, 128}, {128 * kKiB, 8, 128}, {12 * kMiB, 12, 128}, kNoCache}, kAppleM1Tlbs),
    BD_PRESET("cortex-a72", "Arm Cortex-A72, BCM2711", "the L2 of 4 cores",
              {{48 * kKiB, 3, 64}, {32 * kKiB, 2, 64}, {1 * kMiB, 16, 64}, kNoCache, {}, kIncludes}, kCortexA72Tlbs),
};

#undef BD_PRESET

// Which models are whose, the last one included.
struct ModelRange {
    ProcessorModel first;
    std::uint32_t last;
    const char* preset;
};

using enum ProcessorModel::Vendor;
constexpr ModelRange kModels[]{
    {{kAmd, 0x17, 0x30}, 0x4f, "zen2"},
    {{kAmd, 0x17, 0x60}, 0x7f, "zen2"},
    {{kAmd, 0x17, 0x90}, 0x91, "zen2"},
    {{kAmd, 0x17, 0xa0}, 0xaf, "zen2"},
    {{kAmd, 0x19, 0x00}, 0x0f, "zen3"},
    {{kAmd, 0x19, 0x20}, 0x5f, "zen3"},
    {{kAmd, 0x19, 0x10}, 0x1f, "zen4"},
    {{kAmd, 0x19, 0x60}, 0xaf, "zen4"},
    {{kAmd, 0x1a, 0x00}, 0x2f, "zen5"},
    {{kAmd, 0x1a, 0x40}, 0x4f, "zen5"},
    {{kAmd, 0x1a, 0x70}, 0x7f, "zen5"},
    {{kIntel, 6, 0x4e}, 0x4e, "skylake-client"},
    {{kIntel, 6, 0x5e}, 0x5e, "skylake-client"},
    {{kIntel, 6, 0x8e}, 0x8e, "skylake-client"},
    {{kIntel, 6, 0x9e}, 0x9e, "skylake-client"},
    {{kIntel, 6, 0xa5}, 0xa6, "skylake-client"},
    {{kIntel, 6, 0x55}, 0x55, "skylake-sp"},
    {{kIntel, 6, 0x6a}, 0x6a, "icelake-sp"},
    {{kIntel, 6, 0x6c}, 0x6c, "icelake-sp"},
    {{kIntel, 6, 0x8f}, 0x8f, "sapphire-rapids"},
    {{kIntel, 6, 0x97}, 0x97, "golden-cove"},
    {{kIntel, 6, 0x9a}, 0x9a, "golden-cove"},
    {{kArm, 0, 0xd08}, 0xd08, "cortex-a72"},
    {{kArm, 0, 0xd0c}, 0xd0c, "neoverse-n1"},
    {{kArm, 0, 0xd40}, 0xd40, "neoverse-v1"},
    {{kArm, 0, 0xd4f}, 0xd4f, "neoverse-v2"},
    {{kApple, 0, 0x22}, 0x23, "apple-m1"},
};

}  // namespace

std::span<const MachinePreset> machine_presets() { return kPresets; }

const MachinePreset* find_machine_preset(std::string_view name) {
    const auto* const found = std::ranges::find_if(kPresets, [&](const MachinePreset& each) {
        return name == each.name;
    });
    return found == std::end(kPresets) ? nullptr : found;
}

const MachinePreset* preset_of_processor(const ProcessorModel& model) {
    const auto* const found = std::ranges::find_if(kModels, [&](const ModelRange& each) {
        return model.vendor == each.first.vendor && model.family == each.first.family &&
               model.model >= each.first.model && model.model <= each.last;
    });
    return found == std::end(kModels) ? nullptr : find_machine_preset(found->preset);
}

const MachinePreset& preset_of_typical_tlbs() { return *find_machine_preset("skylake-sp"); }

}  // namespace bd
