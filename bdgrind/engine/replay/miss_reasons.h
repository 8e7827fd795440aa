// SPDX-License-Identifier: GPL-2.0-or-later
//
// Why lines are loaded: what D1 tells about each of its misses, by the instruction that is charged for it. What is not
// charged, as costs are not collected, is not noted.

#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/level.h"
#include "engine/cache/cache_sink.h"
#include "engine/cache/reuse.h"
#include "engine/replay/engine_state.h"

namespace bd {

class MissReasons {
public:
    explicit MissReasons(EngineState& state) : state_(state) {}

    // Whether reuses are recorded, and what of a line was used when it leaves D1.
    bool notes_reuses() const { return state_.scopes != nullptr; }

    // How many other lines were used since a line that D1 loads was used last. `cell`: what the load is charged to, by
    // data object.
    void note_distance(const ChargeTarget& target, CostId cell, std::uint32_t distance, Outcome outcome) {
        if (target.node == kNoNode) return;
        Why& why = *state_.why;
        const bool misses_ll = misses(outcome, Level::kLL);
        const bool is_first = distance == Reuse::kFirstTouch;
        const unsigned bucket = is_first ? Distances::kFirstTouch : Distances::bucket_of(distance);
        why.distances.add(state_.objects != nullptr ? cell : target.costs, bucket, misses_ll);
        if (state_.context_tree != nullptr) why.paths.add(state_.tree.context_node(target.node), bucket, misses_ll);
    }

    // The same of a hit, whose distance is complete. There must be distances of hits.
    void note_hit(const ChargeTarget& target, CostId cell, std::uint32_t distance) {
        HitDistances& hits = *state_.why->hits;
        const unsigned bucket = Distances::bucket_of(distance);
        hits.distances.add(cell, bucket, false);
        if (state_.context_tree != nullptr) hits.paths.add(state_.tree.context_node(target.node), bucket, false);
    }

    // Who had loaded the line before, who drove it out, and the scope that carries the reuse. `miss`: a DataMiss, of
    // `line`, for which `evicted` leaves D1; `d1_lines`: how many that has. `position`: where the code is that misses.
    template <class Miss>
    void note_reuse(const ChargeTarget& target, const Miss& miss, LineNumber line, LineNumber evicted,
                    std::uint32_t d1_lines, CodePosition position, Outcome outcome) {
        Why& why = *state_.why;
        const bool misses_ll = misses(outcome, Level::kLL);
        why.history.load(miss.slot, evicted, target.costs);
        if (target.node == kNoNode) return;
        if (miss.distance == Reuse::kFirstTouch) {
            why.reuses.add({.missed = target.costs, .cause = static_cast<std::uint32_t>(Cause::kFirst)}, 0, misses_ll,
                           1);
            why.history.count();
            return;
        }
        if (!why.history.follows(line)) return;
        const LineHistory::Past past = why.history.past(line);
        why.reuses.add({.missed = target.costs,
                        .loaded_by = past.loaded_by,
                        .evicted_by = past.evicted_by,
                        .scope = index_of(carrier(position, miss.last_touch)),
                        .cause = static_cast<std::uint32_t>(miss.cause(d1_lines))},
                       miss.distance, misses_ll, why.history.one_in());
        why.history.count();
    }

    // A line has left a slot of D1, as LL has evicted it.
    void note_lost(std::uint32_t slot, LineNumber line) { state_.why->history.lose(slot, line); }

    // Which bytes of a line were used, when it leaves D1.
    template <class Mask>
    [[gnu::always_inline]] void note_stay(const ChargeTarget& target, const EvictDataEvent<Mask>& event) {
        if (target.node == kNoNode) return;
        StaySample& stays = state_.why->stays;
        for (unsigned begin = 0; begin < event.line_bytes; begin += StaySample::kBytes) {
            if (!stays.has(event.address + begin)) continue;
            StayKey key{.loaded_by = target.costs};
            if (state_.objects != nullptr) {
                const ObjectCosts::Owner& owner = state_.objects->costs().owner_of(target.costs);
                key = {owner.instruction, static_cast<std::uint32_t>(owner.group)};
            }
            const unsigned bytes = std::min(event.line_bytes - begin, StaySample::kBytes);
            stays.add(key, event.address + begin, bytes, event.used.word(begin / StaySample::kBytes));
        }
    }

private:
    // The scope that carries the reuse of a line. Code that is not shown stands behind its call.
    ScopeId carrier(CodePosition position, TouchTime last_touch) {
        const CallSite& site = state_.current->charged_site;
        if (site) position = static_cast<CodePosition>(site.from->block->exits()[site.exit].return_address);
        return state_.scopes->carrier(*state_.current, position, last_touch);
    }

    EngineState& state_;
};

}  // namespace bd
