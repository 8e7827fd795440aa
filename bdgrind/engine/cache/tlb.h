// SPDX-License-Identifier: GPL-2.0-or-later
//
// A translation lookaside buffer: the pages whose translations it holds, in sets with least-recently-used replacement.
// The order of use follows from the times of the latest uses, as in L1Cache: nearly all look-ups hit.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/geometry.h"
#include "engine/base/types.h"

namespace bd {

// Pages are numbered: an address divided by the size of a page.
class Tlb {
    static constexpr Address kNoPage = ~Address{0};
    static constexpr std::size_t kHints = 1024;
    static constexpr std::uint32_t kFewWays = 16;  // so many are looked through at each miss

public:
    using Time = std::uint64_t;

private:
    struct Entry {
        Address page = kNoPage;
        Time time = 0;
    };

public:
    // One of no entries, which misses each page, is legal.
    explicit Tlb(const TlbGeometry& geometry)
        : ways_(geometry.ways),
          sets_(geometry.entries == 0 ? 0 : geometry.sets()),
          entries_(geometry.entries + std::size_t{1}),
          oldest_(ways_ <= kFewWays ? 0 : sets_) {}

    // Looks up a page at a time greater than those before. Returns whether it was there; it is from now on.
    bool look_up(Address page, Time now) {
        if (hinted().look_up(page, now)) return true;
        if (sets_ == 0) return false;
        const auto set = static_cast<std::uint32_t>(page % sets_);
        const std::uint32_t begin = set * ways_;
        std::uint32_t found = begin + ways_;
        if (present_[page % kHints] != 0) {
            for (found = begin; found != begin + ways_ && entries_[found].page != page; ++found) {}
        }
        const bool was_there = found != begin + ways_;
        if (!was_there) {
            found = take_oldest(set);
            if (entries_[found].page != kNoPage) --present_[entries_[found].page % kHints];
            ++present_[page % kHints];
        }
        entries_[found] = {page, now};
        hints_[page % kHints] = static_cast<std::uint16_t>(page == 0 ? entries_.size() - 1 : found);
        return was_there;
    }

    // Looks up only pages that are where their hints say; for others, it does nothing and returns false. Never finds
    // page 0, as address 0 may stand for an access that did not happen. Stays valid as long as the TLB does.
    class Hinted {
    public:
        [[gnu::always_inline]] bool look_up(Address page, Time now) const {
            Entry& entry = entries_[hints_[page % kHints]];
            if (__builtin_expect(entry.page != page, 0)) return false;
            entry.time = now;
            return true;
        }

    private:
        friend class Tlb;
        Hinted(Entry* entries, const std::uint16_t* hints) : entries_(entries), hints_(hints) {}

        Entry* entries_;
        const std::uint16_t* hints_;
    };
    Hinted hinted() { return {entries_.data(), hints_.data()}; }

    // Empties it.
    void clear() {
        std::ranges::fill(entries_, Entry{});
        std::ranges::fill(oldest_, Oldest{});
        present_.fill(0);
    }

private:
    // Entries of a set in the order of their times when they were last looked through, the oldest last. An entry that
    // has not been used since then is older than all that are not listed.
    struct Listed {
        Time time;
        std::uint32_t index;
    };
    struct Oldest {
        std::vector<Listed> list{};
    };

    // The entry of a set that was used least recently.
    std::uint32_t take_oldest(std::uint32_t set) {
        if (ways_ <= kFewWays) {
            std::uint32_t oldest = set * ways_;
            for (std::uint32_t index = oldest + 1; index != (set + 1) * ways_; ++index) {
                if (entries_[index].time < entries_[oldest].time) oldest = index;
            }
            return oldest;
        }
        std::vector<Listed>& list = oldest_[set].list;
        for (;; list.pop_back()) {
            if (list.empty()) list_oldest(set, &list);
            const Listed oldest = list.back();
            if (entries_[oldest.index].time == oldest.time) {
                list.pop_back();
                return oldest.index;
            }
        }
    }
    // Half of them, as those that were used latest will be used again before they are the oldest.
    void list_oldest(std::uint32_t set, std::vector<Listed>* list) {
        for (std::uint32_t index = set * ways_; index != (set + 1) * ways_; ++index) {
            list->push_back({entries_[index].time, index});
        }
        std::ranges::sort(*list, std::ranges::greater{}, &Listed::time);
        list->erase(list->begin(), list->begin() + static_cast<std::ptrdiff_t>(list->size() / 2));
    }

    std::uint32_t ways_;
    std::uint32_t sets_;
    std::vector<Entry> entries_;  // the last one stays empty
    std::vector<Oldest> oldest_;  // by set; none of sets of few ways
    // Of pages that share a hint: where one of them may be, the one that was looked up last without it; and how many of
    // them are here.
    std::array<std::uint16_t, kHints> hints_{};
    std::array<std::uint16_t, kHints> present_{};
};

}  // namespace bd
