// SPDX-License-Identifier: GPL-2.0-or-later
//
// The guest's heap blocks by address. Adding and freeing one takes a store or two, as programs do that all the time;
// who owns a byte is asked when a cache line is loaded or evicted.
//
//     page (4 KiB)   one bit for each 16 bytes: a block begins there; its size and group stand in a slot of the page
//     large blocks   a sorted list, with the pages that they cover empty
//
// A byte belongs to the block that begins last before it, if that reaches so far. What is free stays there, marked,
// until something else is allocated there: lines that leave the cache later are still that block's. Blocks of a pool
// lie within a block that the pool got from another allocator; then the inner one is the owner. Where two blocks begin
// in the same 16 bytes, as they may in pools of small things, the earlier one is forgotten.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/check.h"
#include "engine/base/types.h"
#include "engine/objects/object_groups.h"

namespace bd {

struct HeapBlock {
    Address base;
    std::uint64_t size;  // bytes
    GroupId group;
    bool is_free;

    bool has(Address address) const { return address - base < size; }
    Address end() const { return base + size; }
};

class HeapBlocks {
public:
    explicit HeapBlocks(ObjectGroups& groups) : groups_(groups) {}

    // `within`: it may lie within another block, which stays. Else whatever was there is forgotten.
    void add(Address base, std::uint64_t size, GroupId group, bool within);

    // The block that begins there is free from now on, with all within it. Nothing if there is none.
    void free(Address base);

    // The innermost block that has the byte and is not free; null if none. Valid until the next change.
    const HeapBlock* find(Address address);

    // Brings what find() and for_each_part() will need there into the host's cache, as far as it is at hand.
    [[gnu::always_inline]] void host_prefetch(Address address) const {
        const Latest& latest = latest_[static_cast<std::size_t>(address >> kPageBits) % latest_.size()];
        if (latest.number != address >> kPageBits) return;
        __builtin_prefetch(&latest.page->begins);
        __builtin_prefetch(&latest.page->slots[granule_of(address)]);
    }

    // Calls use(block, begin, end) for the parts of [begin, end) that belong to blocks, free ones included, from low to
    // high addresses. The range must lie within 64 aligned bytes.
    template <class Use>
    void for_each_part(Address begin, Address end, Use use);

private:
    static constexpr unsigned kPageBits = 12;
    static constexpr unsigned kGranuleBits = 4;
    static constexpr unsigned kGranules = 1u << (kPageBits - kGranuleBits);
    static constexpr std::uint64_t kMostSmall = 1u << 16;  // larger ones are in the list
    static constexpr std::size_t kRecentLarge = 256;

    struct Slot {
        GroupId group;
        std::uint32_t size : 20;
        std::uint32_t offset : 4;  // of the base, in the granule
        std::uint32_t is_free : 1;
    };
    struct Page {
        std::array<std::uint64_t, kGranules / 64> begins{};
        // Base of the last small block that began before the page and reached into it, 0 if none has; and of the last
        // one that lies within another.
        std::array<Address, 2> reaches_in{};
        bool has_inner = false;  // a block within another one has begun here
        std::array<Slot, kGranules> slots;
    };
    struct Latest {
        std::uint64_t number = ~std::uint64_t{0};
        Page* page = nullptr;
    };

    static unsigned granule_of(Address address) { return address >> kGranuleBits & (kGranules - 1); }
    static HeapBlock block_at(const Page& page, std::uint64_t number, unsigned granule);
    // The last granule up to this one where a block begins; negative: none.
    static int last_begin(const Page& page, int granule);

    Page* page_or_null(std::uint64_t number);
    Page& page(std::uint64_t number);
    Slot* slot_at(Address base);
    void forget(Page& page, unsigned first, unsigned last);
    void forget_range(Address first, Address last);
    void free_all(Address begin, Address end);
    void add_large(Address base, std::uint64_t size, GroupId group);
    HeapBlock* large_at(Address address);
    // The large block that has the byte and is not free, if it was asked for lately. Null if others lie in one.
    const HeapBlock* recent_large(Address address) const {
        const std::uint32_t index = recent_large_[recent_index(address)];
        if (index >= large_.size() || has_inner_ || has_small_in_large_) return nullptr;
        const HeapBlock& block = large_[index];
        return block.has(address) && !block.is_free ? &block : nullptr;
    }
    static std::size_t recent_index(Address address) { return (address >> 16) % kRecentLarge; }
    // The innermost block that has the byte, of no bytes if there is none. `page`: that of the address; null if nothing
    // has begun there nor reaches into it.
    HeapBlock find_any(const Page* page, Address address, bool free_too);
    // The same of blocks that began before the page, and of large ones. `may_reach_in`: whether the former have to be
    // looked at.
    HeapBlock find_elsewhere(const Page* page, Address address, bool free_too, bool may_reach_in);

