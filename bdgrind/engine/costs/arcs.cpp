// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/arcs.h"

namespace bd {

ArcId ArcTable::find_or_make(const CallSite& site, BlockCost& callee) {
    const auto [place, is_new] = by_key_.try_emplace(Key{site, &callee});
    if (is_new) {
        place->second = ArcId{index_of(costs_.make())};
        arcs_.push_back({site, &callee, 0});
    }
    return place->second;
}

}  // namespace bd
