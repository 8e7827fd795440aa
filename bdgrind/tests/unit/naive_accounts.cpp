// SPDX-License-Identifier: GPL-2.0-or-later

#include "naive_accounts.h"

#include <algorithm>
#include <set>

namespace bd::test {

ChargeTarget NaiveAccounts::target(const InstructionKey& instruction, const NaiveExecution& execution,
                                   const std::string& group) const {
    std::vector<ArcKey> arcs;
    for (const Call& call : execution.calls) {
        if (call.arc) arcs.push_back(*call.arc);
    }
    ChargeTarget target{instruction, arcs, path_of(execution), group};
    if (with_flows_) {
        target.flow = is_astray(execution) ? flows_.astray(execution.charged_site->context)
                                           : flows_.path_of(execution.flow(), execution.context);
    }
    return target;
}

PathKey NaiveAccounts::path_of(const NaiveExecution& execution) const {
    PathKey path{execution.thread, execution.is_handler, execution.signal};
    if (!paths_) return path;
    path.steps.push_back({execution.calls.empty() ? execution.context : execution.calls[0].caller_context});
    for (const Call& call : execution.calls) {
        if (!call.arc) continue;
        const Scenario::Block& block = scenario_.blocks[call.arc->block];
        const unsigned caller = block.exits[call.arc->exit].instructions - 1;
        const PathStep step{call.arc->callee_context, paths_->by_site ? block.instruction_address(caller) : 0};
        const auto same = std::ranges::find(path.steps, step.context, &PathStep::context);
        if (paths_->folded && same != path.steps.end()) {
            path.steps.erase(same + 1, path.steps.end());
        } else {
            path.steps.push_back(step);
        }
    }
    return path;
}

void NaiveAccounts::count_call(const NaiveExecution& execution) {
    if (!execution.collecting) return;
    ++costs_.arcs[*execution.calls.back().arc].calls;
    if (paths_) ++costs_.paths[path_of(execution)].calls;
}

void NaiveAccounts::charge(Event event, std::uint64_t cost, const ChargeTarget& target) {
    if (cost == 0) return;
    if (!target.group.empty()) costs_.objects[{target.group, target.instruction}][column(event)] += cost;
    if (paths_) costs_.paths[target.path].self[column(event)] += cost;
    if (target.flow != nullptr) {
        target.flow->total[column(event)] += cost;
        if (column(event) >= kRunningEvents) target.flow->rare[target.instruction][column(event)] += cost;
    }
    costs_.totals[column(event)] += cost;
    costs_.self[target.instruction][column(event)] += cost;
    for (const ArcKey& arc : target.chain) costs_.arcs[arc].inclusive[column(event)] += cost;
}

void NaiveAccounts::count_distances(const std::vector<NaiveCaches::MissedLine>& lines, const ChargeTarget& target,
                                    bool hits) {
    for (const NaiveCaches::MissedLine& line : lines) {
        unsigned bucket = 0;
        if (line.distance) {
            // The greatest one whose quarter power of two, 2^((bucket - 1) / 4), is not above the distance.
            using Wide = unsigned __int128;
            const Wide number = *line.distance == 0 ? 1 : *line.distance;
            while (Wide{1} << bucket <= number * number * number * number) ++bucket;
        }
        const auto add = [&](DistanceCounts& counts) {
            ++counts.misses;
            if (line.last) ++counts.last_misses;
        };
        add((hits ? costs_.hits : costs_.distances)[{target.instruction, bucket}]);
        if (!line.group.empty()) add(costs_.object_distances[{line.group, bucket}]);
        if (!paths_) continue;
        // Each function on the path once, and each that one of them has called there.
        const std::vector<PathStep>& steps = target.path.steps;
        std::set<std::pair<ContextKey, std::optional<ContextKey>>> open;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            open.insert({steps[i].context, {}});
            if (i > 0) open.insert({steps[i - 1].context, steps[i].context});
        }
        auto& inclusive = hits ? costs_.inclusive_hits : costs_.inclusive_distances;
        for (const auto& [function, callee] : open) add(inclusive[{function, callee, bucket}]);
    }
}

void NaiveAccounts::count_pattern(const NaiveObjects::Pattern& pattern, const InstructionKey& loader) {
    const PatternKey key{pattern.group, loader, pattern.offset, pattern.used};
    if (pattern.may_be_forgotten) {
        ++costs_.forgettable_patterns[key];
    } else if (pattern.block_size > kMostWhole) {
        ++costs_.large_patterns[{pattern.block_size, key}];
    } else {
        ++costs_.patterns[key];
    }
}

}  // namespace bd::test
