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

// An instruction's access, by one of the blocks that contain it.
struct OrderSite {
    const Block* block;
    std::uint16_t instruction;
    std::uint16_t access;  // among those of the instruction, from 0
};

// Accesses of a site while a loop is the innermost (`inner` 0), or each first one in a run of the loops within it.
struct OrderKey {
    SiteId site;
    LoopId loop;           // kNoLoop: what is in none
    std::uint32_t thread;  // 0: costs are not separated by thread
    std::uint32_t inner;   // how many loops lie between

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

    // By dependence: which site has loaded the value, mostly, and by how many votes it leads.
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

// Rows, and what belongs to sites. Both are bounded: 0 stands for those beyond.
class OrderTable {
public:
    static constexpr std::size_t kMostRows = 65536;

    OrderTable() { rows_.add(OrderKey{}.hash(), {}); }

    // For all accesses of a block, in its order.
    std::span<const SiteId> sites(const Block& block);
    // How often the first access of a block, which has one, has been seen.
    std::uint64_t accesses(const Block& block) const;
    SiteMemory& memory(SiteId site) { return memories_[index_of(site)]; }

    OrderRow& row(const OrderKey& key) {
        if (key.inner == 0) ++seen_[index_of(key.site)];
        const std::uint32_t row = rows_.find(key.hash(), [&key](const OrderRow& other) { return other == key; });
        return __builtin_expect(row != rows_.kNone, 1) ? rows_[row] : make_row(key);
    }

    const RowTable<OrderRow>& rows() const { return rows_; }
    const OrderSite& site(SiteId site) const { return sites_[index_of(site)]; }

    // Of a thread; 0: of all.
    void clear_counts(std::uint32_t thread);

private:
    SiteId site(const OrderSite& site);
    [[gnu::noinline]] OrderRow& make_row(const OrderKey& key);

    std::vector<OrderSite> sites_ = std::vector<OrderSite>(1);  // by id
    std::vector<SiteMemory> memories_ = std::vector<SiteMemory>(1);
    std::vector<std::uint32_t> seen_ = std::vector<std::uint32_t>(1);  // accesses, by site
    RowTable<OrderRow> rows_;
    std::vector<std::size_t> by_block_;  // where in site_ids_ those of a block begin, plus 1; 0: not known yet
    std::vector<SiteId> site_ids_;
    boost::unordered_flat_map<std::uint64_t, SiteId> by_code_;
};

}  // namespace bd
