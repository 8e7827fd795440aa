// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/calls/thread_origins.h"

#include <algorithm>

namespace bd {
namespace {

// The contexts that are open, the outermost first. One that occurs again replaces the earlier one and all behind it.
std::vector<const Context*> way_to(const Execution& execution) {
    std::vector<const Context*> way;
    const auto add = [&way](const Context* context) {
        way.erase(std::ranges::find(way, context), way.end());
        way.push_back(context);
    };
    for (const OpenCall& call : execution.calls) add(call.caller);
    if (execution.context != nullptr) add(execution.context);
    return way;
}

}  // namespace

void ThreadOrigins::begin(std::uint32_t thread, const Execution& creator) {
    if (creators_.size() <= thread) creators_.resize(thread + 1);
    creators_[thread] = way_to(creator);
}

void ThreadOrigins::end(std::uint32_t thread, const Execution& execution) {
    if (thread >= creators_.size()) return;
    add_running(thread, execution, &ended_);
    creators_[thread].clear();
}

void ThreadOrigins::add_running(std::uint32_t thread, const Execution& execution,
                                std::vector<ThreadOrigin>* origins) const {
    const Context* const root = execution.calls.empty() ? execution.context : execution.calls.front().caller;
    if (root == nullptr || thread >= creators_.size() || creators_[thread].empty()) return;
    const auto same = std::ranges::find_if(*origins, [&](const ThreadOrigin& origin) {
        return origin.root == root && origin.creators == creators_[thread];
    });
    if (same == origins->end()) {
        origins->push_back({root, creators_[thread], 1});
    } else {
        ++same->threads;
    }
}

void ThreadOrigins::forget() {
    creators_.clear();
    ended_.clear();
}

}  // namespace bd
