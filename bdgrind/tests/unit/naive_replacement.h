// SPDX-License-Identifier: GPL-2.0-or-later
//
// Replacement policies other than LRU and the hashed index in the most literal way: docs/simulation.md, rules 60
// to 62. A set knows which line is in which of its ways.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/geometry.h"

namespace bd::test {

class NaiveSet {
public:
    NaiveSet(const Replacement& rules, std::size_t ways) : rules_(rules), lines_(ways), marks_(ways), ages_(ways, 3) {}

    void use(Address line) {
        const std::size_t way = way_of(line);
        if (rules_.policy == ReplacementPolicy::kQuadAge) {
            const int after[] = {0, 0, rules_.ages.hit_at_2, rules_.ages.hit_at_3};
            ages_[way] = after[ages_[way]];
            if (!rules_.ages.update_on_misses) age_all(way);
        }
        remember(way);
    }

    // Loads an absent line. Returns the line that had to go. `random`: the cache's sequence of random numbers.
    std::optional<Address> load(Address line, std::uint64_t& random) {
        if (rules_.policy == ReplacementPolicy::kQuadAge && rules_.ages.update_on_misses) age_all(lines_.size());
        const std::size_t way = choose(random);
        const std::optional<Address> old = std::exchange(lines_[way], line);
        std::erase(arrivals_, way);
        arrivals_.push_back(way);
        if (rules_.policy == ReplacementPolicy::kQuadAge) {
            ages_[way] = rules_.ages.loaded;
            if (!rules_.ages.update_on_misses) age_all(way);
        }
        remember(way);
        return old;
    }

    // The line leaves before it has to go: its way is what it was when nothing had been there.
    void remove(Address line) {
        const std::size_t way = way_of(line);
        lines_[way] = {};
        std::erase(arrivals_, way);
        marks_[way] = false;
        ages_[way] = 3;
    }

private:
    std::size_t way_of(Address line) const {
        return static_cast<std::size_t>(std::ranges::find(lines_, std::optional(line)) - lines_.begin());
    }

    std::size_t choose(std::uint64_t& random) {
        std::vector<std::size_t> empty;
        for (std::size_t way = 0; way < lines_.size(); ++way) {
            if (!lines_[way]) empty.push_back(way);
        }
        const bool from_the_right = rules_.policy == ReplacementPolicy::kQuadAge && rules_.ages.replace == 2;
        if (!empty.empty()) return from_the_right ? empty.back() : empty.front();
        switch (rules_.policy) {
            case ReplacementPolicy::kFifo:
                return arrivals_.front();
            case ReplacementPolicy::kRandom:
                random = random * 0x5851f42d4c957f2d + 0x14057b7ef767814f;
                return static_cast<std::size_t>(random / 0x1'0000'0000 * lines_.size() / 0x1'0000'0000);
            case ReplacementPolicy::kTreePlru:
                return leaf(0, lines_.size());
            case ReplacementPolicy::kLru3Plru4:
                return leaf(trees_.front(), trees_.front() + 4);
            case ReplacementPolicy::kBitPlru:
                return first(std::ranges::find(marks_, false) - marks_.begin());
            default:
                return first(std::ranges::find(ages_, 3) - ages_.begin());
        }
    }
    std::size_t first(std::ptrdiff_t found) const {
        const auto way = static_cast<std::size_t>(found);
        return way == lines_.size() ? 0 : way;
    }

    // The way that the tree of the ways from `begin` to before `end` leads to.
    std::size_t leaf(std::size_t begin, std::size_t end) {
        if (end - begin == 1) return begin;
        const std::size_t middle = (begin + end) / 2;
        return upper_next_[{begin, end}] ? leaf(middle, end) : leaf(begin, middle);
    }

    // A way has been accessed.
    void remember(std::size_t way) {
        std::size_t begin = 0;
        std::size_t end = lines_.size();
        if (rules_.policy == ReplacementPolicy::kLru3Plru4) {
            begin = way / 4 * 4;
            end = begin + 4;
            trees_.remove(begin);
            trees_.push_back(begin);
        }
        while (end - begin > 1) {
            const std::size_t middle = (begin + end) / 2;
            upper_next_[{begin, end}] = way < middle;
            (way < middle ? end : begin) = middle;
        }
        marks_[way] = true;
        if (std::ranges::count(marks_, true) == static_cast<std::ptrdiff_t>(marks_.size())) {
            marks_.assign(marks_.size(), false);
            marks_[way] = true;
        }
    }

    // `accessed`: a way; or as many as there are: none.
    void age_all(std::size_t accessed) {
        const unsigned rule = rules_.ages.update;
        if (rule == 0 || rule == 2) accessed = ages_.size();
        int oldest = -1;
        for (std::size_t way = 0; way < ages_.size(); ++way) {
            if (way != accessed || rule >= 2) oldest = std::max(oldest, ages_[way]);
        }
        for (std::size_t way = 0; way < ages_.size(); ++way) {
            if (way == accessed) continue;
            if (rule < 2) ages_[way] += 3 - oldest;
            if (rule >= 2 && oldest < 3) ages_[way] += 1;
        }
    }

    Replacement rules_;
    std::vector<std::optional<Address>> lines_;  // by way
    std::vector<std::size_t> arrivals_{};        // ways, in the order in which their lines were loaded
    std::list<std::size_t> trees_{0, 4, 8};      // of four ways, by the first of them; the one used last is at the end
    std::map<std::pair<std::size_t, std::size_t>, bool> upper_next_{};
    std::vector<bool> marks_;
    std::vector<int> ages_;
};

// Where pages lie in memory: rule 62.
class NaivePages {
public:
    explicit NaivePages(const PageRules& rules) : rules_(rules) {}

    // The address in memory of what is looked for at this one.
    Address physical(Address address) {
        const Address page = address / 4096;
        if (rules_.frames == PageFrames::kVirtual) return address;
        if (rules_.frames == PageFrames::kContiguous) {
            return frames_.try_emplace(page, frames_.size() + 1).first->second * 4096 + address % 4096;
        }
        Address x = page + 0x9e3779b97f4a7c15 * rules_.seed + 0x9e3779b97f4a7c15;
        x ^= x / (1ull << 30);
        x *= 0xbf58476d1ce4e5b9;
        x ^= x / (1ull << 27);
        x *= 0x94d049bb133111eb;
        x ^= x / (1ull << 31);
        return x / (1ull << 24) * 4096 + address % 4096;
    }

private:
    PageRules rules_;
    std::map<Address, Address> frames_{};
};

// Which set of a cache a line belongs to that lies there in memory.
class NaiveIndex {
public:
    explicit NaiveIndex(const CacheGeometry& cache) : sets_(cache.size_bytes / cache.line_bytes / cache.ways) {
        while (cache.index == SetIndex::kHash && sets_ % (2ull << bits_) == 0) ++bits_;
    }
    std::size_t operator()(Address line) const {
        for (unsigned bit = 0; bit < bits_; ++bit) {
            for (unsigned from = bit + bits_; from < 64; from += bits_) line ^= (line >> from & 1) << bit;
        }
        return static_cast<std::size_t>(line % sets_);
    }

private:
    std::uint64_t sets_;
    unsigned bits_ = 0;  // that are folded, if at all
};

}  // namespace bd::test
