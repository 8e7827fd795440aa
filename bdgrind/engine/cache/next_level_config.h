// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the levels behind L1 do besides keeping lines.

#pragma once

#include "engine/cache/last_level_shares.h"
#include "engine/cache/prefetchers.h"

namespace bd {

struct NextLevelConfig {
    bool write_back = false;            // whether lines may be dirty
    bool callgrind_prefetcher = false;  // --simulate-hwpref
    PrefetchRules prefetchers{};        // of LL: --prefetch
    PrefetchRules l2_prefetchers{};     // of each L2: --L2-prefetch; ignored without an L2
    LastLevelShares* shares = nullptr;  // where cores share LL, which of its lines are whose; must live as long
};

}  // namespace bd
