// SPDX-License-Identifier: GPL-2.0-or-later

#include "naive_why.h"

#include <algorithm>
#include <string>

namespace bd::test {

void NaiveWhy::on_step(const Site& from, unsigned to, unsigned long now) {
    const Address from_address = calls_.block_of(from).address;
    const Address to_address = scenario_.blocks[to].address;
    if (to_address > from_address || calls_.execution().charged_site) return;
    calls_.execution().scope().jump_back(from_address, to, to_address, now);
}

std::optional<ScopeKey> NaiveWhy::carrier(unsigned long last_touch, unsigned running) {
    const NaiveExecution& now = calls_.execution();
    Address address = scenario_.blocks[running].address;
    ContextKey context = now.context;
    for (std::size_t i = now.calls.size() + 1; i-- > 0;) {
        const NaiveScope& scope = i == 0 ? now.root_scope : now.calls[i - 1].scope;
        const bool is_shown = i == 0 || now.calls[i - 1].arc;
        if (is_shown && scope.entered <= last_touch) {
            for (auto loop = scope.loops.rbegin(); loop != scope.loops.rend(); ++loop) {
                if (loop->entered <= last_touch && loop->has(address)) return ScopeKey{context, loop->begin};
            }
            return ScopeKey{context, {}};
        }
        if (i == 0) return {};
        address = now.calls[i - 1].behind;
        context = now.calls[i - 1].caller_context;
    }
    return {};
}

void NaiveWhy::on_data(const NaiveCaches::DataTouch& touch, const InstructionKey& charged, unsigned running,
                       unsigned long now, RunCosts& costs) {
    const bool collecting = calls_.execution().collecting;
    if (touch.absent) {
        ReuseKey key =
            lines_.load(touch.line, touch.evicted, collecting ? std::optional(charged) : std::nullopt);
        if (!touch.distance) {
            key = {key.missed, {}, {}, {}, "first touch"};
        } else {
            key.scope = carrier(lines_.last_touch(touch.line), running);
            key.cause = *touch.distance < scenario_.caches.d1.lines() ? "conflict" : "capacity";
        }
        if (collecting) count(key, touch, costs);
    }
    lines_.touch(touch.line, now);
}


void NaiveWhy::count(const ReuseKey& key, const NaiveCaches::DataTouch& touch, RunCosts& costs) {
    const bool counts_all = loaded_lines_++ < whole_reuses_ || !touch.distance;
    const bool is_one_in_eight = touch.line * 11400714819323198485u < std::uint64_t{1} << 61;
    if (!counts_all && !is_one_in_eight) return;
    const unsigned times = counts_all ? 1 : 8;
    ReuseCounts& counts = costs.reuses[key];
    counts.misses += times;
    counts.ll_misses += touch.missed_last ? times : 0;
    counts.distance += times * touch.distance.value_or(0);
}

void NaiveWhy::on_leave(Address begin, Address bytes, const NaiveCaches::Touched& used,
                        const InstructionKey& loader) {
    for (Address first = 0; first < bytes; first += 64) {
        std::string text;
        for (Address byte = first; byte < std::min(bytes, first + 64); ++byte) text += used[byte] ? '#' : '.';
        lines_.leave(begin + first, text, loader);
    }
}

}  // namespace bd::test
