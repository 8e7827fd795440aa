// SPDX-License-Identifier: GPL-2.0-or-later
//
// The replay without caches: what is executed and who calls whom is all that it knows.

#pragma once

#include <cstddef>

#include "engine/replay/engine_state.h"
#include "engine/replay/follow.h"
#include "engine/replay/replay.h"

namespace bd {

// `Observer`: BranchObserver or NoObserver.
template <class Observer>
class PlainReplay final : public Replay {
public:
    explicit PlainReplay(EngineState& state) : state_(state), observer_(state) {}

    std::size_t run(Batch batch) override;
    void flush() override {}
    void drop_charges() override {}
    void announce(Batch) override {}
    bool advance() override { return false; }
    bool is_supplied() const override { return false; }

private:
    void simulate_guarded(const TracedExit& exit, const Word* addresses);

    EngineState& state_;
    [[no_unique_address]] Observer observer_;
};

// The trace has the addresses of all groups, or of the guarded ones only.
template <class Observer>
void PlainReplay<Observer>::simulate_guarded(const TracedExit& exit, const Word* addresses) {
    const bool has_all = exit.block->traces_all;
    for (const AccessGroup& group : exit.block->groups().first(exit.groups)) {
        const Access& access = exit.block->accesses_[group.first];
        if (!access.guarded) {
            if (has_all) ++addresses;
            continue;
        }
        if (*addresses++ != 0) continue;
        state_.on_unaddressed_access(*exit.cost, access);
    }
}

template <class Observer>
std::size_t PlainReplay<Observer>::run(Batch batch) {
    struct BlockHandler {
        void start() {}
        void stop() {}
        [[gnu::always_inline]] bool takes_fast_path(const TracedExit& exit, const Word*) const {
            return !exit.may_skip_access;
        }
        void run_fast(const TracedExit&) {}
        [[gnu::always_inline]] void run(TracedExit& exit, const Word* record) {
            if (__builtin_expect(exit.may_skip_access, 0)) replay->simulate_guarded(exit, record + kHeaderWords);
        }
        void run_slow(TracedExit& exit, const Word* record) {
            ReplayCursor::allow_fast_path(exit, *replay->state_.current);
            run(exit, record);
        }

        PlainReplay* replay;
    };
    return follow(state_, observer_, batch, BlockHandler{this});
}

}  // namespace bd
