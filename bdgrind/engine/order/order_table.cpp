// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/order/order_table.h"

#include <algorithm>

namespace bd {

std::span<const SiteId> OrderTable::sites(const Block& block) {
    if (by_block_.size() <= block.id) by_block_.resize(block.id + std::size_t{1});
    std::size_t& first = by_block_[block.id];
    if (first == 0) {
        first = site_ids_.size() + 1;
        std::uint16_t of_instruction = 0;
        for (std::size_t i = 0; i < block.access_count; ++i) {
            const std::uint16_t instruction = block.accesses()[i].instruction;
            const bool goes_on = i != 0 && block.accesses()[i - 1].instruction == instruction;
            of_instruction = goes_on ? static_cast<std::uint16_t>(of_instruction + 1) : std::uint16_t{0};
            site_ids_.push_back(site({&block, instruction, of_instruction}));
        }
    }
    return std::span(site_ids_).subspan(first - 1, block.access_count);
}

std::uint64_t OrderTable::accesses(const Block& block) const {
    const std::size_t first = block.id < by_block_.size() ? by_block_[block.id] : 0;
    if (first == 0) return 0;
    return seen_[index_of(site_ids_[first - 1])];
}

// Code may be translated more than once, with other beginnings; another file may come to lie at the same address.
SiteId OrderTable::site(const OrderSite& site) {
    const Address address = site.block->instruction_address(site.instruction);
    std::uint64_t key = (address << 4 ^ site.access) * 0x9e3779b97f4a7c15u;
    for (;; ++key) {
        const auto found = by_code_.find(key);
        if (found == by_code_.end()) break;
        const OrderSite& known = sites_[index_of(found->second)];
        if (known.block->instruction_address(known.instruction) == address && known.access == site.access &&
            known.block->function == site.block->function && known.block->load_bias == site.block->load_bias) {
            return found->second;
        }
    }
    if (sites_.size() == kMostRows) return kNoSite;
    const SiteId id{static_cast<std::uint32_t>(sites_.size())};
    sites_.push_back(site);
    memories_.emplace_back();
    seen_.push_back(0);
    by_code_.emplace(key, id);
    return id;
}

OrderRow& OrderTable::make_row(const OrderKey& key) {
    if (key.site == kNoSite || rows_.size() == kMostRows) return rows_[0];
    OrderRow row;
    static_cast<OrderKey&>(row) = key;
    return rows_[rows_.add(key.hash(), row)];
}

void OrderTable::clear_counts(std::uint32_t thread) {
    std::ranges::fill(seen_, 0);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (thread == 0 || rows_[i].thread == thread) rows_[i].clear_counts();
    }
}

}  // namespace bd
