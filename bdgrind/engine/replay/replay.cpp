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
constexpr CacheTraits kEverything{.common_lines = false, .line_use = true, .write_back = true};
constexpr CacheTraits kWhy{.common_lines = true, .line_use = true, .write_back = false, .why = true};
constexpr CacheTraits kWhyEverything{.common_lines = false, .line_use = true, .write_back = true, .why = true};

// The same with an L2.
constexpr CacheTraits with_l2(CacheTraits traits) {
    traits.middle_level = true;
    return traits;
}

// The observers that there are, beside none: for jumps and branches, and these with loops, the latter without branches,
// too. Each does nothing about what is not asked for.
using All = JumpObserver<BranchObserver>;
using AllAndScopes = ScopeObserver<All, TouchClock>;
using JumpsAndScopes = ScopeObserver<JumpObserver<NoObserver>, TouchClock>;

CacheTraits wanted(const EngineConfig& config) {
    return {.common_lines = has_common_lines(config.caches),
            .line_use = config.cache_use,
            .write_back = config.write_back,
            .why = config.why,
            .middle_level = config.caches.has_l2()};
}

template <CacheTraits kTraits, class Observer>
std::unique_ptr<Replay> make_replay(EngineState& state) {
    return std::make_unique<CacheReplay<kTraits, Observer>>(state);
}

std::unique_ptr<Replay> make_with_l2(EngineState& state, CacheTraits traits, bool observes) {
    if (traits.why) return make_replay<with_l2(kWhyEverything), AllAndScopes>(state);
    if (traits == with_l2(kDefault) && !observes) return make_replay<with_l2(kDefault), NoObserver>(state);
    return make_replay<with_l2(kEverything), All>(state);
}

// Paths within functions are followed by one that is quick, and others that can do everything.
std::unique_ptr<Replay> make_with_paths(EngineState& state, CacheTraits traits) {
    using Paths = PathObserver<All>;
    using PathsAndScopes = PathObserver<AllAndScopes>;
    if (traits.middle_level) {
        if (traits.why) return make_replay<with_l2(kWhyEverything), PathsAndScopes>(state);
        return make_replay<with_l2(kEverything), Paths>(state);
    }
    if (traits.why) return make_replay<kWhyEverything, PathsAndScopes>(state);
    if (traits == kDefault) return make_replay<kDefault, Paths>(state);
    return make_replay<kEverything, Paths>(state);
}

}  // namespace

std::unique_ptr<Replay> Replay::make(EngineState& state) {
    const EngineConfig& config = state.config;
    const bool observes = config.branch_sim || config.collect_jumps;
    if (!config.cache_sim) {
        if (config.flow_paths) return std::make_unique<PlainReplay<PathObserver<All>>>(state);
        if (observes) return std::make_unique<PlainReplay<All>>(state);
        return std::make_unique<PlainReplay<NoObserver>>(state);
    }
    const CacheTraits traits = wanted(config);
    if (config.flow_paths) return make_with_paths(state, traits);
    if (traits.middle_level) return make_with_l2(state, traits, observes);
    if (traits == kDefault) {
        if (observes) return make_replay<kDefault, All>(state);
        return make_replay<kDefault, NoObserver>(state);
    }
    if (traits == kWhy) {
        if (!observes && !config.reuses) return make_replay<kWhy, NoObserver>(state);
        if (!config.branch_sim) return make_replay<kWhy, JumpsAndScopes>(state);
        return make_replay<kWhy, AllAndScopes>(state);
    }
    if (traits.why) return make_replay<kWhyEverything, AllAndScopes>(state);
    if (traits == kMissesOnly && !observes) return make_replay<kMissesOnly, NoObserver>(state);
    return make_replay<kEverything, All>(state);
}

}  // namespace bd
