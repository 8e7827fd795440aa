// SPDX-License-Identifier: GPL-2.0-or-later
//
// TLBs in the most literal way (docs/simulation.md): every set is a list of pages, the most recently used one first.

#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/base/types.h"

namespace bd::test {

class NaiveTlbs {
public:
    explicit NaiveTlbs(const PageTlbs& tlbs)
        : page_bytes_(tlbs.page_bytes()), i1_(tlbs.i1), d1_(tlbs.d1), d2_(tlbs.d2) {
        if (tlbs.has_i2()) own_i2_.emplace_back(tlbs.i2);
    }

    struct Missed {
        bool first = false;
        bool second = false;
    };
    Missed fetch(Address address, Address size) {
        return touch(i1_, own_i2_.empty() ? d2_ : own_i2_.front(), address, size);
    }
    Missed access(Address address, Address size) { return touch(d1_, d2_, address, size); }

    void flush() {
        for (Tlb* tlb : {&i1_, &d1_, &d2_}) tlb->flush();
        for (Tlb& tlb : own_i2_) tlb.flush();
    }

private:
    struct Tlb {
        explicit Tlb(const TlbGeometry& geometry) : ways(geometry.ways), sets(geometry.entries / geometry.ways) {}

        bool has(Address page) {
            std::list<Address>& set = sets[page % sets.size()];
            const auto at = std::ranges::find(set, page);
            const bool found = at != set.end();
            if (found) set.erase(at);
            set.push_front(page);
            if (set.size() > ways) set.pop_back();
            return found;
        }
        void flush() {
            for (std::list<Address>& set : sets) set.clear();
        }

        std::size_t ways;
        std::vector<std::list<Address>> sets;
    };

    Missed touch(Tlb& first, Tlb& second, Address address, Address size) const {
        Missed missed;
        for (Address page = address / page_bytes_; page <= (address + size - 1) / page_bytes_; ++page) {
            if (first.has(page)) continue;
            missed.first = true;
            if (!second.has(page)) missed.second = true;
        }
        return missed;
    }

    Address page_bytes_;
    Tlb i1_;
    Tlb d1_;
    Tlb d2_;
    std::vector<Tlb> own_i2_{};  // none: that of data serves both
};

}  // namespace bd::test
