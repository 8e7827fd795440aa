// SPDX-License-Identifier: GPL-2.0-or-later
//
// The replay without caches: what is executed and who calls whom is all that it knows.

#pragma once

#include <cstddef>

#include "engine/replay/engine.h"
#include "engine/replay/follow.h"

namespace bd {

// `Watch`: BranchWatch or NoWatch.
template <class Watch>
class PlainReplay final : public Replay {
public:
    explicit PlainReplay(EngineState& state) : state_(state), watch_(state) {}

    std::size_t run(Batch batch) override;
    void flush() override {}
    void disown() override {}
    void announce(Batch) override {}
    bool advance() override { return false; }
    bool is_supplied() const override { return false; }

private:
    void see_guarded(const Exit& exit, const Word* addresses);

    EngineState& state_;
    [[no_unique_address]] Watch watch_;
};

// The trace has the addresses of all groups, or of the guarded ones only.
template <class Watch>
void PlainReplay<Watch>::see_guarded(const Exit& exit, const Word* addresses) {
    const bool has_all = exit.block->traces_all;
    for (const AccessGroup& group : exit.block->groups().first(exit.groups)) {
        const Access& access = exit.block->accesses_[group.first];
        if (!access.guarded) {
            if (has_all) ++addresses;
            continue;
        }
        if (*addresses++ != 0) continue;
        const CallSite& payer = state_.current->payer;
        state_.see_no_access(
            payer ? state_.blocks.caller(payer) : state_.blocks.instruction(*exit.cost, access.instruction), access);
    }
}

template <class Watch>
std::size_t PlainReplay<Watch>::run(Batch batch) {
    struct Way {
        void start() {}
        void stop() {}
        [[gnu::always_inline]] bool is_short(const Exit& exit, const Word*) const { return !exit.may_skip_access; }
        void run_short(const Exit&) {}
        [[gnu::always_inline]] void run(const Exit& exit, const Word* record) {
            if (__builtin_expect(exit.may_skip_access, 0)) replay->see_guarded(exit, record + kHeaderWords);
        }
        void run_slowly(const Exit& exit, const Word* record) {
            Course::make_ready(exit, *replay->state_.current);
            run(exit, record);
        }

        PlainReplay* replay;
    };
    return follow(state_, watch_, batch, Way{this});
}

}  // namespace bd
