// SPDX-License-Identifier: GPL-2.0-or-later
//
// The guest's heap blocks by address. Adding and freeing a block takes a few stores, as programs do that all the time.
// The owner of a byte is looked up when a cache line is loaded or evicted.
//
//     page (4 KiB)   a bit for each 16 bytes (a granule): set if a block begins there; a slot has the block's class
//     class          a size and a group, which many blocks share
//     large blocks   a sorted list; the pages that they cover are empty
//
// A byte belongs to the last block that begins at or before it and reaches it. A freed block stays, marked as free,
// until something else is allocated there: lines that leave the cache later still belong to it. Blocks of a pool lie
// within a block that the pool got from another allocator; then the inner block is the owner. If two blocks begin in
// the same granule, as they may in pools of small objects, the earlier one is forgotten.

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
    bool is_new;  // the line in which it begins has not been loaded since it was allocated

    bool has(Address address) const { return address - base < size; }
    Address end() const { return base + size; }
    // Whether the block fits into the address space: whether base + size is an address, too.
    static bool has_end(Address base, std::uint64_t size) { return size <= ~base; }
};

class HeapBlocks {
public:
    static constexpr unsigned kClassBits = 26;
    static constexpr std::uint32_t kMostClasses = 1u << kClassBits;
    // In bytes; larger blocks are in the list, and never within others.
    static constexpr std::uint64_t kMostSmall = 1u << 16;

    // `line_bits`: log2 of the D1 line size in bytes. `most_classes`: the most different pairs of size and group.
    HeapBlocks(ObjectGroups& groups, unsigned line_bits, std::uint32_t most_classes = kMostClasses)
        : groups_(groups),
          last_in_line_((1u << std::max(line_bits, kGranuleBits) >> kGranuleBits) - 1),
          most_classes_(most_classes) {}

    // Adds a block. `within`: it may lie within another block, which stays; otherwise, whatever was there is forgotten.
    // Requires has_end(base, size). False if there are too many classes: the bytes then belong to no block.
    bool add(Address base, std::uint64_t size, GroupId group, bool within);

    // Marks the block that begins at `base` as free, with all blocks within it. Does nothing if there is none.
    void free(Address base);

    // Moves a block, as find() returned it, to another group. It must not be free.
    void move(const HeapBlock& block, GroupId group);

    // Frees all blocks that begin in [begin, end).
    void free_range(Address begin, Address end);

    // Something else is in [begin, end) now: blocks that begin there are freed and forgotten; blocks that reach into
    // the range end where it begins.
    void forget(Address begin, Address end);

    // The innermost block with this byte that is not free; of size 0 if there is none.
    HeapBlock find(Address address) { return find_any(page_or_null(address >> kPageBits), address, false); }
    // The innermost of these blocks for which accept(block) holds.
    template <class Accept>
    HeapBlock find_around(Address address, Accept accept);
    // The group of find(address), when the line of the byte is loaded; kUnknownGroup if there is none.
    [[gnu::always_inline]] GroupId load(Address address);

    // Prefetches what find() and for_each_part() read first, and then, once that has arrived, the rest, as far as it is
    // known without a search. (A map of strings: 5 to 13 % less replay.)
    [[gnu::always_inline]] void host_prefetch_page(Address address) const {
        if (const Page* const page = latest_page(address >> kPageBits)) __builtin_prefetch(&page->begins);
    }
    [[gnu::always_inline]] void host_prefetch_slots(Address address) const {
        const Page* const page = latest_page(address >> kPageBits);
        if (page == nullptr) return;
        const auto granule = static_cast<int>(granule_of(address));
        __builtin_prefetch(&page->slots[static_cast<unsigned>(granule)]);
        const int before = last_begin(*page, granule - 1);
        if (before >= 0) __builtin_prefetch(&page->slots[static_cast<unsigned>(before)]);
    }

    // Calls use(block, begin, end) for the parts of [begin, end) that belong to blocks, freed blocks included, from low
    // to high addresses. The range must lie within 64 aligned bytes.
    template <class Use>
    void for_each_part(Address begin, Address end, Use use);

private:
    static constexpr unsigned kPageBits = 12;
    static constexpr unsigned kGranuleBits = 4;
    static constexpr unsigned kGranules = 1u << (kPageBits - kGranuleBits);
    static constexpr std::size_t kRecentLarge = 256;

    // Shared by many blocks.
    struct Class {
        GroupId group{};
        std::uint32_t size = 0;
    };

