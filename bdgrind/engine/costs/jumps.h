// SPDX-License-Identifier: GPL-2.0-or-later
//
// Jumps within functions, counted by where they start and where they lead to: those that were made. How often a
// conditional one was not made follows from the exits' counts.

#pragma once

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
    std::uint64_t count;
};

class JumpTable {
public:
    void count(const CallSite& site, const Block& target) {
        if (count_again(site, target)) return;
        const JumpId jump = find_or_make(site, target);
        site.from->exits[site.exit].jump = jump;
        ++jumps_[index_of(jump) - 1].count;
    }

    // Counts the jump if it is the latest from there; else it is to be counted by count(). Calls nothing.
    [[gnu::always_inline]] bool count_again(const CallSite& site, const Block& target) {
        const JumpId latest = site.from->exits[site.exit].jump;
        if (latest == kNoJump) return false;
        Jump& jump = jumps_[index_of(latest) - 1];
        if (jump.target != &target) return false;
        ++jump.count;
        return true;
    }

    // In the order in which they were first made.
    std::span<const Jump> all() const { return jumps_; }
    std::span<Jump> all() { return jumps_; }

    void clear_counts() {
        for (Jump& jump : jumps_) jump.count = 0;
    }

private:
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

    JumpId find_or_make(const CallSite& site, const Block& target) {
        const auto [entry, is_new] = by_key_.try_emplace(Key{site, &target});
        if (is_new) {
            jumps_.push_back({site, &target, 0});
            entry->second = JumpId{next_number(jumps_.size())};
        }
        return entry->second;
    }

    std::vector<Jump> jumps_;  // that with id 1 is the first
    boost::unordered_flat_map<Key, JumpId, KeyHash> by_key_;
};

}  // namespace bd
