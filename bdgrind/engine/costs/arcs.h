// SPDX-License-Identifier: GPL-2.0-or-later
//
// Call arcs: a call site in its context together with the called block in its context. An arc counts its calls and
// has a cost vector for what happened during them, all that the callee called included.

#pragma once

#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/types.h"
#include "engine/costs/block_cost.h"
#include "engine/costs/costs.h"

namespace bd {

struct Arc {
    CallSite site;
    BlockCost* callee = nullptr;  // the block entered
    std::uint64_t calls = 0;
};

class ArcTable {
public:
    explicit ArcTable(std::size_t width) : costs_(width) { arcs_.emplace_back(); }

    // The arc from `site` to `callee`, made when first asked for.
    ArcId get(const CallSite& site, BlockCost& callee) {
        ExitCount& exit = site.from->exits[site.exit];
        if (exit.arc == kNoArc || arcs_[index_of(exit.arc)].callee != &callee) {
            exit.arc = find_or_make(site, callee);
        }
        return exit.arc;
    }

    Arc& operator[](ArcId id) { return arcs_[index_of(id)]; }
    const Arc& operator[](ArcId id) const { return arcs_[index_of(id)]; }

    Costs costs(ArcId id) { return costs_[CostId{index_of(id)}]; }
    ConstCosts costs(ArcId id) const { return costs_[CostId{index_of(id)}]; }

    // Valid ids are 1 to size().
    std::uint32_t size() const { return costs_.size(); }

    void clear_counts() {
        for (Arc& arc : arcs_) arc.calls = 0;
        costs_.clear_counts();
    }

private:
    struct Key {
        CallSite site;
        const BlockCost* callee;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            const auto address = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
            return (address(key.site.from) * 31 + key.site.exit) * 31 + address(key.callee);
        }
    };

    ArcId find_or_make(const CallSite& site, BlockCost& callee);

    std::vector<Arc> arcs_;  // by ArcId
    CostPool costs_;         // the same numbers
    boost::unordered_flat_map<Key, ArcId, KeyHash> by_key_;
};

}  // namespace bd
