// SPDX-License-Identifier: GPL-2.0-or-later
//
// The look-ups of pages in the TLBs, for a piece of the trace at once: what misses depends on the guest's addresses
// alone. Pages of two sizes are simulated side by side, as if all memory had them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/base/types.h"
#include "engine/cache/tlb.h"
#include "engine/trace/trace.h"

namespace bd {

// An access, or the fetch of an instruction, that misses a TLB in one of its pages.
struct PageMiss {
    // Bits of `missed`: levels, with pages of either size. The second is missed by what misses the first only.
    static constexpr unsigned kBase1 = 1;
    static constexpr unsigned kBase2 = 2;
    static constexpr unsigned kHuge1 = 4;
    static constexpr unsigned kHuge2 = 8;

    std::uint32_t record;  // the index of its first word
    std::uint16_t index;   // of the access, or the instruction that is fetched, in the block
    bool is_fetch;
    std::uint8_t missed;
    Address address;  // of its first byte
};

class PageLookups {
public:
    explicit PageLookups(const TlbGeometries& tlbs);

    // Looks up the pages of whole records, and returns what misses, in their order. Valid until the next call.
    const std::vector<PageMiss>& run(Batch words);

    // Empties the TLBs.
    void clear();

private:
    // The TLBs for pages of one size.
    struct Size {
        explicit Size(const PageTlbs& tlbs)
            : bits(tlbs.page_bits), i1(tlbs.i1), d1(tlbs.d1), d2(tlbs.d2), i2(tlbs.i2), has_i2(tlbs.has_i2()) {}

        // Returns the levels that miss, as for pages of the base size.
        unsigned look_up(Address page, bool is_fetch, Tlb::Time now);
        void clear();

        unsigned bits;
        Tlb i1;
        Tlb d1;
        Tlb d2;
        Tlb i2;
        bool has_i2;
    };

    void look_up_in_order(const Word* record, const TracedExit& exit);
    void look_up_group(const Word* record, const TracedExit& exit, const AccessGroup& group, Address address);
    void look_up(const Word* record, std::size_t index, bool is_fetch, Address address, std::uint32_t size);

    static constexpr Address kNoPage = ~Address{0};

    Size base_;
    Size huge_;
    Tlb::Time now_ = 0;
    Address code_page_ = kNoPage;  // of the latest fetch, of the base size
    const Word* begin_ = nullptr;
    std::vector<PageMiss> misses_;
};

}  // namespace bd
