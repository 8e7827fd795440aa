// SPDX-License-Identifier: GPL-2.0-or-later
//
// Paths within functions, in the most literal way (docs/simulation.md): each that a call takes is a list of its own,
// with all that is ever charged to it.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "run_costs.h"

namespace bd::test {

struct NaivePath {
    ContextKey context;
    std::vector<FlowStep> steps{};
    bool is_counted = true;  // nothing has been zeroed since it began
    Counts total{};
    std::map<InstructionKey, Counts> rare{};
};

// Of a call: the path that it is on.
struct NaiveFlow {
    std::shared_ptr<NaivePath> path{};
    std::optional<Address> end{};  // behind its latest step of shown code
    unsigned generation = 0;
};

class NaiveFlows {
public:
    static constexpr std::size_t kMostSteps = 255;

    const std::shared_ptr<NaivePath>& path_of(NaiveFlow& flow, const ContextKey& context) {
        if (flow.path == nullptr || flow.generation != generation_) begin(flow, context);
        return flow.path;
    }

    // The call goes on with a block, which begins and ends (with that exit) there.
    void go_on(NaiveFlow& flow, const ContextKey& context, const FlowStep& step, Address begin_address,
               Address end_address, bool is_collecting) {
        path_of(flow, context);
        if (!step.is_charged && flow.end && begin_address < *flow.end) begin(flow, context);
        if (!is_collecting) return;
        if (flow.path->steps.size() == kMostSteps) begin(flow, context);
        flow.path->steps.push_back(step);
        if (!step.is_charged) flow.end = end_address;
    }

    // What the path is when code that is not shown is charged to a call that has been left.
    const std::shared_ptr<NaivePath>& astray(const ContextKey& context) {
        std::shared_ptr<NaivePath>& path = astray_[context];
        if (path == nullptr) {
            path = std::make_shared<NaivePath>(context, std::vector{FlowStep{~0u, 0}}, false);
            paths_.push_back(path);
        }
        return path;
    }

    void zero() {
        ++generation_;
        for (const auto& path : paths_) {
            path->is_counted = false;
            path->total = {};
            path->rare.clear();
        }
    }

    void add_to(std::map<FlowKey, FlowCounts>& sums) const {
        for (const auto& path : paths_) {
            FlowCounts& counts = sums[{path->context, path->steps}];
            if (path->is_counted && !path->steps.empty()) ++counts.times;
            for (std::size_t i = 0; i < kEventCount; ++i) counts.total[i] += path->total[i];
            for (const auto& [instruction, rare] : path->rare) {
                for (std::size_t i = 0; i < kEventCount; ++i) counts.rare[instruction][i] += rare[i];
            }
        }
        std::erase_if(sums, [](const auto& each) { return each.second == FlowCounts{}; });
    }

private:
    void begin(NaiveFlow& flow, const ContextKey& context) {
        flow = {std::make_shared<NaivePath>(context), {}, generation_};
        paths_.push_back(flow.path);
    }

    std::vector<std::shared_ptr<NaivePath>> paths_;
    std::map<ContextKey, std::shared_ptr<NaivePath>> astray_;
    unsigned generation_ = 0;
};

}  // namespace bd::test
