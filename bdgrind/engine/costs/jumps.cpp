// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/costs/jumps.h"

namespace bd {

// Most of those that are looked up are computed jumps, which lead to many places in turn.
JumpId JumpTable::find_or_make(const CallSite& site, const Block& target) {
    const Key key{site, &target};
    const std::uint64_t mixed = std::uint64_t{KeyHash()(key)} * 0x9e3779b97f4a7c15;
    JumpId& recent = recent_[static_cast<std::size_t>(mixed >> 32) % kRecent];
    if (leads_to(recent, target) && jump(recent).site == site) return recent;
    const auto [entry, is_new] = by_key_.try_emplace(key);
    if (is_new) {
        jumps_.push_back({site, &target, 0, 0});
        entry->second = JumpId{next_number(jumps_.size())};
    }
    return recent = entry->second;
}

void JumpTable::settle() {
    for (std::uint32_t i = 1; i <= jumps_.size(); ++i) {
        Jump& made = jump(JumpId{i});
        const ExitCount& exit = made.site.from->exits[made.site.exit];
        made.count = made.rest + (exit.jump == JumpId{i} ? exit.taken : 0);
    }
}

}  // namespace bd
