// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bytes that were loaded into D1 and not used before the line left it: whether they were used in another stay of that
// line, before or after (late: another order would help), or never (another layout would). That is known at the end
// only, so it is a sample of the lines that is looked at, chosen by a hash of their numbers, all stays of each.
//
// A byte's life ends with the object that it belongs to, where that is known: what uses it later is another one's.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/types.h"

namespace bd {

// Sums of stays, by who had loaded the line, and whose memory it is (a number that means nothing here).
struct StayKey {
    CostId loaded_by = kNoCost;
    std::uint32_t group = 0;

    auto operator<=>(const StayKey&) const = default;
};
struct StaySum {
    StayKey key;
    std::uint64_t stays = 0;
    std::uint64_t unused = 0;  // bytes
    std::uint64_t late = 0;    // of these
    std::uint64_t never = 0;   // the others

    void add(const StaySum& other) {
        stays += other.stays;
        unused += other.unused;
        late += other.late;
        never += other.never;
    }
    bool operator==(const StaySum&) const = default;
};

class StaySample {
public:
    // Lines in the sample; when there would be more, half of them are dropped, and half of the others are not taken.
    static constexpr std::size_t kMostLines = 4096;
    // The same once so many stays of them have been looked at: then these tell enough.
    static constexpr std::size_t kFewerLines = 512;
    static constexpr std::uint64_t kManyStays = std::uint64_t{1} << 16;
    // Separate loaders of one line, with those before an object's end; any others share the key {}.
    static constexpr std::size_t kMostLoaders = 32;

    // Longer lines are looked at in pieces of so many bytes, each as a line of its own.
    static constexpr unsigned kBytes = 64;

    explicit StaySample(std::size_t most_lines = kMostLines) : most_lines_(most_lines) {}

    // Whether the piece that begins at `address` is looked at.
    [[gnu::always_inline]] bool has(Address address) const { return hash(address) >> 32 <= last_hash_; }

    // Such a piece, of so many bytes, has left D1; bit i of `used` tells whether byte i was used.
    [[gnu::noinline]] void add(const StayKey& key, Address address, unsigned bytes, std::uint64_t used);

    // An object of so many bytes is gone.
    void end_life(Address begin, std::uint64_t bytes);

    // One of so many lines is in the sample.
    std::uint64_t one_in() const { return one_in_; }

    // In ascending order.
    std::vector<StaySum> sums() const;

    void clear_counts();
    // Forgets the stays of lines that were loaded by whom `is_meant`.
    template <class IsMeant>
    void drop_if(IsMeant is_meant) {
        for (auto& [address, line] : lines_) {
            std::erase_if(line.loaders, [&](const Loader& loader) {
                return loader.sum.key.loaded_by != kNoCost && is_meant(loader.sum.key.loaded_by);
            });
        }
    }

private:
    struct Loader {
        StaySum sum;         // `never`: of bytes whose life has ended
        std::uint64_t live;  // bytes whose life has not
    };
    struct Line {
        std::uint64_t used = 0;  // in any stay, in their lives
        std::uint64_t bytes = 0;
        std::vector<Loader> loaders;
        std::uint32_t latest = 0;  // the one that was met last, by index
    };
    struct Hash {
        using is_avalanching = void;
        std::size_t operator()(Address address) const { return static_cast<std::size_t>(hash(address)); }
    };

    static std::uint64_t hash(Address address) {
        std::uint64_t mixed = (address / kBytes + 1) * 0x9e3779b97f4a7c15;
        mixed = (mixed ^ mixed >> 32) * 0xff51afd7ed558ccd;
        return mixed ^ mixed >> 32;
    }
    Loader& find_or_make(Line& line, const StayKey& key) const;
    static void end_life(Line& line, std::uint64_t bytes);
    void shrink();

    std::size_t most_lines_;
    std::uint64_t stays_ = 0;
    std::uint64_t last_hash_ = ~std::uint32_t{0};
    std::uint64_t one_in_ = 1;
    boost::unordered_flat_map<Address, Line, Hash> lines_;
};

}  // namespace bd
