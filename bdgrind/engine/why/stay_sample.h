// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bytes that were loaded into D1 and not used before the line left: were they used in another stay of the line, before
// or after (*late*: another order would help), or never (another layout would help)? That is known only at the end, so
// all stays of a sample of lines are kept, which a hash of the line's number chooses.
//
// A byte's life ends with the object that it belongs to, where that is known. Uses after that are another object's.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/types.h"

namespace bd {

// By the instruction that loaded the line, and by what the memory belongs to (a number that the caller chooses).
struct StayKey {
    CostId loaded_by = kNoCost;
    std::uint32_t group = 0;

    auto operator<=>(const StayKey&) const = default;
};
struct StaySum {
    StayKey key;
    std::uint64_t stays = 0;
    std::uint64_t unused = 0;  // bytes: late + never
    std::uint64_t late = 0;    // bytes used in another stay
    std::uint64_t never = 0;   // bytes used in no stay

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
    // The most lines in the sample. When there would be more, the sample becomes half as dense.
    static constexpr std::size_t kMostLines = 4096;
    // The most lines once kManyStays stays have been seen, as these are enough.
    static constexpr std::size_t kFewerLines = 512;
    static constexpr std::uint64_t kManyStays = std::uint64_t{1} << 16;
    // A line has at most this many separate loaders, where one counts again after an object's end. Others share the key
    // {}.
    static constexpr std::size_t kMostLoaders = 32;

    // Longer lines are seen as several lines of this many bytes.
    static constexpr unsigned kBytes = 64;

    explicit StaySample(std::size_t most_lines = kMostLines) : most_lines_(most_lines) {}

    // Whether the piece that begins at `address` is in the sample.
    [[gnu::always_inline]] bool has(Address address) const { return hash(address) >> 32 <= last_hash_; }

    // A piece of `bytes` bytes that is in the sample has left D1. Byte i was used if bit i of `used` is set.
    [[gnu::noinline]] void add(const StayKey& key, Address address, unsigned bytes, std::uint64_t used);

    // The life of an object of `bytes` bytes has ended.
    void end_life(Address begin, std::uint64_t bytes);

    // How many lines each line in the sample stands for.
    std::uint64_t one_in() const { return one_in_; }

    // In ascending order of their keys.
    std::vector<StaySum> sums() const;

    void clear_counts();
    // Drops the stays of all loading instructions for which is_meant(instruction) holds.
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
        StaySum sum;         // its `never` has only bytes whose life has ended
        std::uint64_t live;  // bytes whose life has not ended, by bit
    };
    struct Line {
        std::uint64_t used = 0;   // bytes that were used in any stay since their life began, by bit
        std::uint64_t bytes = 0;  // all bytes of the line, by bit
        std::vector<Loader> loaders;
        std::uint32_t latest = 0;  // the index of the loader found last
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