    ObjectGroups& groups_;
    boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    std::array<Latest, 2048> latest_{};  // dispatch, 64 instead: 1.05 of the replay
    std::vector<HeapBlock> large_;       // by base; free ones among them
    // Where in large_ those are that were asked for lately, or were there then. (join: 0.84 of the replay.)
    std::array<std::uint32_t, kRecentLarge> recent_large_{};
    bool has_inner_ = false;
    bool has_small_in_large_ = false;  // of one whose end nobody has seen
    HeapBlock found_{};
};

[[gnu::always_inline]] inline HeapBlock HeapBlocks::block_at(const Page& page, std::uint64_t number, unsigned granule) {
    const Slot& slot = page.slots[granule];
    return {(number << kPageBits) + (Address{granule} << kGranuleBits) + slot.offset, slot.size, slot.group,
            slot.is_free != 0};
}

[[gnu::always_inline]] inline int HeapBlocks::last_begin(const Page& page, int granule) {
    if (granule < 0) return -1;
    const auto at = static_cast<unsigned>(granule);
    std::uint64_t word = page.begins[at / 64] & (~std::uint64_t{0} >> (63 - at % 64));
    for (unsigned i = at / 64;; word = page.begins[--i]) {
        if (word != 0) return static_cast<int>(i * 64 + 63) - std::countl_zero(word);
        if (i == 0) return -1;
    }
}

// Inlined, with blocks by value, as they stay in registers then: one that is copied from where it was just put together
// has to wait for that.
[[gnu::always_inline]] inline HeapBlock HeapBlocks::find_any(const Page* page, Address address, bool free_too) {
    int granule = -1;
    if (page != nullptr) {
        const std::uint64_t number = address >> kPageBits;
        granule = last_begin(*page, static_cast<int>(granule_of(address)));
        // Two blocks cannot begin in one granule, but one may begin behind the byte.
        if (granule >= 0 && block_at(*page, number, static_cast<unsigned>(granule)).base > address) {
            granule = last_begin(*page, granule - 1);
        }
        for (; granule >= 0; granule = last_begin(*page, granule - 1)) {
            const HeapBlock block = block_at(*page, number, static_cast<unsigned>(granule));
            if (block.has(address) && (free_too || !block.is_free)) return block;
            if (!page->has_inner) break;
        }
    }
    // Where no block lies within another, what has begun before the page ends before what has begun in it. The gaps
    // between blocks need not look further then. (dispatch: 0.97 of the replay.)
    return find_elsewhere(page, address, free_too, granule < 0 || has_inner_);
}

template <class Use>
void HeapBlocks::for_each_part(Address begin, Address end, Use use) {
    BD_DCHECK(begin / 64 == (end - 1) / 64);
    if (const HeapBlock* const large = recent_large(begin); large != nullptr && large->has(end - 1)) {
        use(*large, begin, end);
        return;
    }
    const std::uint64_t number = begin >> kPageBits;
    const Page* const page = page_or_null(number);
    const unsigned first = granule_of(begin);
    // A bit for each granule from the first one on.
    std::uint64_t begins = page == nullptr ? 0 : page->begins[first / 64] >> first % 64;
    begins &= ~std::uint64_t{0} >> (63 - (granule_of(end - 1) - first));
    while (begin < end) {
        // Up to where the next block begins.
        Address stop = end;
        HeapBlock block{};
        for (; begins != 0; begins &= begins - 1) {
            const HeapBlock next = block_at(*page, number, first + static_cast<unsigned>(std::countr_zero(begins)));
            if (next.base > begin) {
                stop = std::min(stop, next.base);
                break;
            }
            if (next.base == begin) block = next;
        }
        if (block.size == 0) block = find_any(page, begin, true);
        if (block.size != 0) {
            stop = std::min(stop, block.end());
            use(std::as_const(block), begin, stop);
        }
        begin = stop;
    }
}

}  // namespace bd
