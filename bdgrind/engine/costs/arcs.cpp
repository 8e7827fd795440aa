// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/arcs.h"

namespace bd {

ArcId ArcTable::find_or_make(const CallSite& site, BlockCost& callee) {
    const auto [entry, is_new] = by_key_.try_emplace(Key{site, &callee});
    if (is_new) {
        entry->second = ArcId{index_of(costs_.make())};
        arcs_.push_back({site, &callee, 0});
    }
    return entry->second;
}

}  // namespace bd
