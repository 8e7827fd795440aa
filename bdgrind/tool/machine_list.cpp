// SPDX-License-Identifier: GPL-2.0-or-later

#include "tool/machine_list.h"

#include <cstddef>
#include <string_view>

#include "profile/run_ending.h"
#include "tool/machine_presets.h"

namespace bd {

void write_machine_list(TextOutput& out) {
    constexpr std::size_t kColumn = 17;
    for (const MachinePreset& each : machine_presets()) {
        out << each.name;
        for (std::size_t used = std::string_view(each.name).size(); used < kColumn; ++used) out << ' ';
        out << each.processor << "\n  ";
        // D1's policy is in the second line, where there is room for it.
        CacheGeometries without_policy = each.caches;
        without_policy.d1.replacement = {};
        write_caches(out, without_policy, "\n  ");
        if (each.caches.d1.replacement != Replacement{}) {
            out << ", D1 ";
            write_replacement(out, each.caches.d1.replacement);
        }
        out << "; LL is " << each.last_level << '\n';
    }
    out << "native           this machine, by what its kernel, processor or preset says\n";
}

}  // namespace bd
