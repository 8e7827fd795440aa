// SPDX-License-Identifier: GPL-2.0-or-later
//
// Jumps within functions, counted by where they start and where they lead to: those that were made. How often a
// conditional one was not made follows from the exits' counts.
//
// So do most of the jumps: an exit mostly leads to where it led before, and as long as it does, the count of the exit
// (see BlockCosts) also counts the jump. Only where an exit leads elsewhere, or to nowhere within the function, is
// there anything to do.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/narrow.h"
#include "engine/base/types.h"
#include "engine/costs/block_cost.h"

namespace bd {

struct Jump {
    CallSite site;  // the exit that is left by
    const Block* target;
    std::uint64_t count;  // once settled
    std::uint64_t rest;   // while it is the latest from its exit: what its count is more than that of the exit
};

class JumpTable {
public:
    // An exit has led to `target` within the function. `is_jump`: else it goes straight on. `is_counted`: the exit was
    // counted, and the jump not cut. ExitNotes::next is set, so that this need not be called if it leads there again,
    // and is counted.
    void go_on(const CallSite& site, const Block& target, bool is_jump, bool is_counted) {
        ExitCount& exit = site.from->exits[site.exit];
        JumpId next = kStraightOn;
        if (is_jump) next = leads_to(exit.jump, target) ? exit.jump : find_or_make(site, target);
        if (next != exit.jump) {
            const std::uint64_t before = taken(site) - is_counted;
            if (is_made(exit.jump)) jump(exit.jump).rest += before;
            if (is_made(next)) jump(next).rest -= before;
            exit.jump = next;
        }
        if (is_made(next)) jump(next).rest += 1u - is_counted;
        TracedExit& notes = site.from->block->exits()[site.exit];
        if (notes.cost == site.from) notes.next = target.exits()[0].begin;
    }
    // An exit was counted that may lead elsewhere.
    void cut(const CallSite& site) {
        const JumpId latest = site.from->exits[site.exit].jump;
        if (is_made(latest)) --jump(latest).rest;
    }

    // In the order in which they were first made. Counts are those of the latest settle().
    std::span<const Jump> all() const { return jumps_; }
    std::span<Jump> all() { return jumps_; }

    // To be called after BlockCosts::settle().
    void settle();
    // Zeroes the counts of all jumps for which is_meant(jump) holds. The counts of their exits must be zero.
    template <class IsMeant>
    void clear_counts_if(IsMeant is_meant) {
        for (Jump& jump : jumps_) {
            if (is_meant(jump)) jump.count = jump.rest = 0;
        }
    }

private:
    // Of an exit that led straight on.
    static constexpr JumpId kStraightOn{~std::uint32_t{0}};

    struct Key {
        CallSite site;
        const Block* target;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            const auto address = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
            return (address(key.site.from) * 31 + key.site.exit) * 31 + address(key.target);
        }
    };

    static bool is_made(JumpId id) { return id != kNoJump && id != kStraightOn; }
    Jump& jump(JumpId id) { return jumps_[index_of(id) - 1]; }
    bool leads_to(JumpId id, const Block& target) { return is_made(id) && jump(id).target == &target; }
    // How often the exit was counted.
    static std::uint64_t taken(const CallSite& site) {
        const TracedExit& exit = site.from->block->exits()[site.exit];
        return site.from->exits[site.exit].taken + (exit.cost == site.from ? exit.taken : 0);
    }
    JumpId find_or_make(const CallSite& site, const Block& target);

    std::vector<Jump> jumps_;  // that with id 1 is the first
    boost::unordered_flat_map<Key, JumpId, KeyHash> by_key_;

    static constexpr std::size_t kRecent = 1024;
    std::array<JumpId, kRecent> recent_{};  // by hash: the latest
};

}  // namespace bd
