// SPDX-License-Identifier: GPL-2.0-or-later
//
// Instruction fetches that hit are not credited to their cache lines one by one: most blocks run again and again while
// their lines stay in I1. Each exit counts how often it was taken, and the lines get the credit when it matters: before
// one of them leaves I1, or is looked at. That count is the sum of Exit::taken, which goes up anyway, and of
// Exit::uncredited, which makes up for what has been credited, and for what `taken` does not count.
//
// For that, each line in I1 has a list of the blocks that have been fetched from it since it was loaded. Fetch::place
// says where in I1 the line is in whose list the fetch is. Once all fetches up to an exit are in lists, which means
// that they hit, Exit::ready_in may say so, until one of the lines leaves I1.

#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/program/block.h"

namespace bd {

class UncreditedFetches {
public:
    // `places`: lines of I1.
    explicit UncreditedFetches(std::size_t places) : lists_(places) {}

    // Blocks may live on and be run by another engine.
    ~UncreditedFetches() {
        for (List& list : lists_) unlist(list);
    }
    UncreditedFetches(const UncreditedFetches&) = delete;
    UncreditedFetches& operator=(const UncreditedFetches&) = delete;

    // `fetch`, which is not in a list, was found at `place`.
    void list(const Block& block, const Fetch& fetch, std::uint32_t place) {
        lists_[place].push_back({block.exits_, block.fetches_, block.exit_count,
                                 static_cast<std::uint16_t>(&fetch - block.fetches_)});
        fetch.place = place;
    }

    // Credits what has been fetched from the line at `place`, and from the other lines of the same blocks.
    // credit(fetch, times)
    template <class Credit>
    void settle(std::uint32_t place, Credit credit) {
        for (const Listed& listed : lists_[place]) settle(listed, credit);
    }

    // Asks the host's memory for what that reads.
    [[gnu::always_inline]] void expect_to_forget(std::uint32_t place) const {
        for (const Listed& listed : lists_[place]) {
            __builtin_prefetch(listed.first_exit, 1);
            __builtin_prefetch(listed.fetches + listed.fetch, 1);
        }
    }

    // The same, and forgets the line.
    template <class Credit>
    void forget(std::uint32_t place, Credit credit) {
        settle(place, credit);
        unlist(lists_[place]);
    }

private:
    // What is needed of a block: mostly it is in the host's cache no more.
    struct Listed {
        const Exit* first_exit;
        const Fetch* fetches;
        std::uint16_t exit_count;
        std::uint16_t fetch;  // by index

        std::span<const Exit> exits() const { return {first_exit, exit_count}; }
    };
    using List = std::vector<Listed>;

    template <class Credit>
    static void settle(const Listed& listed, Credit credit) {
        for (const Exit& exit : listed.exits()) {
            const std::uint64_t times = exit.uncredited + exit.taken;
            if (times == 0) continue;
            exit.uncredited = -exit.taken;
            for (const Fetch& fetch : std::span(listed.fetches, exit.fetches)) credit(fetch, times);
        }
    }

    static void unlist(List& list) {
        for (const Listed& listed : list) {
            listed.fetches[listed.fetch].place = Fetch::kNowhere;
            for (const Exit& exit : listed.exits()) {
                exit.ready_in = nullptr;
                exit.uncredited = -exit.taken;
            }
        }
        list.clear();
    }

    std::vector<List> lists_;  // by place
};

}  // namespace bd
