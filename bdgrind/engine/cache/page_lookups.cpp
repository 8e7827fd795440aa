// SPDX-License-Identifier: GPL-2.0-or-later

#include "engine/cache/page_lookups.h"

#include "engine/base/check.h"

namespace bd {
namespace {

// Where the block of an exit begins. (The block itself may not be in the host's caches.)
Address begin_of(const Exit& exit) {
    return exit.return_address - (static_cast<std::uint32_t>(exit.return_address) - exit.begin);
}

}  // namespace

PageLookups::PageLookups(const TlbGeometries& tlbs) : base_(tlbs.base), huge_(tlbs.huge) {
    BD_CHECK(tlbs.any() && tlbs.base.page_bits < tlbs.huge.page_bits);
}

unsigned PageLookups::Size::look_up(Address page, bool is_fetch, Tlb::Time now) {
    if ((is_fetch ? i1 : d1).look_up(page, now)) return 0;
    return (is_fetch && has_i2 ? i2 : d2).look_up(page, now) ? PageMiss::kBase1 : PageMiss::kBase1 | PageMiss::kBase2;
}

void PageLookups::Size::clear() {
    for (Tlb* const tlb : {&i1, &d1, &d2, &i2}) tlb->clear();
}

void PageLookups::clear() {
    base_.clear();
    huge_.clear();
    code_page_ = kNoPage;
}

// All that the loop needs is in registers.
const std::vector<PageMiss>& PageLookups::run(Batch words) {
    misses_.clear();
    begin_ = words.data();
    const Word* const end = begin_ + words.size();
    const unsigned base_bits = base_.bits;
    const unsigned huge_bits = huge_.bits;
    const Tlb::Hinted base = base_.d1.hinted();
    const Tlb::Hinted huge = huge_.d1.hinted();
    Tlb::Time now = now_;
    const auto do_slowly = [&](auto look_up_pages) {
        now_ = now;
        look_up_pages();
        now = now_;
    };
    for (const Word* at = begin_; at < end; at += record_words(*at)) {
        if (is_marker(*at)) continue;
        const TracedExit& exit = exit_of(*at);
        const Address page = begin_of(exit) >> base_bits;
        if (__builtin_expect((exit.return_address - 1) >> base_bits != page, 0)) {
            do_slowly([&] { look_up_in_order(at, exit); });
            continue;
        }
        // If its first instruction misses, the others hit.
        if (page != code_page_) do_slowly([&] { look_up(at, 0, true, begin_of(exit), 1); });
        const AccessGroup* group = exit.first_group;
        const AccessGroup* const last = group + exit.groups;
        for (const Word* address = at + kHeaderWords; group != last; ++group, ++address) {
            const Address lowest = *address - group->before;
            const Address data_page = lowest >> base_bits;
            const bool is_within = (lowest + group->span - 1) >> base_bits == data_page;
            ++now;
            if (__builtin_expect(is_within && base.look_up(data_page, now) && huge.look_up(lowest >> huge_bits, now),
                                 1)) {
                continue;
            }
            do_slowly([&] { look_up_group(at, exit, *group, *address); });
        }
    }
    now_ = now;
    return misses_;
}

// The block lies in several pages.
[[gnu::noinline]] void PageLookups::look_up_in_order(const Word* record, const TracedExit& exit) {
    const Block& block = *exit.block;
    const Word* const addresses = record + kHeaderWords;
    std::size_t index = 0;
    for (std::size_t i = 0; i < exit.instructions; ++i) {
        look_up(record, i, true, block.instruction_address(i), block.instructions_[i].size);
        for (; index < exit.accesses && block.accesses_[index].instruction == i; ++index) {
            const Access& access = block.accesses_[index];
            const Address address = addresses[access.group];
            if (address == 0 && access.guarded) continue;
            look_up(record, index, false, address + static_cast<Address>(std::int64_t{access.distance}), access.size);
        }
    }
}

[[gnu::noinline]] void PageLookups::look_up_group(const Word* record, const TracedExit& exit, const AccessGroup& group,
                                                  Address address) {
    const Access* const accesses = exit.block->accesses_;
    if (address == 0 && accesses[group.first].guarded) return;
    for (std::size_t index = group.first; index < std::size_t{group.first} + group.accesses; ++index) {
        const Access& access = accesses[index];
        look_up(record, index, false, address + static_cast<Address>(std::int64_t{access.distance}), access.size);
    }
}

[[gnu::noinline]] void PageLookups::look_up(const Word* record, std::size_t index, bool is_fetch, Address address,
                                            std::uint32_t size) {
    const Address last = address + (size - 1);
    unsigned missed = 0;
    for (Address page = address >> base_.bits; page <= last >> base_.bits; ++page) {
        missed |= base_.look_up(page, is_fetch, ++now_);
        if (is_fetch) code_page_ = page;
    }
    for (Address page = address >> huge_.bits; page <= last >> huge_.bits; ++page) {
        missed |= huge_.look_up(page, is_fetch, ++now_) * PageMiss::kHuge1;
    }
    if (missed == 0) return;
    misses_.push_back({static_cast<std::uint32_t>(record - begin_), static_cast<std::uint16_t>(index), is_fetch,
                       static_cast<std::uint8_t>(missed), address});
}

}  // namespace bd
