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

std::uint32_t HeapBlocks::class_of(std::uint32_t size, GroupId group) {
    const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(group)} << 32 | size;
    std::uint32_t& recent = recent_classes_[(static_cast<std::uint32_t>(group) * 61u + size) % recent_classes_.size()];
    if (recent < classes_.size() && classes_[recent].group == group && classes_[recent].size == size) return recent;
    const auto known = class_by_key_.find(key);
    if (known != class_by_key_.end()) return recent = known->second;
    if (classes_.size() >= most_classes_) return kNoClass;
    recent = static_cast<std::uint32_t>(classes_.size());
    class_by_key_.emplace(key, recent);
    classes_.push_back({group, size});
    return recent;
}

void HeapBlocks::free(Slot& slot) {
    slot.is_free = 1;
    const Class& its_class = classes_[slot.block_class];
    groups_.free_block(its_class.group, its_class.size);
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

// Whether of these granules, both ends included, at most the first one has a block, which is free: as where a block is
// allocated again that was freed. False if their bits stand in two words, too.
[[gnu::always_inline]] inline bool HeapBlocks::has_only_free(const Page& page, unsigned first, unsigned last) {
    if (first / 64 != last / 64) return false;
    const std::uint64_t begins = page.begins[first / 64] >> first % 64 & ~std::uint64_t{0} >> (63 - (last - first));
    return begins == 0 || (begins == 1 && page.slots[first].is_free != 0);
}

// The blocks that begin in this part of the page, both ends included, which something else has got: if they are not
// free, that was not seen. So is one that begins in the same granule as the part, as only one can stand there.
void HeapBlocks::forget(Page& page, std::uint64_t number, Address begin, Address last) {
    const Address page_begin = number << kPageBits;
    const unsigned first_granule = begin < page_begin ? 0 : granule_of(begin);
    const unsigned last_granule = last >> kPageBits == number ? granule_of(last) : kGranules - 1;
    for (unsigned i = first_granule / 64; i <= last_granule / 64; ++i) {
        std::uint64_t mask = ~std::uint64_t{0};
        if (i == first_granule / 64) mask &= ~std::uint64_t{0} << first_granule % 64;
        if (i == last_granule / 64) mask &= ~std::uint64_t{0} >> (63 - last_granule % 64);
        for (std::uint64_t begins = page.begins[i] & mask; begins != 0; begins &= begins - 1) {
            const unsigned granule = i * 64 + static_cast<unsigned>(std::countr_zero(begins));
            Slot& slot = page.slots[granule];
            const Address granule_begin = page_begin + (Address{granule} << kGranuleBits);
            if (granule_begin + slot.offset > last && granule_begin > begin) continue;
            page.begins[i] &= ~(begins & -begins);
            if (slot.is_free == 0) free(slot);
        }
    }
}

template <class Use>
void HeapBlocks::for_each_page(Address first, Address last, Use use) {
    const std::uint64_t first_page = first >> kPageBits;
    const std::uint64_t last_page = last >> kPageBits;
    if (last_page - first_page < pages_.size()) {
        for (std::uint64_t number = first_page; number <= last_page; ++number) {
            if (Page* const page = page_or_null(number)) use(number, *page);
        }
        return;
    }
    for (const auto& [number, page] : pages_) {
        if (number - first_page <= last_page - first_page) use(number, *page);
    }
}

// Both ends included.
void HeapBlocks::forget_range(Address first, Address last) {
    for_each_page(first, last, [&](std::uint64_t number, Page& page) {
        forget(page, number, first, last);
        if (number != first >> kPageBits) page.reaches_in = {};
        page.has_large = true;
    });
}

// Those that have one of these bytes, both ends included.
void HeapBlocks::forget_large(Address first, Address last) {
    const auto begin =
        std::ranges::lower_bound(large_, first, {}, [](const HeapBlock& block) { return block.end() - 1; });
    auto end = begin;
    for (; end != large_.end() && end->base <= last; ++end) {
        if (!end->is_free) groups_.free_block(end->group, end->size);
    }
    large_.erase(begin, end);
}

void HeapBlocks::forget(Address begin, Address end) {
    if (begin >= end) return;
    forget_range(begin, end - 1);
    for (;;) {
        const HeapBlock block = find_any(page_or_null(begin >> kPageBits), begin, true);
        if (block.size == 0 || block.base >= begin) break;
        const std::uint64_t left = begin - block.base;
        HeapBlock* const large = large_at(begin);
        if (large != nullptr && large->base == block.base && large->size == block.size) {
            large->size = left;
        } else {
            const std::uint32_t block_class = class_of(static_cast<std::uint32_t>(left), block.group);
            if (block_class == kNoClass) {
                forget_range(block.base, begin - 1);
                continue;
            }
            slot_at(block.base)->block_class = block_class & kClassMask;
        }
        if (!block.is_free) groups_[block.group].live_bytes -= block.size - left;
    }
    forget_large(begin, end - 1);
}

void HeapBlocks::free_range(Address begin, Address end) {
    if (begin >= end) return;
    for_each_page(begin, end - 1, [&](std::uint64_t number, const Page& page) {
        for (unsigned i = 0; i < page.begins.size(); ++i) {
            for (std::uint64_t begins = page.begins[i]; begins != 0; begins &= begins - 1) {
                const unsigned granule = i * 64 + static_cast<unsigned>(std::countr_zero(begins));
                const Address base = block_at(page, number, granule).base;
                if (base - begin < end - begin) free(base);
            }
        }
    });
    for (auto large = std::ranges::lower_bound(large_, begin, {}, &HeapBlock::base);
         large != large_.end() && large->base < end; ++large) {
        free(large->base);
    }
}

bool HeapBlocks::add(Address base, std::uint64_t size, GroupId group, bool within) {
    BD_DCHECK(HeapBlock::has_end(base, size));
    if (size > kMostSmall && !within) {
        add_large(base, size, group);
        return true;
    }
    if (size > kMostSmall) return true;  // that much of a pool is no element of it
    const std::uint64_t number = base >> kPageBits;
    const Address last = base + (size == 0 ? 0 : size - 1);
    Page& first_page = page(number);
    Page* last_page = &first_page;
    const unsigned granule = granule_of(base);
    if (last >> kPageBits != number || !has_only_free(first_page, granule, granule_of(last))) {
        forget(first_page, number, base, last);
    }
    for (std::uint64_t next = number + 1; next <= last >> kPageBits; ++next) {
        last_page = &page(next);
        forget(*last_page, next, base, last);
        last_page->reaches_in[within ? 1 : 0] = base;
    }
    if (first_page.has_large || last_page->has_large) {
        for (const Address end : {base, last}) {
            const HeapBlock* const large = large_at(end);
            if (large != nullptr && !large->is_free) has_small_in_large_ = true;
        }
    }
    const std::uint32_t block_class = class_of(static_cast<std::uint32_t>(size), group);
    if (block_class == kNoClass) return false;
    first_page.begins[granule / 64] |= std::uint64_t{1} << granule % 64;
    Slot& slot = first_page.slots[granule];
    slot.block_class = block_class & kClassMask;
    slot.offset = base & ((1u << kGranuleBits) - 1);
    slot.is_free = 0;
    slot.is_new = 1;
    if (within) {
        has_inner_ = true;
        first_page.has_inner = true;
    }
    return true;
}

void HeapBlocks::add_large(Address base, std::uint64_t size, GroupId group) {
    const Address last = base + size - 1;
    forget_range(base, last);
    if (find_any(page_or_null(base >> kPageBits), base, false).size != 0) has_small_in_large_ = true;
    forget_large(base, last);
    large_.insert(std::ranges::upper_bound(large_, base, {}, &HeapBlock::base), {base, size, group, false, false});
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
        free(*slot);
        if (has_inner_) free_all(base, base + classes_[slot->block_class].size);
        return;
    }
    HeapBlock* const large = large_at(base);
    if (large == nullptr || large->base != base || large->is_free) return;
    large->is_free = true;
    groups_.free_block(large->group, large->size);
    if (has_inner_) free_all(base, large->end());
}

