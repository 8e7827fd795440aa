// SPDX-License-Identifier: GPL-2.0-or-later
//
// What replacement policies that do not follow an order of lines know of the ways of each set, a byte per way: of trees
// which half of a node's ways is to be replaced next, and of each two trees which was used last; bits of use; or how
// much younger than age 3 a line is. Zero bytes are where all of them begin.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/random_numbers.h"
#include "engine/base/replacement.h"
#include "engine/base/zeroed_array.h"

namespace bd {

class ReplacementStates {
public:
    ReplacementStates(const Replacement& replacement, std::size_t sets, std::uint32_t ways)
        : policy_(replacement.policy),
          ages_(replacement.ages),
          random_(replacement.seed),
          ways_(ways),
          bytes_(has_bytes() ? sets * ways : 0) {}

    // Whether a set is filled from its last way on, not from the first.
    bool fills_backwards() const { return policy_ == ReplacementPolicy::kQuadAge && ages_.replace == 2; }

    // A line in `way` is used.
    void use(std::size_t set, std::uint32_t way) {
        if (policy_ == ReplacementPolicy::kQuadAge) {
            std::uint8_t& younger = of(set)[way];
            const auto age = static_cast<std::uint8_t>(kOldest - younger);
            younger = kOldest - (age == 3 ? ages_.hit_at_3 : age == 2 ? ages_.hit_at_2 : std::uint8_t{0});
            if (!ages_.update_on_misses) grow_older(set, way);
        } else {
            mark(set, way);
        }
    }

    // The way of a full set whose line is to be replaced.
    std::uint32_t victim(std::size_t set) {
        if (policy_ == ReplacementPolicy::kRandom) return random_.below(ways_);
        const std::span<std::uint8_t> bytes = of(set);
        if (policy_ == ReplacementPolicy::kTreePlru) return leaf(bytes);
        if (policy_ == ReplacementPolicy::kLru3Plru4) {
            const std::uint32_t tree = oldest_tree(bytes);
            return tree * kTreeWays + leaf(nodes_of(bytes, tree));
        }
        const auto found = std::ranges::find(bytes, 0);
        return found == bytes.end() ? 0 : static_cast<std::uint32_t>(found - bytes.begin());
    }

    // A line is about to be loaded.
    void before_load(std::size_t set) {
        if (policy_ == ReplacementPolicy::kQuadAge && ages_.update_on_misses) grow_older(set, ways_);
    }
    // It was, into `way`.
    void load(std::size_t set, std::uint32_t way) {
        if (policy_ == ReplacementPolicy::kQuadAge) {
            of(set)[way] = kOldest - ages_.loaded;
            if (!ages_.update_on_misses) grow_older(set, way);
        } else {
            mark(set, way);
        }
    }

    // `way` is empty now.
    void clear(std::size_t set, std::uint32_t way) {
        if (policy_ == ReplacementPolicy::kBitPlru || policy_ == ReplacementPolicy::kQuadAge) of(set)[way] = 0;
    }

private:
    static constexpr std::uint8_t kOldest = 3;

    bool has_bytes() const {
        return policy_ == ReplacementPolicy::kTreePlru || policy_ == ReplacementPolicy::kBitPlru ||
               policy_ == ReplacementPolicy::kQuadAge || policy_ == ReplacementPolicy::kLru3Plru4;
    }
    std::span<std::uint8_t> of(std::size_t set) { return {bytes_.begin() + set * ways_, ways_}; }

    // A line in `way` is in use, for policies that do not ask how it came there.
    void mark(std::size_t set, std::uint32_t way) {
        if (policy_ == ReplacementPolicy::kRandom) return;
        const std::span<std::uint8_t> bytes = of(set);
        if (policy_ == ReplacementPolicy::kTreePlru) {
            lead_away(bytes, way);
            return;
        }
        if (policy_ == ReplacementPolicy::kLru3Plru4) {
            const std::uint32_t tree = way / kTreeWays;
            make_latest(bytes, tree);
            lead_away(nodes_of(bytes, tree), way % kTreeWays);
            return;
        }
        bytes[way] = 1;
        if (std::ranges::find(bytes, 0) != bytes.end()) return;
        std::ranges::fill(bytes, std::uint8_t{0});
        bytes[way] = 1;
    }

    // Of a tree, `nodes` has as many bytes as it has ways. Node 1 is the root, with 2n and 2n + 1 below node n; a node
    // leads to the second of these if it is 1.
    static std::uint32_t leaf(std::span<const std::uint8_t> nodes) {
        std::uint32_t node = 1;
        while (node < nodes.size()) node = 2 * node + nodes[node];
        return node - static_cast<std::uint32_t>(nodes.size());
    }
    // All nodes above this way lead to their other half.
    static void lead_away(std::span<std::uint8_t> nodes, std::uint32_t way) {
        std::uint32_t node = static_cast<std::uint32_t>(nodes.size()) + way;
        for (; node > 1; node /= 2) nodes[node / 2] = node % 2 == 0;
    }

    // Of kLru3Plru4, the first kTrees bytes say whether tree 1 was used after tree 0, tree 2 after tree 0, and tree 2
    // after tree 1. Behind them are the nodes of the trees, without their unused bytes for node 0.
    static std::span<std::uint8_t> nodes_of(std::span<std::uint8_t> bytes, std::uint32_t tree) {
        return bytes.subspan(kTrees + tree * (kTreeWays - 1) - 1, kTreeWays);
    }
    static void make_latest(std::span<std::uint8_t> bytes, std::uint32_t tree) {
        if (tree == 0) {
            bytes[0] = bytes[1] = 0;
        } else if (tree == 1) {
            bytes[0] = 1;
            bytes[2] = 0;
        } else {
            bytes[1] = bytes[2] = 1;
        }
    }
    static std::uint32_t oldest_tree(std::span<const std::uint8_t> bytes) {
        if (bytes[0] != 0 && bytes[1] != 0) return 0;
        return bytes[2] != 0 ? 1 : 2;
    }

    // All lines do, but for that in the way `accessed` where the policy says so.
    void grow_older(std::size_t set, std::uint32_t accessed) {
        const std::span<std::uint8_t> bytes = of(set);
        const bool spares = ages_.update % 2 != 0 && accessed < ways_;
        const std::uint8_t spared = spares ? bytes[accessed] : std::uint8_t{0};
        std::uint8_t years = 0;
        if (ages_.update >= 2) {  // by one, if none of them is of age 3
            years = *std::ranges::min_element(bytes) == 0 ? 0 : 1;
        } else {  // until one of the others is of age 3
            if (spares) bytes[accessed] = kOldest;
            years = *std::ranges::min_element(bytes);
        }
        if (years != 0) {
            for (std::uint8_t& each : bytes) each = static_cast<std::uint8_t>(each - years);
        }
        if (spares) bytes[accessed] = spared;
    }

    ReplacementPolicy policy_;
    QuadAges ages_;
    RandomNumbers random_;
    std::uint32_t ways_;
    ZeroedArray<std::uint8_t> bytes_;
};

}  // namespace bd