    // Four bytes, as slots are read at each miss, and there are too many for the host's caches.
    struct Slot {
        std::uint32_t block_class : kClassBits;
        std::uint32_t offset : 4;  // of the base, in the granule
        std::uint32_t is_free : 1;
        std::uint32_t is_new : 1;
    };
    static_assert(sizeof(Slot) == 4);
    static constexpr std::uint32_t kNoClass = ~std::uint32_t{0};
    static constexpr std::uint32_t kClassMask = kMostClasses - 1;
    using Granules = std::array<std::uint64_t, kGranules / 64>;  // a bit for each

    // Aligned, so that one line of the host's cache has what is read most, and one the slots for 256 bytes.
    struct alignas(64) Page {
        Granules begins;
        // The base of the last small block that began before the page and reached into it, 0 if there was none; and of
        // the last such block within another one.
        std::array<Address, 2> reaches_in;
        bool has_inner;  // a block within another one has begun here
        bool has_large;  // a large block lies or lay here
        alignas(64) std::array<Slot, kGranules> slots;
    };
    // Pages are allocated together, as a single page would leave much of its allocation unused.
    static constexpr std::size_t kPagesTogether = 30;
    using Pages = std::array<Page, kPagesTogether>;
    struct Latest {
        std::uint64_t number = ~std::uint64_t{0};
        Page* page = nullptr;
    };

    static unsigned granule_of(Address address) { return address >> kGranuleBits & (kGranules - 1); }
    HeapBlock block_at(const Page& page, std::uint64_t number, unsigned granule) const;
    // A bit for each granule from that of `begin` to that of the byte before `end`: whether a block begins there. The
    // range must lie within 64 aligned bytes.
    static std::uint64_t begins_in(const Page& page, Address begin, Address end);
    // The last granule, up to this one, in which a block begins; negative: none.
    static int last_begin(const Page& page, int granule);

    Page* latest_page(std::uint64_t number) const {
        const Latest& latest = latest_[static_cast<std::size_t>(number) % latest_.size()];
        return latest.number == number ? latest.page : nullptr;
    }
    Page* page_or_null(std::uint64_t number);
    Page& page(std::uint64_t number);
    // kNoClass if there are too many classes.
    std::uint32_t class_of(std::uint32_t size, GroupId group);
    void free(Slot& slot);
    Slot* slot_at(Address base);
    static bool has_only_free(const Page& page, unsigned first, unsigned last);
    void forget(Page& page, std::uint64_t number, Address begin, Address last);
    // Calls use(number, page) for the existing pages from that of address `first` to that of `last`.
    template <class Use>
    void for_each_page(Address first, Address last, Use use);
    void forget_range(Address first, Address last);
    void forget_large(Address first, Address last);
    void free_all(Address begin, Address end);
    void add_large(Address base, std::uint64_t size, GroupId group);
    HeapBlock* large_at(Address address);
    // The first large block that begins behind the address, or null.
    const HeapBlock* large_after(Address address) const;
    // The large block with this byte, if it was looked up lately and is not free; else null. Always null if any block
    // lies within another.
    const HeapBlock* recent_large(Address address) const {
        const std::uint32_t index = recent_large_[recent_index(address)];
        if (index >= large_.size() || has_inner_ || has_small_in_large_) return nullptr;
        const HeapBlock& block = large_[index];
        return block.has(address) && !block.is_free ? &block : nullptr;
    }
    GroupId find_group(const Page* page, Address address);
    // The line of the address has been loaded: blocks that begin in it are not new any more.
    void note_loaded(Page& page, Address address) const;
    void note_recent_large(Address address, const HeapBlock& large) {
        recent_large_[recent_index(address)] = static_cast<std::uint32_t>(&large - large_.data());
    }
    static std::size_t recent_index(Address address) { return (address >> 16) % kRecentLarge; }
    template <class Use>
    void for_each_part_alone(const Page& page, Address begin, Address end, Use use);
    template <class Use>
    void for_each_part_within(const Page& page, Address begin, Address end, Use use);
    template <class Use>
    void for_each_large_part(Address begin, Address end, Use use);
    // The last block that begins before the address or reaches into the page; of size 0 if there is none.
    HeapBlock first_reaching(const Page& page, Address address);
    // The innermost block with this byte; of size 0 if there is none. `page`: that of the address; null if no block
    // begins in it or reaches into it.
    HeapBlock find_any(const Page* page, Address address, bool free_too);
    // The same among blocks that reach into the page, and among large blocks.
    HeapBlock find_reaching_in(const Page& page, Address address, bool free_too);
    HeapBlock find_any_large(Address address, bool free_too);