void HeapBlocks::move(const HeapBlock& block, GroupId group) {
    HeapBlock* const large = large_at(block.base);
    if (large != nullptr && large->base == block.base && large->size == block.size) {
        large->group = group;
    } else {
        Slot* const slot = slot_at(block.base);
        const std::uint32_t block_class = class_of(static_cast<std::uint32_t>(block.size), group);
        if (slot == nullptr || block_class == kNoClass) return;
        slot->block_class = block_class & kClassMask;
    }
    groups_.move_block(block.group, group, block.size);
}

// What a pool has made of a block.
void HeapBlocks::free_all(Address begin, Address end) {
    if (begin >= end) return;
    for_each_page(begin, end - 1, [&](std::uint64_t number, Page& page) {
        if (!page.has_inner) return;
        const unsigned first = number == begin >> kPageBits ? granule_of(begin) : 0;
        for (unsigned granule = first; granule < kGranules; ++granule) {
            if ((page.begins[granule / 64] >> granule % 64 & 1) == 0) continue;
            Slot& slot = page.slots[granule];
            if (block_at(page, number, granule).base >= end) break;
            if (slot.is_free == 0) free(slot);
        }
    });
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

GroupId HeapBlocks::find_group(const Page* page, Address address) {
    return find_any(page, address, false).group;
}

HeapBlock HeapBlocks::find_any_large(Address address, bool free_too) {
    const HeapBlock* const large = large_at(address);
    if (large == nullptr || (large->is_free && !free_too)) return {};
    note_recent_large(address, *large);
    return *large;
}

}  // namespace bd
