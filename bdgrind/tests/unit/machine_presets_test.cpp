// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/machine_presets.h"

#include <string>

#include <gtest/gtest.h>

namespace bd {
namespace {

std::string name_of(ProcessorModel::Vendor vendor, std::uint32_t family, std::uint32_t model) {
    const MachinePreset* const preset = preset_of_processor({vendor, family, model});
    return preset == nullptr ? "none" : preset->name;
}

// Processors whose models are known from elsewhere: /proc/cpuinfo of single machines.
TEST(MachinePresets, AreFoundByWhatProcessorsSayOfThemselves) {
    using enum ProcessorModel::Vendor;
    EXPECT_EQ(name_of(kAmd, 23, 49), "zen2");             // EPYC 7452
    EXPECT_EQ(name_of(kAmd, 23, 113), "zen2");            // Ryzen 9 3900X
    EXPECT_EQ(name_of(kAmd, 25, 1), "zen3");              // EPYC 7763
    EXPECT_EQ(name_of(kAmd, 25, 33), "zen3");             // Ryzen 9 5950X
    EXPECT_EQ(name_of(kAmd, 25, 17), "zen4");             // EPYC 9654
    EXPECT_EQ(name_of(kAmd, 25, 97), "zen4");             // Ryzen 9 7950X
    EXPECT_EQ(name_of(kAmd, 26, 2), "zen5");              // EPYC 9755
    EXPECT_EQ(name_of(kAmd, 26, 68), "zen5");             // Ryzen 9 9950X
    EXPECT_EQ(name_of(kIntel, 6, 94), "skylake-client");  // Core i7-6700K
    EXPECT_EQ(name_of(kIntel, 6, 158), "skylake-client"); // Core i7-8700K
    EXPECT_EQ(name_of(kIntel, 6, 85), "skylake-sp");      // Xeon Gold 6148
    EXPECT_EQ(name_of(kIntel, 6, 106), "icelake-sp");     // Xeon Platinum 8380
    EXPECT_EQ(name_of(kIntel, 6, 143), "sapphire-rapids");  // Xeon Platinum 8480+
    EXPECT_EQ(name_of(kIntel, 6, 151), "golden-cove");    // Core i9-12900K
    EXPECT_EQ(name_of(kArm, 0, 3336), "cortex-a72");      // BCM2711
    EXPECT_EQ(name_of(kArm, 0, 3340), "neoverse-n1");     // Graviton2
    EXPECT_EQ(name_of(kArm, 0, 3392), "neoverse-v1");     // Graviton3
    EXPECT_EQ(name_of(kArm, 0, 3407), "neoverse-v2");     // Graviton4
    EXPECT_EQ(name_of(kApple, 0, 35), "apple-m1");
}

TEST(MachinePresets, AreNotFoundForOthers) {
    using enum ProcessorModel::Vendor;
    EXPECT_EQ(name_of(kAmd, 23, 1), "none");     // Zen 1
    EXPECT_EQ(name_of(kAmd, 26, 80), "none");
    EXPECT_EQ(name_of(kIntel, 6, 79), "none");   // Xeon E5-2680 v4
    EXPECT_EQ(name_of(kIntel, 15, 85), "none");
    EXPECT_EQ(name_of(kOther, 25, 17), "none");
    EXPECT_EQ(name_of(kArm, 0, 3331), "none");   // Cortex-A53
    EXPECT_EQ(name_of({}, 0, 0), "none");
}

}  // namespace
}  // namespace bd
