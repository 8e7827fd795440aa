// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/objects/heap_blocks.h"

#include <algorithm>
#include <bit>

namespace bd {

HeapBlocks::Page* HeapBlocks::page_or_null(std::uint64_t number) {
    Latest& latest = latest_[static_cast<std::size_t>(number) % latest_.size()];
    if (latest.number == number) return latest.page;
    const auto found = pages_.find(number);
    if (found == pages_.end()) return nullptr;
    latest = {number, found->second};
    return latest.page;
}

HeapBlocks::Page& HeapBlocks::page(std::uint64_t number) {
    if (Page* const known = page_or_null(number)) return *known;
    const std::size_t place = pages_.size() % kPagesTogether;
    if (place == 0) made_pages_.push_back(std::make_unique_for_overwrite<Pages>());
    Page& made = (*made_pages_.back())[place];
    made.begins = {};
    made.reaches_in = {};
    made.has_inner = false;
    const Address begin = number << kPageBits;
    const HeapBlock* const behind = large_after(begin);
    made.has_large = large_at(begin) != nullptr || (behind != nullptr && behind->base >> kPageBits == number);
    pages_[number] = &made;
    latest_[static_cast<std::size_t>(number) % latest_.size()] = {number, &made};
    return made;
}

// Where the block that begins at `base` stands; null if none does.
HeapBlocks::Slot* HeapBlocks::slot_at(Address base) {
    Page* const page = page_or_null(base >> kPageBits);
    if (page == nullptr) return nullptr;
    const unsigned granule = granule_of(base);
    if ((page->begins[granule / 64] >> granule % 64 & 1) == 0) return nullptr;
    Slot& slot = page->slots[granule];
    return slot.offset == (base & ((1u << kGranuleBits) - 1)) ? &slot : nullptr;
}

// The blocks that begin in these granules, which something else has got: if they are not free, that was not seen.
void HeapBlocks::forget(Page& page, unsigned first, unsigned last) {
    for (unsigned i = first / 64; i <= last / 64; ++i) {
        std::uint64_t mask = ~std::uint64_t{0};
        if (i == first / 64) mask &= ~std::uint64_t{0} << first % 64;
        if (i == last / 64) mask &= ~std::uint64_t{0} >> (63 - last % 64);
        for (std::uint64_t begins = page.begins[i] & mask; begins != 0; begins &= begins - 1) {
            const Slot& slot = page.slots[i * 64 + static_cast<unsigned>(std::countr_zero(begins))];
            if (slot.is_free == 0) groups_.free_block(slot.group, slot.size);
        }
        page.begins[i] &= ~mask;
    }
}

// Both ends included.
void HeapBlocks::forget_range(Address first, Address last) {
    const std::uint64_t first_page = first >> kPageBits;
    const std::uint64_t last_page = last >> kPageBits;
    const auto forget_in = [&](std::uint64_t number, Page& page) {
        forget(page, number == first_page ? granule_of(first) : 0,
               number == last_page ? granule_of(last) : kGranules - 1);
        if (number != first_page) page.reaches_in = {};
        page.has_large = true;
    };
    if (last_page - first_page < pages_.size()) {
        for (std::uint64_t number = first_page; number <= last_page; ++number) {
            if (Page* const page = page_or_null(number)) forget_in(number, *page);
        }
        return;
    }
    for (const auto& [number, page] : pages_) {
        if (number - first_page <= last_page - first_page) forget_in(number, *page);
    }
}

void HeapBlocks::add(Address base, std::uint64_t size, GroupId group, bool within) {
    if (size > kMostSmall && !within) {
        add_large(base, size, group);
        return;
    }
    if (size > kMostSmall) return;  // that much of a pool is no element of it
    const std::uint64_t number = base >> kPageBits;
    const Address last = base + (size == 0 ? 0 : size - 1);
    for (const Address end : {base, last}) {
        const HeapBlock* const large = large_at(end);
        if (large != nullptr && !large->is_free) has_small_in_large_ = true;
    }
    Page& first_page = page(number);
    const unsigned granule = granule_of(base);
    if (last >> kPageBits == number) {
        forget(first_page, granule, granule_of(last));
    } else {
        forget(first_page, granule, kGranules - 1);
        for (std::uint64_t next = number + 1; next <= last >> kPageBits; ++next) {
            Page& covered = page(next);
            forget(covered, 0, next == last >> kPageBits ? granule_of(last) : kGranules - 1);
            covered.reaches_in[within ? 1 : 0] = base;
        }
    }
    first_page.begins[granule / 64] |= std::uint64_t{1} << granule % 64;
    Slot& slot = first_page.slots[granule];
    slot.group = group;
    slot.size = static_cast<std::uint32_t>(size) & 0xfffff;
    slot.offset = base & ((1u << kGranuleBits) - 1);
    slot.is_free = 0;
    if (within) {
        has_inner_ = true;
        first_page.has_inner = true;
    }
}

void HeapBlocks::add_large(Address base, std::uint64_t size, GroupId group) {
    const Address last = base + size - 1;
    forget_range(base, last);
    if (find_any(page_or_null(base >> kPageBits), base, false).size != 0) has_small_in_large_ = true;
    const auto begin =
        std::ranges::lower_bound(large_, base, {}, [](const HeapBlock& block) { return block.end() - 1; });
    auto end = begin;
    for (; end != large_.end() && end->base <= last; ++end) {
        if (!end->is_free) groups_.free_block(end->group, end->size);
    }
    large_.insert(large_.erase(begin, end), {base, size, group, false});
}

HeapBlock* HeapBlocks::large_at(Address address) {
    const auto above = std::ranges::upper_bound(large_, address, {}, &HeapBlock::base);
    return above != large_.begin() && above[-1].has(address) ? &above[-1] : nullptr;
}

const HeapBlock* HeapBlocks::large_after(Address address) const {
    const auto above = std::ranges::upper_bound(large_, address, {}, &HeapBlock::base);
    return above != large_.end() ? &*above : nullptr;
}

void HeapBlocks::free(Address base) {
    if (Slot* const slot = slot_at(base); slot != nullptr && slot->is_free == 0) {
        slot->is_free = 1;
        groups_.free_block(slot->group, slot->size);
        if (has_inner_) free_all(base, base + slot->size);
        return;
    }
    HeapBlock* const large = large_at(base);
    if (large == nullptr || large->base != base || large->is_free) return;
    large->is_free = true;
    groups_.free_block(large->group, large->size);
    if (has_inner_) free_all(base, large->end());
}

// What a pool has made of a block.
void HeapBlocks::free_all(Address begin, Address end) {
    for (Address at = begin; at < end; at = ((at >> kPageBits) + 1) << kPageBits) {
        Page* const page = page_or_null(at >> kPageBits);
        if (page == nullptr || !page->has_inner) continue;
        for (unsigned granule = granule_of(at); granule < kGranules; ++granule) {
            if ((page->begins[granule / 64] >> granule % 64 & 1) == 0) continue;
            Slot& slot = page->slots[granule];
            if (block_at(*page, at >> kPageBits, granule).base >= end) break;
            if (slot.is_free != 0) continue;
            slot.is_free = 1;
            groups_.free_block(slot.group, slot.size);
        }
    }
}

HeapBlock HeapBlocks::find_reaching_in(const Page& page, Address address, bool free_too) {
    for (const Address base : {page.reaches_in[1], page.reaches_in[0]}) {
        if (base == 0 || slot_at(base) == nullptr) continue;
        const std::uint64_t from = base >> kPageBits;
        const HeapBlock block = block_at(*page_or_null(from), from, granule_of(base));
        if (block.has(address) && (free_too || !block.is_free)) return block;
    }
    return {};
}

HeapBlock HeapBlocks::find_any_large(Address address, bool free_too) {
    const HeapBlock* const large = large_at(address);
    if (large == nullptr || (large->is_free && !free_too)) return {};
    note_recent_large(address, *large);
    return *large;
}

}  // namespace bd
