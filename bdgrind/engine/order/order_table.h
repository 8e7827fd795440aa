// SPDX-License-Identifier: GPL-2.0-or-later
//
// The order in which each accessing instruction goes through memory, by loop, as found in sampled pieces of a trace.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/row_table.h"
#include "engine/order/address_steps.h"
#include "engine/order/load_chains.h"
#include "engine/order/sampled_flow.h"

namespace bd {

// One access of an instruction, in one of the blocks that contain it.
struct OrderSite {
    const Block* block;
    std::uint16_t instruction;
    std::uint16_t access;  // among those of the instruction, from 0
};

// The accesses of a site while `loop` is the innermost loop (`inner` 0); or the first one in each run of a loop that
// lies `inner` loops within `loop`.
struct OrderKey {
    SiteId site;
    LoopId loop;           // kNoLoop: outside of all loops
    std::uint32_t thread;  // 0: costs are not separated by thread
    std::uint32_t inner;

    std::uint32_t hash() const {
        const std::uint64_t mixed = (std::uint64_t{index_of(site)} << 32 | index_of(loop)) * 0x9e3779b97f4a7c15;
        return static_cast<std::uint32_t>(
            ((mixed ^ mixed >> 32) + (std::uint64_t{thread} << 2 | inner)) * 0xff51afd7ed558ccd >> 32);
    }
    bool operator==(const OrderKey&) const = default;
};

struct OrderRow : OrderKey {
    std::uint32_t accesses = 0;
    std::uint32_t straddle_line = 0;
    std::uint32_t straddle_page = 0;
    AddressSteps steps;
    std::array<std::uint32_t, kDependences> depends{};

    // By dependence: the site that mostly loaded the value, by majority vote, and its lead in votes.
    struct Lead {
        SiteId site = kNoSite;
        std::uint32_t votes = 0;
    };
    std::array<Lead, kDependences> leads{};

    void depend(const LoadChains::Found& found) {
        const auto which = static_cast<std::size_t>(found.dependence);
        ++depends[which];
        Lead& lead = leads[which];
        if (lead.site == found.on) {
            ++lead.votes;
        } else if (lead.votes == 0) {
            lead = {found.on, 1};
        } else {
            --lead.votes;
        }
    }
    void clear_counts() {
        accesses = straddle_line = straddle_page = 0;
        steps.clear_counts();
        depends = {};
        leads = {};
    }
};

// Rows and sites. The number of both is bounded; further ones are row 0 and kNoSite.
class OrderTable {
public:
    static constexpr std::size_t kMostRows = 65536;

    OrderTable() { rows_.add(OrderKey{}.hash(), {}); }

    // The sites of all accesses of a block, in its order.
    std::span<const SiteId> sites(const Block& block);
    // How often the first access of a block has been seen. The block must have an access.
    std::uint64_t accesses(const Block& block) const;
    SiteMemory& memory(SiteId site) { return memories_[index_of(site)]; }

    OrderRow& row(const OrderKey& key) {
        if (key.inner == 0) ++seen_[index_of(key.site)];
        const std::uint32_t row = rows_.find(key.hash(), [&key](const OrderRow& other) { return other == key; });
        return __builtin_expect(row != rows_.kNone, 1) ? rows_[row] : make_row(key);
    }

    const RowTable<OrderRow>& rows() const { return rows_; }
    const OrderSite& site(SiteId site) const { return sites_[index_of(site)]; }

    // Clears the counts of a thread, or all counts (0).
    void clear_counts(std::uint32_t thread);

private:
    SiteId site(const OrderSite& site);
    [[gnu::noinline]] OrderRow& make_row(const OrderKey& key);

    std::vector<OrderSite> sites_ = std::vector<OrderSite>(1);  // by id
    std::vector<SiteMemory> memories_ = std::vector<SiteMemory>(1);
    std::vector<std::uint32_t> seen_ = std::vector<std::uint32_t>(1);  // accesses, by site
    RowTable<OrderRow> rows_;
    std::vector<std::size_t> by_block_;  // by block: 1 + the index in site_ids_ of its first access; 0: not known yet
    std::vector<SiteId> site_ids_;
    boost::unordered_flat_map<std::uint64_t, SiteId> by_code_;
};

}  // namespace bd