    ObjectGroups& groups_;
    const unsigned last_in_line_;  // the last granule of a line, numbered from 0
    const std::uint32_t most_classes_;
    boost::unordered_flat_map<std::uint64_t, Page*> pages_;
    std::vector<std::unique_ptr<Pages>> made_pages_;
    std::vector<Class> classes_;
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> class_by_key_;  // by group and size
    std::array<std::uint32_t, 1024> recent_classes_{};                      // before class_by_key_
    std::array<Latest, 2048> latest_{};                                     // with 64, dispatch takes 5 % more replay
    std::vector<HeapBlock> large_;                                          // by base; free ones among them
    // Indices into large_ of the blocks looked up lately, if they have not moved since. (join: 16 % less replay.)
    std::array<std::uint32_t, kRecentLarge> recent_large_{};
    bool has_inner_ = false;
    bool has_small_in_large_ = false;  // a small block begins in a large one, whose free was not seen
};

[[gnu::always_inline]] inline HeapBlock HeapBlocks::block_at(const Page& page, std::uint64_t number,
                                                             unsigned granule) const {
    const Slot slot = page.slots[granule];
    const Class its_class = classes_[slot.block_class];
    return {(number << kPageBits) + (Address{granule} << kGranuleBits) + slot.offset, its_class.size, its_class.group,
            slot.is_free != 0, slot.is_new != 0};
}

[[gnu::always_inline]] inline std::uint64_t HeapBlocks::begins_in(const Page& page, Address begin, Address end) {
    const unsigned first = granule_of(begin);
    const std::uint64_t begins = page.begins[first / 64] >> first % 64;
    return begins & ~std::uint64_t{0} >> (63 - (granule_of(end - 1) - first));
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

[[gnu::always_inline]] inline HeapBlock HeapBlocks::first_reaching(const Page& page, Address address) {
    const int granule = last_begin(page, static_cast<int>(granule_of(address)) - 1);
    if (granule >= 0) return block_at(page, address >> kPageBits, static_cast<unsigned>(granule));
    return find_reaching_in(page, address, true);
}

// Inlined, with blocks by value, as they stay in registers then.
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
    // between blocks need not look further then. (dispatch: 3 % less replay.)
    if (page != nullptr && (granule < 0 || has_inner_)) {
        const HeapBlock block = find_reaching_in(*page, address, free_too);
        if (block.size != 0) return block;
    }
    if (page != nullptr && !page->has_large) return {};
    return find_any_large(address, free_too);
}

[[gnu::always_inline]] inline void HeapBlocks::note_loaded(Page& page, Address address) const {
    const unsigned first = granule_of(address) & ~last_in_line_;
    const std::uint64_t line = (std::uint64_t{2} << last_in_line_) - 1;
    for (std::uint64_t begins = page.begins[first / 64] >> first % 64 & line; begins != 0; begins &= begins - 1) {
        Slot& slot = page.slots[first + static_cast<unsigned>(std::countr_zero(begins))];
        if (slot.is_new != 0) slot.is_new = 0;
    }
}

// What it asks for is all in registers where no block lies within another, nor in a large one: a HeapBlock would be put
// together in memory, and copied before it has arrived there.
[[gnu::always_inline]] inline GroupId HeapBlocks::load(Address address) {
    Page* page = latest_page(address >> kPageBits);
    if (page == nullptr) {
        if (const HeapBlock* const large = recent_large(address)) return large->group;
        page = page_or_null(address >> kPageBits);
        if (page == nullptr) return find_group(nullptr, address);
    }
    note_loaded(*page, address);
    if (!page->has_large && !has_inner_) {
        const unsigned granule = granule_of(address);
        const int begin = last_begin(*page, static_cast<int>(granule));
        if (begin >= 0) {
            const Slot slot = page->slots[static_cast<unsigned>(begin)];
            const Class its_class = classes_[slot.block_class];
            const std::uint32_t in_granule = address & ((1u << kGranuleBits) - 1);
            const std::uint32_t after =
                ((granule - static_cast<unsigned>(begin)) << kGranuleBits) + in_granule - slot.offset;
            if (after < its_class.size) return slot.is_free != 0 ? kUnknownGroup : its_class.group;
            if (slot.offset <= in_granule || static_cast<unsigned>(begin) != granule) return kUnknownGroup;
        }
    }
    return find_group(page, address);
}

