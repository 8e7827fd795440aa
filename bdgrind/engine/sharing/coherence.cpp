// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/sharing/coherence.h"

#include <bit>

namespace bd {

Coherence::Stay& Coherence::Followed::of(std::uint8_t core) {
    for (Stay& stay : stays) {
        if (stay.core == core) return stay;
    }
    stays.push_back({.core = core});
    return stays.back();
}

[[gnu::noinline]] CoherenceOutcome Coherence::access_shared(Line& state, std::uint8_t core, LineNumber line,
                                                            std::uint64_t bytes, bool writes,
                                                            std::vector<CoreUseMark>* ends) {
    const std::uint64_t bit = std::uint64_t{1} << core;
    const std::uint64_t others = state.holders & ~bit;
    const bool is_here = (state.holders & bit) != 0;
    CoherenceOutcome outcome{.transferred = state.modified && !is_here, .lost = (state.losers & bit) != 0};
    if (writes) outcome.invalidated = static_cast<std::uint8_t>(std::popcount(others));
    state.losers &= ~bit;
    if (state.followed == 0) forget_known(line, state.holders);
    if (!outcome.is_nothing() && state.followed == 0) {
        if (state.taken < kFollowedFrom) ++state.taken;
        if (state.taken == kFollowedFrom && followed_.size() < most_followed_) {
            followed_.emplace_back();
            state.followed = static_cast<std::uint32_t>(followed_.size());
        }
    }
    outcome.is_followed = state.followed != 0;
    if (outcome.is_followed) follow(state, core, line, bytes, writes, ends);
    if (writes) {
        state.losers |= others;
        state.holders = bit;
        state.modified = true;
    } else {
        state.holders |= bit;
        if (protocol_ == CoherenceProtocol::kMesi) state.modified &= is_here;
    }
    return outcome;
}

// What these cores know of the line changes.
void Coherence::forget_known(LineNumber line, std::uint64_t cores) {
    for (; cores != 0; cores &= cores - 1) {
        Known& known = known_of(static_cast<std::uint8_t>(std::countr_zero(cores)), line);
        if (known == known_as(line, true) || known == known_as(line, false)) known = {};
    }
}

void Coherence::follow(Line& state, std::uint8_t core, LineNumber line, std::uint64_t bytes, bool writes,
                       std::vector<CoreUseMark>* ends) {
    Followed& followed = followed_[state.followed - 1];
    Stay& own = followed.of(core);
    if ((state.holders >> core & 1) == 0) {
        own.read = 0;
        own.written = 0;
    }
    if (!writes) {
        own.read |= bytes;
        return;
    }
    own.written |= bytes;
    for (Stay& stay : followed.stays) {
        if (stay.core == core) continue;
        if ((state.holders >> stay.core & 1) != 0) ends->push_back(end(&stay, line));
        stay.foreign |= bytes;
    }
}

// From here on, all that others write is known.
CoreUseMark Coherence::end(Stay* stay, LineNumber line) const {
    SharingKind kind = SharingKind::kUnknown;
    if (stay->is_known) {
        kind = (stay->foreign & stay->written) != 0 ? SharingKind::kMigrating
               : (stay->foreign & stay->read) != 0  ? SharingKind::kTrue
                                                    : SharingKind::kFalse;
    }
    stay->foreign = 0;
    stay->is_known = true;
    return {.line = static_cast<Address>(line) << line_bits_,
            .core = stay->core,
            .kind = kind,
            .read = stay->read,
            .written = stay->written};
}

}  // namespace bd
