// SPDX-License-Identifier: GPL-2.0-or-later
//
// The replay loops that there are. Each is compiled anew for what it is asked to do, so only what many ask for has one
// of its own; one that can do everything serves all others.

#include "engine/replay/branch_observer.h"
#include "engine/replay/cache_replay.h"
#include "engine/replay/jump_observer.h"
#include "engine/replay/path_observer.h"
#include "engine/replay/plain_replay.h"
#include "engine/replay/scope_observer.h"

namespace bd {
namespace {

constexpr CacheTraits kDefault{.common_lines = true, .line_use = true, .write_back = false};
constexpr CacheTraits kMissesOnly{.common_lines = true, .line_use = false, .write_back = false};
constexpr CacheTraits kAnyLines{.common_lines = false, .line_use = true, .write_back = false};
constexpr CacheTraits kEverything{.common_lines = false, .line_use = true, .write_back = true};
constexpr CacheTraits kWhy{.common_lines = true, .line_use = true, .write_back = false, .why = true};
constexpr CacheTraits kWhyEverything{.common_lines = false, .line_use = true, .write_back = true, .why = true};

// The same with an L2.
constexpr CacheTraits with_l2(CacheTraits traits) {
    traits.middle_level = true;
    return traits;
}

// The observers that there are: for jumps alone, for jumps and branches if either is asked for, and these with loops.
using Jumps = JumpObserver<NoObserver>;
using All = JumpObserver<BranchObserver>;
template <class Observer>
using WithScopes = ScopeObserver<Observer, TouchClock>;

CacheTraits wanted(const EngineConfig& config) {
    return {.common_lines = has_common_lines(config.caches),
            .line_use = config.cache_use,
            .write_back = config.write_back,
            .why = config.why,
            .middle_level = config.caches.has_l2()};
}

std::unique_ptr<Replay> make_with_l2(EngineState& state, CacheTraits traits, bool observes) {
    if (traits.why && !state.config.reuses) {
        return std::make_unique<CacheReplay<with_l2(kWhyEverything), All>>(state);
    }
    if (traits.why) return std::make_unique<CacheReplay<with_l2(kWhyEverything), WithScopes<All>>>(state);
    if (traits == with_l2(kDefault) && !observes) {
        return std::make_unique<CacheReplay<with_l2(kDefault), NoObserver>>(state);
    }
    return std::make_unique<CacheReplay<with_l2(kEverything), All>>(state);
}

// Paths within functions are followed by one that is quick, and others that can do everything.
std::unique_ptr<Replay> make_with_paths(EngineState& state, CacheTraits traits) {
    using Paths = PathObserver<All>;
    using PathsAndScopes = PathObserver<WithScopes<All>>;
    if (!state.config.cache_sim) return std::make_unique<PlainReplay<Paths>>(state);
    if (traits.why && state.config.reuses) {
        if (traits.middle_level) return std::make_unique<CacheReplay<with_l2(kWhyEverything), PathsAndScopes>>(state);
        return std::make_unique<CacheReplay<kWhyEverything, PathsAndScopes>>(state);
    }
    if (traits.why) {
        if (traits.middle_level) return std::make_unique<CacheReplay<with_l2(kWhyEverything), Paths>>(state);
        return std::make_unique<CacheReplay<kWhyEverything, Paths>>(state);
    }
    if (traits.middle_level) return std::make_unique<CacheReplay<with_l2(kEverything), Paths>>(state);
    if (traits == kDefault && !state.config.branch_sim) {
        return std::make_unique<CacheReplay<kDefault, PathObserver<Jumps>>>(state);
    }
    return std::make_unique<CacheReplay<kEverything, Paths>>(state);
}

}  // namespace

std::unique_ptr<Replay> Replay::make(EngineState& state) {
    const bool predicts = state.config.branch_sim;
    const bool observes = predicts || state.config.collect_jumps;
    if (state.config.flow_paths) return make_with_paths(state, wanted(state.config));
    if (!state.config.cache_sim) {
        if (observes) return std::make_unique<PlainReplay<All>>(state);
        return std::make_unique<PlainReplay<NoObserver>>(state);
    }
    const CacheTraits traits = wanted(state.config);
    if (traits.middle_level) return make_with_l2(state, traits, observes);
    if (traits == kDefault) {
        if (predicts) return std::make_unique<CacheReplay<kDefault, All>>(state);
        if (observes) return std::make_unique<CacheReplay<kDefault, Jumps>>(state);
        return std::make_unique<CacheReplay<kDefault, NoObserver>>(state);
    }
    if (traits == kWhy) {
        if (!state.config.reuses) {
            if (observes) return std::make_unique<CacheReplay<kWhy, All>>(state);
            return std::make_unique<CacheReplay<kWhy, NoObserver>>(state);
        }
        if (predicts) return std::make_unique<CacheReplay<kWhy, WithScopes<All>>>(state);
        return std::make_unique<CacheReplay<kWhy, WithScopes<Jumps>>>(state);
    }
    if (traits.why && !state.config.reuses) return std::make_unique<CacheReplay<kWhyEverything, All>>(state);
    if (traits.why) return std::make_unique<CacheReplay<kWhyEverything, WithScopes<All>>>(state);
    if (traits == kMissesOnly && !observes) return std::make_unique<CacheReplay<kMissesOnly, NoObserver>>(state);
    if (traits == kAnyLines && !observes) return std::make_unique<CacheReplay<kAnyLines, NoObserver>>(state);
    return std::make_unique<CacheReplay<kEverything, All>>(state);
}

}  // namespace bd