template <class Use>
[[gnu::always_inline]] inline void HeapBlocks::for_each_part(Address begin, Address end, Use use) {
    BD_DCHECK(begin / 64 == (end - 1) / 64);
    const Page* page = latest_page(begin >> kPageBits);
    if (page == nullptr) {
        if (const HeapBlock* const large = recent_large(begin); large != nullptr && large->has(end - 1)) {
            use(*large, begin, end);
            return;
        }
        page = page_or_null(begin >> kPageBits);
    }
    if (page == nullptr) {
        for_each_large_part(begin, end, use);
    } else if (page->has_large || has_inner_) {
        for_each_part_within(*page, begin, end, use);
    } else {
        for_each_part_alone(*page, begin, end, use);
    }
}

// All that begin in the page are looked at: it is seldom asked for.
template <class Accept>
HeapBlock HeapBlocks::find_around(Address address, Accept accept) {
    const auto is_it = [&](const HeapBlock& block) { return block.has(address) && !block.is_free && accept(block); };
    if (const Page* const page = page_or_null(address >> kPageBits)) {
        const std::uint64_t number = address >> kPageBits;
        for (int i = last_begin(*page, static_cast<int>(granule_of(address))); i >= 0; i = last_begin(*page, i - 1)) {
            const HeapBlock block = block_at(*page, number, static_cast<unsigned>(i));
            if (is_it(block)) return block;
        }
        for (const Address base : {page->reaches_in[1], page->reaches_in[0]}) {
            if (base == 0 || slot_at(base) == nullptr) continue;
            const std::uint64_t from = base >> kPageBits;
            const HeapBlock block = block_at(*page_or_null(from), from, granule_of(base));
            if (is_it(block)) return block;
        }
    }
    const HeapBlock* const large = large_at(address);
    return large != nullptr && is_it(*large) ? *large : HeapBlock{};
}

// Where there are only blocks that stand in pages, and none lies within another: each ends before the next one begins.
// (dispatch: 7 % less replay.)
template <class Use>
[[gnu::always_inline]] inline void HeapBlocks::for_each_part_alone(const Page& page, Address begin, Address end,
                                                                   Use use) {
    const std::uint64_t number = begin >> kPageBits;
    const unsigned first = granule_of(begin);
    std::uint64_t begins = begins_in(page, begin, end);
    HeapBlock block = first_reaching(page, begin);
    for (;; begins &= begins - 1) {
        HeapBlock next{};
        Address stop = end;
        if (begins != 0) {
            next = block_at(page, number, first + static_cast<unsigned>(std::countr_zero(begins)));
            stop = std::min(stop, next.base);
        }
        const Address part = std::max(begin, block.base);
        const Address part_end = std::min(stop, block.end());
        if (part < part_end) use(std::as_const(block), part, part_end);
        if (begins == 0) return;
        block = next;
    }
}

// Where no block stands in a page.
template <class Use>
[[gnu::noinline]] void HeapBlocks::for_each_large_part(Address begin, Address end, Use use) {
    auto large = std::ranges::upper_bound(large_, begin, {}, &HeapBlock::end);
    for (; large != large_.end() && large->base < end; ++large) {
        note_recent_large(begin, *large);
        use(std::as_const(*large), std::max(begin, large->base), std::min(end, large->end()));
    }
}

template <class Use>
[[gnu::noinline]] void HeapBlocks::for_each_part_within(const Page& page, Address begin, Address end, Use use) {
    const std::uint64_t number = begin >> kPageBits;
    const unsigned first = granule_of(begin);
    std::uint64_t begins = begins_in(page, begin, end);
    HeapBlock block = find_any(&page, begin, true);
    for (;;) {
        HeapBlock next{};
        Address stop = end;  // where the next block begins
        for (; begins != 0; begins &= begins - 1) {
            next = block_at(page, number, first + static_cast<unsigned>(std::countr_zero(begins)));
            if (next.base <= begin) continue;
            stop = std::min(end, next.base);
            break;
        }
        if (page.has_large) {
            const HeapBlock* const large = large_after(begin);
            if (large != nullptr && large->base < stop) {
                next = *large;
                stop = next.base;
            }
        }
        if (block.size != 0) {
            const Address part = begin;
            begin = std::min(stop, block.end());
            use(std::as_const(block), part, begin);
        }
        if (begin < stop) {
            block = find_any(&page, begin, true);
            if (block.size != 0) continue;
        }
        if (stop == end) return;
        begin = stop;
        block = next;
    }
}

}  // namespace bd
