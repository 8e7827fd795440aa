// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/replay/engine_config.h"

namespace bd {

EventSet EngineConfig::events() const {
    EventSet events;
    if (cache_sim) {
        events.enable(EventGroup::kMisses);
        events.enable(EventGroup::kMissesLast);
        if (cache_use) {
            events.enable(EventGroup::kUse1);
            events.enable(EventGroup::kUse2);
        }
        if (prefetchers.any() && cache_use) events.enable(EventGroup::kPrefetches);
        if (write_back) events.enable(EventGroup::kWriteBacks);
        if (why) events.enable(EventGroup::kCauses);
        if (tlbs.any()) events.enable(EventGroup::kTranslations);
        if (cores != 0) events.enable(EventGroup::kSharing);
        if (private_caches() > 1) events.enable(EventGroup::kCopies);
        if (caches.has_l2()) {
            events.enable(EventGroup::kMissesL2);
            if (cache_use) events.enable(EventGroup::kUseL2);
            if (l2_prefetchers.any() && cache_use) events.enable(EventGroup::kPrefetchesL2);
            if (why) events.enable(EventGroup::kCausesL2);
        }
    }
    if (branch_sim) events.enable(EventGroup::kBranches);
    if (bus_events) events.enable(EventGroup::kBus);
    if (system_calls) events.enable(EventGroup::kSystemCalls);
    if (system_cpu_time) events.enable(EventGroup::kSystemCpuTime);
    return events;
}

}  // namespace bd
